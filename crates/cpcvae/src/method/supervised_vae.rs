//! `supervised-vae`: the joint likelihood of features and labels, which is PC with lambda = 1.

use super::{Recipe, pc::Pc};
use crate::error::Result;
use serde::{Deserialize, Serialize};

/// PC with a prediction weight of one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SupervisedVae {
    /// Weight beta of the KL divergence.
    pub beta: f64,
    /// Weight of the predictor's squared weights.
    pub predictor_norm: f64,
}

impl Default for SupervisedVae {
    fn default() -> Self {
        let Pc {
            beta,
            predictor_norm,
            ..
        } = Pc::default();
        Self {
            beta,
            predictor_norm,
        }
    }
}

impl SupervisedVae {
    pub(super) fn recipe(&self) -> Result<Recipe> {
        Pc {
            prediction_weight: 1.0,
            beta: self.beta,
            predictor_norm: self.predictor_norm,
        }
        .recipe()
    }
}
