//! `m1`: a linear classifier on codes of a VAE, Kingma et al. 2014.

use super::{DataKind, LabelFacts, MethodInfo, MethodSettings, Recipe, VaeThenMlp};
use crate::error::Result;
use serde::{Deserialize, Serialize};

/// The recipe of [`VaeThenMlp`] with the classifier and the images of Kingma et al. 2014: different
/// defaults of the model, see `docs/methods/m1.md`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct M1 {
    /// Weight beta of the KL divergence in the first stage.
    pub beta: f64,
    /// Weight of the classifier's squared weights in the second stage.
    pub predictor_norm: f64,
    /// Share of the steps given to the second stage.
    pub predictor_share: f64,
}

impl MethodSettings for M1 {
    const INFO: MethodInfo = MethodInfo {
        has_plain_images: true,
        ..MethodInfo::new(
            "m1",
            "a VAE first, then a linear classifier on its frozen codes (Kingma et al. 2014)",
        )
    };

    fn default_for(data: DataKind) -> Self {
        let VaeThenMlp {
            beta,
            predictor_norm,
            predictor_share,
        } = VaeThenMlp::default_for(data);
        Self {
            beta,
            predictor_norm,
            predictor_share,
        }
    }

    fn recipe(&self, facts: &LabelFacts) -> Result<Recipe> {
        let stages = VaeThenMlp {
            beta: self.beta,
            predictor_norm: self.predictor_norm,
            predictor_share: self.predictor_share,
        };
        stages.recipe(facts)
    }
}
