//! The Adam optimiser over a module's parameters, fused on the CPU.

use super::Parameters;
use super::parameters::ModulePath;
use crate::op::{self, Compute};
use burn::backend::Flex;
use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::{Gradients, Tensor, TensorData};
use burn_flex::FlexTensor;
use cpcvae_kernels::adam::{AdamStep, update};
use std::collections::BTreeMap;

/// Moments of each parameter, and the number of updates so far. beta = (0.9, 0.999),
/// epsilon = 1e-8.
#[derive(Clone, Debug, Default)]
pub struct Adam {
    moments: BTreeMap<String, Moments>,
}

/// First and second moments of one parameter, and how often it was updated.
#[derive(Clone, Debug)]
struct Moments {
    shape: Vec<usize>,
    first: Vec<f32>,
    second: Vec<f32>,
    updates: u64,
}

impl Adam {
    /// One update of every parameter that has a gradient. With `clip_norm`, gradients are scaled
    /// down together so that their norm is at most that. `compute` is the module's.
    pub fn step<M: Module>(
        &mut self,
        module: M,
        mut gradients: Gradients,
        learning_rate: f64,
        clip_norm: Option<f64>,
        compute: &Compute,
    ) -> M {
        let scale = clip_norm.map_or(1.0, |limit| {
            let norm = gradient_norm(&module, &gradients);
            if norm > limit { limit / norm } else { 1.0 }
        });
        compute.forget_weights();
        module.map(&mut Update {
            path: ModulePath::default(),
            moments: &mut self.moments,
            gradients: &mut gradients,
            learning_rate: learning_rate as f32,
            scale,
            compute,
        })
    }

    /// The state as named tensors, for a checkpoint.
    pub fn state(&self) -> Parameters {
        let mut state = BTreeMap::new();
        for (name, moments) in &self.moments {
            let mut put = |kind: &str, shape: Vec<usize>, values: Vec<f32>| {
                state.insert(format!("{kind}.{name}"), (shape, values));
            };
            put("first", moments.shape.clone(), moments.first.clone());
            put("second", moments.shape.clone(), moments.second.clone());
            // Whole numbers up to 2^48 in two floats, exactly.
            let (high, low) = (moments.updates >> 24, moments.updates & 0xff_ffff);
            put("updates", vec![2], vec![high as f32, low as f32]);
        }
        Parameters(state)
    }

    /// From the state that [`Adam::state`] gave.
    pub fn from_state(state: &Parameters) -> Result<Self, String> {
        let mut moments = BTreeMap::new();
        for (key, (shape, first)) in &state.0 {
            let Some(name) = key.strip_prefix("first.") else {
                continue;
            };
            let get = |kind: &str| {
                let key = format!("{kind}.{name}");
                let found = state.0.get(&key).map(|(_, values)| values.clone());
                found.ok_or_else(|| format!("optimiser state `{key}` is missing"))
            };
            let (second, updates) = (get("second")?, get("updates")?);
            if second.len() != first.len() || updates.len() != 2 {
                return Err(format!("optimiser state of `{name}` has wrong sizes"));
            }
            let entry = Moments {
                shape: shape.clone(),
                first: first.clone(),
                second,
                updates: ((updates[0] as u64) << 24) + updates[1] as u64,
            };
            moments.insert(name.to_string(), entry);
        }
        Ok(Self { moments })
    }
}

struct Update<'a> {
    path: ModulePath,
    moments: &'a mut BTreeMap<String, Moments>,
    gradients: &'a mut Gradients,
    learning_rate: f32,
    scale: f64,
    compute: &'a Compute,
}

impl ModuleMapper for Update<'_> {
    fn enter_module(&mut self, name: &str, container: &str) {
        self.path.enter(name, container);
    }

    fn exit_module(&mut self, _: &str, container: &str) {
        self.path.exit(container);
    }

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let Some(gradient) = param.val().grad_remove(self.gradients) else {
            return param;
        };
        let gradient = if self.scale == 1.0 {
            gradient
        } else {
            gradient.mul_scalar(self.scale)
        };
        let moments = self
            .moments
            .entry(self.path.name())
            .or_insert_with(|| Moments::zeros(&gradient.dims()));
        moments.updates += 1;
        let step = AdamStep {
            learning_rate: self.learning_rate,
            beta1: 0.9,
            beta2: 0.999,
            epsilon: 1e-8,
            step: moments.updates,
        };
        param.map(|value| {
            let plain = value.inner();
            let updated = if op::is_cpu(&plain.device()) {
                update_on_cpu(plain, gradient, moments, &step, self.compute)
            } else {
                update_through_host(plain, gradient, moments, &step)
            };
            Tensor::from_inner(updated).require_grad()
        })
    }
}

impl Moments {
    fn zeros(shape: &[usize]) -> Self {
        let size = shape.iter().product();
        Self {
            shape: shape.to_vec(),
            first: vec![0.0; size],
            second: vec![0.0; size],
            updates: 0,
        }
    }
}

/// In place where nobody else holds the parameter's memory.
fn update_on_cpu<const D: usize>(
    value: Tensor<D>,
    gradient: Tensor<D>,
    moments: &mut Moments,
    step: &AdamStep,
    compute: &Compute,
) -> Tensor<D> {
    let primitive = "a tensor of the CPU device has its storage";
    // Made contiguous in one go: a second handle that lives on would force a copy of everything.
    let plain = |tensor: Tensor<D>| -> FlexTensor {
        let tensor = tensor.try_into_primitive::<Flex>();
        tensor.expect(primitive).to_contiguous()
    };
    let (mut value, gradient) = (plain(value), plain(gradient));
    update(
        step,
        value.storage_mut::<f32>(),
        gradient.as_slice().expect("contiguous f32"),
        &mut moments.first,
        &mut moments.second,
    );
    compute.give_back(gradient);
    Tensor::from_primitive::<Flex>(value)
}

/// On other devices the parameters travel to the host and back.
fn update_through_host<const D: usize>(
    value: Tensor<D>,
    gradient: Tensor<D>,
    moments: &mut Moments,
    step: &AdamStep,
) -> Tensor<D> {
    let device = value.device();
    let shape = value.dims();
    let read = |tensor: Tensor<D>| -> Vec<f32> {
        tensor
            .into_data()
            .try_into_vec()
            .expect("models compute in f32")
    };
    let (mut values, gradient) = (read(value), read(gradient));
    update(
        step,
        &mut values,
        &gradient,
        &mut moments.first,
        &mut moments.second,
    );
    Tensor::from_data(TensorData::new(values, shape), &device)
}

/// The norm of all gradients together.
fn gradient_norm(module: &impl Module, gradients: &Gradients) -> f64 {
    struct Sum<'a> {
        gradients: &'a Gradients,
        squares: f64,
    }
    impl ModuleVisitor for Sum<'_> {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            if let Some(gradient) = param.val().grad(self.gradients) {
                self.squares += f64::from(gradient.square().sum().into_scalar::<f32>());
            }
        }
    }
    let mut sum = Sum {
        gradients,
        squares: 0.0,
    };
    module.visit(&mut sum);
    sum.squares.sqrt()
}
