//! `pc`: the prediction-constrained VAE.

use super::{Recipe, Stage, check_weight, vae::unconditional};
use crate::error::Result;
use crate::model::Kind;
use crate::objective::Weights;
use serde::{Deserialize, Serialize};

/// Evidence minus lambda times the prediction loss of labelled rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pc {
    /// lambda.
    pub prediction_weight: f64,
    /// Weight beta of the KL divergence.
    pub beta: f64,
    /// Weight of the predictor's squared weights.
    pub predictor_norm: f64,
}

impl Default for Pc {
    fn default() -> Self {
        Self {
            prediction_weight: 25.0,
            beta: 1.0,
            predictor_norm: 1.0,
        }
    }
}

impl Pc {
    pub(super) fn recipe(&self) -> Result<Recipe> {
        let weights = Weights {
            beta: check_weight("beta", self.beta)?,
            prediction: check_weight("prediction_weight", self.prediction_weight)?,
            predictor_norm: check_weight("predictor_norm", self.predictor_norm)?,
            ..Weights::default()
        };
        Ok(Recipe {
            kind: Kind::Vae,
            stages: Stage::whole(unconditional(weights)),
        })
    }
}
