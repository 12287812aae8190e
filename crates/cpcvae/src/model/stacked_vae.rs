//! M1+M2 (Kingma et al. 2014): a VAE of the features, and M2 on its codes.

use super::{LabelVae, Shape, Target, Vae};
use crate::distribution::Family;
use crate::net::Net;
use crate::op::Compute;
use burn::module::Module;

/// Offset of the layer numbers of the upper model, so that they differ from those of the lower one.
const UPPER_LAYERS: u64 = 1000;

/// Generation: y and z2 give the code z1 by p(z1|y,z2), and z1 the features by p(x|z1). Inference
/// by q(z1|x), q(y|z1) and q(z2|z1,y). Both codes have the same number of dimensions.
#[derive(Module, Debug)]
pub struct StackedVae {
    features: Vae,
    labels: LabelVae,
}

impl StackedVae {
    /// A freshly initialised model.
    pub fn new(shape: &Shape, seed: u64, compute: &Compute) -> Self {
        let lower = Shape {
            target: Target::Nothing,
            ..shape.clone()
        };
        let upper = Shape {
            features: shape.code,
            image: None,
            likelihood: Family::Normal,
            row: None,
            net: Net::Mlp,
            ..shape.clone()
        };
        Self {
            features: Vae::new(&lower, seed, compute),
            labels: LabelVae::numbered(&upper, seed, UPPER_LAYERS, compute),
        }
    }

    /// After a step, see [`super::Model::update_running_statistics`].
    pub(super) fn update_running_statistics(&mut self) {
        self.features.update_running_statistics();
    }

    /// The compute handle of its layers.
    pub fn compute(&self) -> &Compute {
        self.features.compute()
    }

    /// q(z1|x) and p(x|z1): the model of the features.
    pub fn features(&self) -> &Vae {
        &self.features
    }

    /// q(y|z1), q(z2|z1,y) and p(z1|y,z2): M2 with codes z1 for features.
    pub fn labels(&self) -> &LabelVae {
        &self.labels
    }
}
