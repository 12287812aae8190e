//! A network from features to labels: the baseline that uses labelled rows only.

use super::{RowInput, Shape};
use crate::net::Encoder;
use crate::op::Compute;
use burn::module::Module;
use burn::tensor::Tensor;

/// y-hat(x).
#[derive(Module, Debug)]
pub struct Classifier {
    network: Encoder,
    #[module(skip)]
    input: RowInput,
}

impl Classifier {
    /// A freshly initialised model.
    pub fn new(shape: &Shape, seed: u64, compute: &Compute) -> Self {
        let input = RowInput::new(shape);
        let network = shape.encoder(input.inputs(), shape.target.outputs());
        Self {
            network: Encoder::new(&network, seed, 100, compute),
            input,
        }
    }

    /// Without parameters, see [`super::Model::placeholder`].
    pub(super) fn placeholder() -> Self {
        Self {
            network: Encoder::placeholder(),
            input: RowInput::default(),
        }
    }

    /// The compute handle of its layers.
    pub fn compute(&self) -> &Compute {
        self.network.compute()
    }

    /// Logits of the classes, or continuous labels, `[rows, outputs]`.
    pub fn predict(&self, x: Tensor<2>) -> Tensor<2> {
        self.network.forward(self.input.forward(x))
    }

    /// The output of the last hidden layer, `[rows, units]`.
    pub(crate) fn last_hidden(&self, x: Tensor<2>) -> Tensor<2> {
        self.network.last_hidden(self.input.forward(x))
    }

    /// After a step, see [`super::Model::update_running_statistics`].
    pub(super) fn update_running_statistics(&mut self) {
        self.network.update_running_statistics();
    }
}
