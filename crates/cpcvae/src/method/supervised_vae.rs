//! `supervised-vae`: the joint likelihood of features and labels, which is PC with lambda = 1.

use super::{DataKind, LabelFacts, MethodInfo, MethodSettings, Pc, Recipe};
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

impl MethodSettings for SupervisedVae {
    const INFO: MethodInfo = MethodInfo::new(
        "supervised-vae",
        "a VAE that models features and labels jointly, without a constraint",
    );

    /// Those of [`Pc`].
    fn default_for(data: DataKind) -> Self {
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

    fn recipe(&self, facts: &LabelFacts) -> Result<Recipe> {
        let pc = Pc {
            prediction_weight: 1.0,
            beta: self.beta,
            predictor_norm: self.predictor_norm,
        };
        pc.recipe(facts)
    }

    fn prediction_weight(&self) -> Option<f64> {
        Some(1.0)
    }
}
