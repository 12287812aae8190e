//! A dense network from features to labels: the baseline that uses labelled rows only.

use super::Shape;
use crate::net::{Mlp, MlpShape};
use burn::module::Module;
use burn::tensor::{Device, Tensor};

/// y-hat(x).
#[derive(Module, Debug)]
pub struct Classifier {
    network: Mlp,
}

impl Classifier {
    /// A freshly initialised model.
    pub fn new(shape: &Shape, seed: u64, device: &Device) -> Self {
        let network = MlpShape {
            inputs: shape.features,
            hidden: shape.hidden.clone(),
            outputs: shape.target.outputs(),
            activation: shape.activation.into(),
        };
        Self {
            network: Mlp::new(&network, seed, 100, device),
        }
    }

    /// Without parameters, see [`super::Model::hollow`].
    pub(super) fn hollow() -> Self {
        Self {
            network: Mlp::hollow(),
        }
    }

    /// Logits of the classes, or continuous labels, `[rows, outputs]`.
    pub fn predict(&self, x: Tensor<2>) -> Tensor<2> {
        self.network.forward(x)
    }
}
