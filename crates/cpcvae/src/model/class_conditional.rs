//! Networks with numbers and a class as input.

use crate::net::{BatchNorm, Linear, Mlp, MlpShape};
use crate::noise::{Noise, NoisePurpose};
use crate::op::Compute;
use crate::op::class_rows::class_rows;
use crate::op::linear::{Activation, activate};
use burn::module::{Module, Param};
use burn::tensor::Tensor;

/// A dense network on (x, c, y) with a separate weight matrix for each part in its first layer: `act(x W + b + c U + V_y)`.
///
/// Where the network runs for every class of a row, x may differ from class to class; the context c
/// is the same for all of them, so its part is computed once per row. Not all networks have one.
///
/// With batch normalisation it is `act(norm(x W + c U) + V_y)`: the class is added after the
/// normalisation, so that the part that does not depend on the class is still computed once. Later
/// hidden layers are normalised over all rows and, where the network runs for every class, all
/// classes.
#[derive(Module, Debug)]
pub(super) struct ClassConditionalMlp {
    first: Linear,
    /// U. The bias is in `first`.
    context: Option<Linear>,
    /// V, `[classes, outputs of the first layer]`
    class: Param<Tensor<2>>,
    /// Of the first layer.
    norm: Option<BatchNorm>,
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
        compute: &Compute,
    ) -> Self {
        let first = shape.hidden.first().copied().unwrap_or(shape.outputs);
        // Glorot's limit for the whole input (x, c, y).
        let limit = (6.0 / (shape.inputs + context + classes + first) as f32).sqrt();
        let unit = Noise::new(seed, first_layer + 50, compute.device())
            .uniform(NoisePurpose::Weights, [classes, first]);
        let rest = (!shape.hidden.is_empty()).then(|| {
            let rest = MlpShape {
                inputs: first,
                hidden: shape.hidden[1..].to_vec(),
                ..shape.clone()
            };
            Mlp::new(&rest, seed, first_layer + 1, compute)
        });
        let context =
            (context > 0).then(|| Linear::new(context, first, seed, first_layer + 51, compute));
        Self {
            first: Linear::new(shape.inputs, first, seed, first_layer, compute),
            context,
            class: Param::from_tensor(unit.mul_scalar(2.0 * limit).sub_scalar(limit)),
            // Without a rectifier, since the class is still to be added.
            norm: (shape.batch_norm && rest.is_some()).then(|| BatchNorm::new(first, 1.0, compute)),
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
        let of_class = y.matmul(self.class.val());
        let of_context = self.of_context(context);
        let add = |first: Tensor<2>, other: Option<Tensor<2>>| match other {
            Some(other) => first + other,
            None => first,
        };
        let first = match &self.norm {
            Some(norm) => norm.forward_rows(add(self.of_input(x), of_context)) + of_class,
            None => add(self.of_input(x) + of_class, of_context),
        };
        self.finish(activate(first, self.activation))
    }

    /// After a step, see [`super::Model::update_running_statistics`].
    pub(super) fn update_running_statistics(&mut self) {
        if let Some(norm) = &mut self.norm {
            norm.update_running_statistics();
        }
        if let Some(rest) = &mut self.rest {
            rest.update_running_statistics();
        }
    }

    /// `x [rows, inputs]` to `[rows * classes, outputs]`, the class varying fastest. For networks
    /// without a context: x is the same for all classes already.
    pub(super) fn forward_each_class(&self, x: Tensor<2>) -> Tensor<2> {
        let [rows, _] = x.dims();
        let first = self.normalise(self.of_input(x));
        let units = self.first.outputs();
        self.add_classes(first.reshape([rows, 1, units]))
    }

    /// `x [rows * classes, inputs]`, the class varying fastest, and `context [rows, its inputs]`
    /// where the network has one, to `[rows * classes, outputs]`.
    pub(super) fn forward_class_rows(&self, x: Tensor<2>, context: Option<Tensor<2>>) -> Tensor<2> {
        let [all_rows, _] = x.dims();
        let [classes, units] = self.class.val().dims();
        let rows = all_rows / classes;
        let first = self.of_input(x).reshape([rows, classes, units]);
        let first = match self.of_context(context) {
            Some(of_context) => first + of_context.reshape([rows, 1, units]),
            None => first,
        };
        let first = self.normalise(first.reshape([all_rows, units]));
        self.add_classes(first.reshape([rows, classes, units]))
    }

    /// x W, plus b unless a normalisation follows: `[rows, units]`.
    fn of_input(&self, x: Tensor<2>) -> Tensor<2> {
        match self.norm {
            Some(_) => self.first.product(x),
            None => self.first.forward(x, Activation::Identity),
        }
    }

    /// `first [rows, units]` to the same shape.
    fn normalise(&self, first: Tensor<2>) -> Tensor<2> {
        match &self.norm {
            Some(norm) => norm.forward_rows(first),
            None => first,
        }
    }

    /// c U, `[rows, units]`.
    fn of_context(&self, context: Option<Tensor<2>>) -> Option<Tensor<2>> {
        let (layer, context) = self.context.as_ref().zip(context)?;
        Some(match self.norm {
            Some(_) => layer.product(context),
            None => layer.forward(context, Activation::Identity),
        })
    }

    /// `first [rows, 1 or classes, units]`
    fn add_classes(&self, first: Tensor<3>) -> Tensor<2> {
        let [rows, _, units] = first.dims();
        let [classes, _] = self.class.val().dims();
        let each = class_rows(
            self.first.compute(),
            first,
            self.class.val(),
            self.activation,
        );
        self.finish(each.reshape([rows * classes, units]))
    }

    fn finish(&self, first: Tensor<2>) -> Tensor<2> {
        match &self.rest {
            Some(rest) => rest.forward(first),
            None => first,
        }
    }
}
