//! A dense network from features to labels: the baseline that uses labelled rows only.

use super::{RowInput, Shape};
use crate::net::{Mlp, MlpShape};
use burn::module::Module;
use burn::tensor::{Device, Tensor};

/// y-hat(x).
#[derive(Module, Debug)]
pub struct Classifier {
    network: Mlp,
    #[module(skip)]
    input: RowInput,
}

impl Classifier {
    /// A freshly initialised model.
    pub fn new(shape: &Shape, seed: u64, device: &Device) -> Self {
        let input = RowInput::new(shape);
        let network = MlpShape {
            inputs: input.inputs(),
            hidden: shape.hidden.clone(),
            outputs: shape.target.outputs(),
            activation: shape.activation.into(),
        };
        Self {
            network: Mlp::new(&network, seed, 100, device),
            input,
        }
    }

    /// Without parameters, see [`super::Model::hollow`].
    pub(super) fn hollow() -> Self {
        Self {
            network: Mlp::hollow(),
            input: RowInput::default(),
        }
    }

    /// Logits of the classes, or continuous labels, `[rows, outputs]`.
    pub fn predict(&self, x: Tensor<2>) -> Tensor<2> {
        self.network.forward(self.input.forward(x))
    }
}
