//! `supervised-vae`: the joint likelihood of features and labels, which is PC with lambda = 1.

use super::{DataKind, Recipe, pc::Pc};
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

impl SupervisedVae {
    /// As [`Pc::default_for`].
    pub fn default_for(data: DataKind) -> Self {
        let Pc {
            beta,
            predictor_norm,
            ..
        } = Pc::default_for(data);
        Self {
            beta,
            predictor_norm,
        }
    }

    pub(super) fn recipe(&self) -> Result<Recipe> {
        Pc {
            prediction_weight: 1.0,
            beta: self.beta,
            predictor_norm: self.predictor_norm,
        }
        .recipe()
    }
}
