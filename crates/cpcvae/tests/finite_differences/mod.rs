//! The comparison of a gradient with finite differences.
//!
//! All parameters are moved together along a direction d, and the slope of the loss along it,
//! (L(p + h d) - L(p - h d)) / 2h, is compared with the gradient's component along d.

use crate::toy;
use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::{Gradients, Tensor};
use cpcvae::model::{Model, Shape};
use cpcvae::noise::Noise;
use cpcvae::objective::{Examples, Objective, Progress};
use cpcvae::train::{ModulePath, Parameters};
use cpcvae_kernels::random::{self, Stream};

/// The noise of every loss here.
pub fn noise() -> Noise {
    Noise::new(3, 17, &toy::device())
}

/// The loss of the whole batch, at the end of a stage.
pub fn loss(objective: &Objective, model: &Model, batch: &Examples) -> Tensor<1> {
    let terms = objective
        .terms(model, batch, &noise(), Progress::DONE)
        .expect("its model");
    terms.loss().expect("some weight")
}

/// A direction of unit length for all parameters.
fn direction(parameters: &Parameters, number: u32) -> Parameters {
    let mut direction = parameters.clone();
    let mut squares = 0.0;
    for (i, (_, values)) in direction.0.values_mut().enumerate() {
        let stream = Stream {
            seed: 4,
            step: i as u64,
            purpose: number,
        };
        random::normal(stream, values);
        squares += values.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>();
    }
    for (_, values) in direction.0.values_mut() {
        values.iter_mut().for_each(|v| *v /= squares.sqrt() as f32);
    }
    direction
}

fn moved(parameters: &Parameters, direction: &Parameters, by: f32) -> Parameters {
    let mut moved = parameters.clone();
    for (name, (_, values)) in &mut moved.0 {
        let along = &direction.0[name].1;
        values.iter_mut().zip(along).for_each(|(v, d)| *v += by * d);
    }
    moved
}

/// The gradient's component along a direction.
fn slope(model: &Model, gradients: &Gradients, direction: &Parameters) -> f64 {
    struct Visit<'a> {
        path: ModulePath,
        gradients: &'a Gradients,
        direction: &'a Parameters,
        sum: f64,
    }
    impl ModuleVisitor for Visit<'_> {
        fn enter_module(&mut self, name: &str, container: &str) {
            self.path.enter(name, container);
        }
        fn exit_module(&mut self, _: &str, container: &str) {
            self.path.exit(container);
        }
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            let Some(gradient) = param.val().grad(self.gradients) else {
                return;
            };
            let along = &self.direction.0[&self.path.name()].1;
            let values = toy::values(gradient);
            self.sum += values
                .iter()
                .zip(along)
                .map(|(g, d)| f64::from(*g) * f64::from(*d))
                .sum::<f64>();
        }
    }
    let mut visit = Visit {
        path: ModulePath::default(),
        gradients,
        direction,
        sum: 0.0,
    };
    model.visit(&mut visit);
    visit.sum
}

/// The gradient of the objective, compared with finite differences of its loss.
pub fn check(name: &str, objective: &Objective, shape: &Shape, batch: &Examples) {
    let loss = |model: &Model| loss(objective, model, batch);
    check_against(name, objective, shape, batch, loss);
}

/// The objective's gradient compared with finite differences of `value`, which is the loss with
/// everything fixed that gradients do not flow through.
pub fn check_against(
    name: &str,
    objective: &Objective,
    shape: &Shape,
    batch: &Examples,
    value: impl Fn(&Model) -> Tensor<1>,
) {
    let model = Model::new(shape, 1, &toy::compute());
    let parameters = Parameters::of(&model);
    let gradients = loss(objective, &model, batch).backward();
    for number in 0..3 {
        let direction = direction(&parameters, number);
        let at = |by: f32| -> f64 {
            let model = moved(&parameters, &direction, by)
                .apply(Model::new(shape, 1, &toy::compute()))
                .expect("same shapes");
            f64::from(value(&model).into_scalar::<f32>())
        };
        let h = 2e-2;
        // Richardson: two step sizes cancel the error of order h^2.
        let plain = |h: f32| (at(h) - at(-h)) / (2.0 * f64::from(h));
        let difference = (4.0 * plain(h / 2.0) - plain(h)) / 3.0;
        let gradient = slope(&model, &gradients, &direction);
        let scale = difference.abs().max(1.0);
        assert!(
            (gradient - difference).abs() / scale < 1e-2,
            "{name}: gradient {gradient}, finite difference {difference}"
        );
    }
}
