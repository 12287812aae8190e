//! Networks that take a class beside numbers.

use crate::net::{Linear, Mlp, MlpShape};
use crate::noise::{Noise, Purpose};
use crate::op::class_rows::class_rows;
use crate::op::linear::{Activation, activate};
use burn::module::{Module, Param};
use burn::tensor::{Device, Tensor};

/// A dense network on (x, c, y) whose first layer keeps the parts apart: `act(x W + b + c U + V_y)`.
///
/// Where the network runs for every class of a row, x may differ from class to class; the context c
/// is the same for all of them, so its part is computed once a row. Not all networks have one.
#[derive(Module, Debug)]
pub(super) struct ClassConditionalMlp {
    first: Linear,
    /// U. Its bias does what that of `first` does.
    context: Option<Linear>,
    /// V, `[classes, outputs of the first layer]`
    class: Param<Tensor<2>>,
    rest: Option<Mlp>,
    #[module(skip)]
    activation: Activation,
}

impl ClassConditionalMlp {
    /// `shape.inputs` are those of x; `context` is the number of inputs of c, 0 for none.
    pub(super) fn new(
        shape: &MlpShape,
        context: usize,
        classes: usize,
        seed: u64,
        first_layer: u64,
        device: &Device,
    ) -> Self {
        let first = shape.hidden.first().copied().unwrap_or(shape.outputs);
        // Glorot's limit for the whole input (x, c, y).
        let limit = (6.0 / (shape.inputs + context + classes + first) as f32).sqrt();
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
        let context =
            (context > 0).then(|| Linear::new(context, first, seed, first_layer + 51, device));
        Self {
            first: Linear::new(shape.inputs, first, seed, first_layer, device),
            context,
            class: Param::from_tensor(unit.mul_scalar(2.0 * limit).sub_scalar(limit)),
            activation: if rest.is_some() {
                shape.activation
            } else {
                Activation::Identity
            },
            rest,
        }
    }

    /// `x [rows, inputs]`, `context [rows, its inputs]` where the network has one, and
    /// `y [rows, classes]` one-hot, to `[rows, outputs]`.
    pub(super) fn forward(
        &self,
        x: Tensor<2>,
        context: Option<Tensor<2>>,
        y: Tensor<2>,
    ) -> Tensor<2> {
        let first = self.first.forward(x, Activation::Identity) + y.matmul(self.class.val());
        let first = match self.of_context(context) {
            Some(of_context) => first + of_context,
            None => first,
        };
        self.finish(activate(first, self.activation))
    }

    /// `x [rows, inputs]` to `[rows * classes, outputs]`, the class running fastest. For networks
    /// without a context: x is the same for all classes already.
    pub(super) fn forward_each_class(&self, x: Tensor<2>) -> Tensor<2> {
        let [rows, _] = x.dims();
        let first = self.first.forward(x, Activation::Identity);
        let units = self.first.outputs();
        self.add_classes(first.reshape([rows, 1, units]))
    }

    /// `x [rows * classes, inputs]`, the class running fastest, and `context [rows, its inputs]`
    /// where the network has one, to `[rows * classes, outputs]`.
    pub(super) fn forward_class_rows(&self, x: Tensor<2>, context: Option<Tensor<2>>) -> Tensor<2> {
        let [all_rows, _] = x.dims();
        let [classes, units] = self.class.val().dims();
        let rows = all_rows / classes;
        let first = self.first.forward(x, Activation::Identity);
        let first = first.reshape([rows, classes, units]);
        self.add_classes(match self.of_context(context) {
            Some(of_context) => first + of_context.reshape([rows, 1, units]),
            None => first,
        })
    }

    /// c U, `[rows, units]`.
    fn of_context(&self, context: Option<Tensor<2>>) -> Option<Tensor<2>> {
        let (layer, context) = self.context.as_ref().zip(context)?;
        Some(layer.forward(context, Activation::Identity))
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
