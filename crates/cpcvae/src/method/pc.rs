//! `pc`: the prediction-constrained VAE.

use super::{DataKind, Recipe, Stage, check_weight, vae::unconditional};
use crate::error::Result;
use crate::model::ModelKind;
use crate::objective::TermWeights;
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

impl Pc {
    /// The paper's lambda for images, with a milder penalty on the predictor's weights (0.1, not
    /// 1), which leaves confident codes nearer to the prior. The evidence of a few columns is some
    /// nats, not thousands, so for tables the same balance needs smaller weights.
    pub fn default_for(data: DataKind) -> Self {
        let (prediction_weight, predictor_norm) = match data {
            DataKind::Images => (25.0, 0.1),
            DataKind::Table => (5.0, 0.01),
        };
        Self {
            prediction_weight,
            beta: 1.0,
            predictor_norm,
        }
    }

    pub(super) fn recipe(&self) -> Result<Recipe> {
        let weights = TermWeights {
            beta: check_weight("beta", self.beta)?,
            prediction: check_weight("prediction_weight", self.prediction_weight)?,
            predictor_norm: check_weight("predictor_norm", self.predictor_norm)?,
            ..TermWeights::default()
        };
        Ok(Recipe {
            kind: ModelKind::Vae,
            stages: Stage::whole(unconditional(weights)),
        })
    }
}
