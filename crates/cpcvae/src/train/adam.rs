//! The Adam optimiser over a module's parameters: fused on the CPU; elsewhere in plain tensor
//! operations, with moments that stay on the device.

use super::Parameters;
use super::parameters::ModulePath;
use crate::op::{self, Compute};
use burn::backend::Flex;
use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::{Device, Gradients, Tensor};
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
    values: MomentValues,
    updates: u64,
}

/// First and second moments.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)] // one for each parameter
enum MomentValues {
    /// On the host: for parameters on the CPU, and in checkpoints.
    Host([Vec<f32>; 2]),
    /// On the parameter's device, as one row.
    Device([Tensor<1>; 2]),
}

impl MomentValues {
    fn to_host(&self) -> [Vec<f32>; 2] {
        match self {
            Self::Host(both) => both.clone(),
            Self::Device(both) => both.clone().map(|moment| {
                let values = moment.into_data().try_into_vec();
                values.expect("models compute in f32")
            }),
        }
    }

    /// Copied to the device, if they are not there yet.
    fn to_device(&self, device: &Device) -> [Tensor<1>; 2] {
        match self {
            Self::Host(both) => both
                .each_ref()
                .map(|moment| Tensor::from_floats(moment.as_slice(), device)),
            Self::Device(both) => both.clone(),
        }
    }
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
            let [first, second] = moments.values.to_host();
            put("first", moments.shape.clone(), first);
            put("second", moments.shape.clone(), second);
            // Whole numbers up to 2^48 are exact in two floats.
            let (high, low) = (moments.updates >> 24, moments.updates & 0xff_ffff);
            put("updates", vec![2], vec![high as f32, low as f32]);
        }
        Parameters(state)
    }

    /// From the state that [`Adam::state`] gave.
    pub(crate) fn from_state(state: &Parameters) -> Result<Self, String> {
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
                values: MomentValues::Host([first.clone(), second]),
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
                update_on_device(plain, gradient, moments, &step)
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
            values: MomentValues::Host([vec![0.0; size], vec![0.0; size]]),
            updates: 0,
        }
    }
}

/// In place where the parameter's memory is not shared.
fn update_on_cpu<const D: usize>(
    value: Tensor<D>,
    gradient: Tensor<D>,
    moments: &mut Moments,
    step: &AdamStep,
    compute: &Compute,
) -> Tensor<D> {
    let primitive = "a tensor of the CPU device has its storage";
    // Made contiguous by value: a second handle would force a copy of everything.
    let plain = |tensor: Tensor<D>| -> FlexTensor {
        let tensor = tensor.try_into_primitive::<Flex>();
        tensor.expect(primitive).to_contiguous()
    };
    let (mut value, gradient) = (plain(value), plain(gradient));
    let MomentValues::Host([first, second]) = &mut moments.values else {
        unreachable!("parameters do not change their device");
    };
    update(
        step,
        value.storage_mut::<f32>(),
        gradient.as_slice().expect("contiguous f32"),
        first,
        second,
    );
    compute.give_back(gradient);
    Tensor::from_primitive::<Flex>(value)
}

/// The same in plain tensor operations, without transfers to the host.
fn update_on_device<const D: usize>(
    value: Tensor<D>,
    gradient: Tensor<D>,
    moments: &mut Moments,
    step: &AdamStep,
) -> Tensor<D> {
    let shape = value.dims();
    let flat =
        |tensor: Tensor<D>| -> Tensor<1> { tensor.reshape([shape.iter().product::<usize>()]) };
    let gradient = flat(gradient);
    let [first, second] = moments.values.to_device(&value.device());
    let [beta1, beta2] = [step.beta1, step.beta2].map(f64::from);
    let correction = |beta: f64| 1.0 - beta.powf(step.step as f64);
    let first = first.clone() + (gradient.clone() - first).mul_scalar(1.0 - beta1);
    let second = second.mul_scalar(beta2) + gradient.square().mul_scalar(1.0 - beta2);
    let root = second.clone().sqrt().div_scalar(correction(beta2).sqrt());
    let rate = f64::from(step.learning_rate) / correction(beta1);
    let change = first.clone().mul_scalar(rate) / root.add_scalar(step.epsilon);
    moments.values = MomentValues::Device([first, second]);
    value - change.reshape(shape)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// On the CPU device, where both can run; a checkpoint between two updates makes no difference.
    #[test]
    fn updates_on_the_device_are_those_of_the_kernel() {
        let tensor = |factor: f32| {
            let numbers: Vec<f32> = (0..60).map(|i| (i as f32 * factor).sin()).collect();
            Tensor::<1>::from_floats(numbers.as_slice(), &Device::flex()).reshape([5, 12])
        };
        let compute = Compute::default();
        let (mut fused, mut plain) = (tensor(0.3), tensor(0.3));
        let mut moments = [Moments::zeros(&[5, 12]), Moments::zeros(&[5, 12])];
        for number in 1..=5 {
            let step = AdamStep {
                learning_rate: 0.1,
                beta1: 0.9,
                beta2: 0.999,
                epsilon: 1e-8,
                step: number,
            };
            let gradient = tensor(0.7 * number as f32);
            fused = update_on_cpu(fused, gradient.clone(), &mut moments[0], &step, &compute);
            plain = update_on_device(plain, gradient, &mut moments[1], &step);
            assert!(matches!(moments[1].values, MomentValues::Device(_)));
            moments[1].values = MomentValues::Host(moments[1].values.to_host());
            let apart = (fused.clone() - plain.clone()).abs().max();
            assert!(apart.into_scalar::<f32>() < 1e-6, "step {number}");
        }
        let [fused, plain] = moments.map(|moments| moments.values.to_host());
        for (a, b) in fused.iter().flatten().zip(plain.iter().flatten()) {
            assert!((a - b).abs() < 1e-6);
        }
    }
}
