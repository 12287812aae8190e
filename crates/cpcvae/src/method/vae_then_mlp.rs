//! `vae-then-mlp`: first the VAE on all rows, then a predictor on its codes of labelled rows.

use super::{DataKind, LabelFacts, MethodInfo, MethodSettings, Recipe, Stage, vae::evidence};
use crate::error::Result;
use crate::model::ModelKind;
use crate::objective::{Objective, PredictorOnly, VaeObjective};
use crate::range;
use serde::{Deserialize, Serialize};

/// Two stages; in the second the encoder is frozen.
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

impl MethodSettings for VaeThenMlp {
    const INFO: MethodInfo = MethodInfo::new(
        "vae-then-mlp",
        "a VAE first, then a predictor on its frozen codes",
    );

    fn default_for(_: DataKind) -> Self {
        Self {
            beta: 1.0,
            predictor_norm: 1e-4,
            predictor_share: 0.25,
        }
    }

    fn recipe(&self, _: &LabelFacts) -> Result<Recipe> {
        let predictor = PredictorOnly {
            predictor_norm: range::at_least_zero("method.predictor_norm", self.predictor_norm)?,
        };
        let share = range::share("method.predictor_share", self.predictor_share)?;
        let of_vae = VaeObjective::Constrained(evidence(self.beta)?);
        let of_predictor = VaeObjective::PredictorOnly(predictor);
        Ok(Recipe {
            kind: ModelKind::Vae,
            stages: vec![
                Stage {
                    name: "vae",
                    share: 1.0 - share,
                    objective: Objective::Vae(of_vae),
                },
                Stage {
                    name: "predictor",
                    share,
                    objective: Objective::Vae(of_predictor),
                },
            ],
        })
    }
}
