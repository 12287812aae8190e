//! M2 (Kingma et al. 2014): the label is a latent variable of its own.

use super::{Observation, Posterior, RowInput, Shape};
use crate::distribution::{Categorical, Likelihood};
use crate::net::{Linear, Mlp, MlpShape};
use crate::noise::{Noise, Purpose};
use crate::op::class_rows::class_rows;
use crate::op::linear::{Activation, activate};
use burn::module::{Module, Param};
use burn::tensor::{Device, Tensor};

/// p(y) uniform, p(z) = N(0, I), p(x|y,z) by a decoder; q(y|x) by a classifier, q(z|x,y) by an
/// encoder.
#[derive(Module, Debug)]
pub struct LabelVae {
    classifier: Mlp,
    encoder: ClassConditionalMlp,
    decoder: ClassConditionalMlp,
    #[module(skip)]
    input: RowInput,
    #[module(skip)]
    observation: Observation,
    #[module(skip)]
    classes: usize,
    #[module(skip)]
    code: usize,
}

impl LabelVae {
    /// A freshly initialised model.
    pub fn new(shape: &Shape, seed: u64, device: &Device) -> Self {
        let observation = Observation::new(shape);
        let classes = shape.target.outputs();
        let mlp = |inputs, hidden: Vec<usize>, outputs| MlpShape {
            inputs,
            hidden,
            outputs,
            activation: shape.activation.into(),
        };
        let hidden = shape.hidden.clone();
        let mirrored = hidden.iter().rev().copied().collect();
        let input = RowInput::new(shape);
        let inputs = input.inputs();
        let encoder = mlp(inputs, hidden.clone(), 2 * shape.code);
        let decoder = mlp(shape.code, mirrored, observation.decoder_outputs());
        Self {
            classifier: Mlp::new(&mlp(inputs, hidden, classes), seed, 100, device),
            encoder: ClassConditionalMlp::new(&encoder, classes, seed, 200, device),
            decoder: ClassConditionalMlp::new(&decoder, classes, seed, 300, device),
            input,
            observation,
            classes,
            code: shape.code,
        }
    }

    /// q(y|x) for `x [rows, features]`.
    pub fn classify(&self, x: Tensor<2>) -> Categorical {
        Categorical::from_logits(self.classifier.forward(self.input.forward(x)))
    }

    /// q(z|x,y) for `y [rows, classes]`, one-hot.
    pub fn encode(&self, x: Tensor<2>, y: Tensor<2>) -> Posterior {
        Posterior::from_raw(self.encoder.forward(self.input.forward(x), y))
    }

    /// q(z|x,y) for every class: row `i * classes + k` is row i with class k. What does not
    /// depend on the class is computed once.
    pub fn encode_each_class(&self, x: Tensor<2>) -> Posterior {
        Posterior::from_raw(self.encoder.forward_each_class(self.input.forward(x)))
    }

    /// p(x|y,z) for `z [rows, code]`, `y [rows, classes]`, one-hot.
    pub fn decode(&self, z: Tensor<2>, y: Tensor<2>) -> Likelihood {
        self.observation
            .likelihood(self.decoder.forward(z, y), None)
    }

    /// p(x|y,z) where row `i * classes + k` of `z` belongs to class k.
    pub fn decode_each_class(&self, z: Tensor<2>) -> Likelihood {
        self.observation
            .likelihood(self.decoder.forward_class_rows(z), None)
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// Number of code dimensions.
    pub fn code(&self) -> usize {
        self.code
    }
}

/// A dense network on (x, y) whose first layer keeps the part of x and the part of y apart:
/// `act(x W + b + V_y)`.
#[derive(Module, Debug)]
struct ClassConditionalMlp {
    first: Linear,
    /// V, `[classes, outputs of the first layer]`
    class: Param<Tensor<2>>,
    rest: Option<Mlp>,
    #[module(skip)]
    activation: Activation,
}

impl ClassConditionalMlp {
    fn new(shape: &MlpShape, classes: usize, seed: u64, first_layer: u64, device: &Device) -> Self {
        let first = shape.hidden.first().copied().unwrap_or(shape.outputs);
        // Glorot's limit for the whole input (x, y).
        let limit = (6.0 / (shape.inputs + classes + first) as f32).sqrt();
        let unit =
            Noise::new(seed, first_layer + 50, device).uniform(Purpose::Weights, [classes, first]);
        let rest = (!shape.hidden.is_empty()).then(|| {
            let rest = MlpShape {
                inputs: first,
                hidden: shape.hidden[1..].to_vec(),
                ..shape.clone()
            };
            Mlp::new(&rest, seed, first_layer + 1, device)
        });
        Self {
            first: Linear::new(shape.inputs, first, seed, first_layer, device),
            class: Param::from_tensor(unit.mul_scalar(2.0 * limit).sub_scalar(limit)),
            activation: if rest.is_some() {
                shape.activation
            } else {
                Activation::Identity
            },
            rest,
        }
    }

    /// `x [rows, inputs]`, `y [rows, classes]` one-hot.
    fn forward(&self, x: Tensor<2>, y: Tensor<2>) -> Tensor<2> {
        let first = self.first.forward(x, Activation::Identity) + y.matmul(self.class.val());
        self.finish(activate(first, self.activation))
    }

    /// `x [rows, inputs]` to `[rows * classes, outputs]`.
    fn forward_each_class(&self, x: Tensor<2>) -> Tensor<2> {
        let [rows, _] = x.dims();
        let first = self.first.forward(x, Activation::Identity);
        let units = self.first.outputs();
        self.add_classes(first.reshape([rows, 1, units]))
    }

    /// `x [rows * classes, inputs]`, the class running fastest, to `[rows * classes, outputs]`.
    fn forward_class_rows(&self, x: Tensor<2>) -> Tensor<2> {
        let [all_rows, _] = x.dims();
        let [classes, units] = self.class.val().dims();
        let first = self.first.forward(x, Activation::Identity);
        self.add_classes(first.reshape([all_rows / classes, classes, units]))
    }

    /// `first [rows, 1 or classes, units]`
    fn add_classes(&self, first: Tensor<3>) -> Tensor<2> {
        let [rows, _, units] = first.dims();
        let [classes, _] = self.class.val().dims();
        let each = class_rows(first, self.class.val(), self.activation);
        self.finish(each.reshape([rows * classes, units]))
    }

    fn finish(&self, first: Tensor<2>) -> Tensor<2> {
        match &self.rest {
            Some(rest) => rest.forward(first),
            None => first,
        }
    }
}
