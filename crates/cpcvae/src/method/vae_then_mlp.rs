//! `vae-then-mlp`: first the VAE on all rows, then a predictor on its codes of labelled rows.

use super::{Recipe, Stage, check_share, check_weight, vae::unconditional};
use crate::error::Result;
use crate::model::ModelKind;
use crate::objective::{Objective, PredictorOnly, TermWeights};
use serde::{Deserialize, Serialize};

/// Two stages; in the second the encoder stays as it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VaeThenMlp {
    /// Weight beta of the KL divergence in the first stage.
    pub beta: f64,
    /// Weight of the predictor's squared weights in the second stage.
    pub predictor_norm: f64,
    /// Share of the steps given to the second stage.
    pub predictor_share: f64,
}

impl Default for VaeThenMlp {
    fn default() -> Self {
        Self {
            beta: 1.0,
            predictor_norm: 1e-4,
            predictor_share: 0.25,
        }
    }
}

impl VaeThenMlp {
    pub(super) fn recipe(&self) -> Result<Recipe> {
        let weights = TermWeights {
            beta: check_weight("beta", self.beta)?,
            ..TermWeights::default()
        };
        let predictor = PredictorOnly {
            predictor_norm: check_weight("predictor_norm", self.predictor_norm)?,
        };
        let share = check_share("predictor_share", self.predictor_share)?;
        Ok(Recipe {
            kind: ModelKind::Vae,
            stages: vec![
                Stage {
                    name: "vae",
                    share: 1.0 - share,
                    objective: unconditional(weights),
                },
                Stage {
                    name: "predictor",
                    share,
                    objective: Objective::PredictorOnly(predictor),
                },
            ],
        })
    }
}
