//! `m1-m2`: M2 on codes of a VAE, Kingma et al. 2014.

use super::m2::later_classification_weight;
use super::{DataKind, M2, Recipe, Stage, check_share, check_weight, vae::unconditional};
use crate::error::Result;
use crate::model::ModelKind;
use crate::objective::TermWeights;
use serde::{Deserialize, Serialize};

/// Two stages: the VAE on all rows, then M2 on draws of its codes, while the VAE stays as it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct M1M2 {
    /// Weight beta of the KL divergence in the first stage.
    pub beta: f64,
    /// alpha of M2.
    pub classification_weight: f64,
    /// lambda of M2.
    pub labelled_bound_weight: f64,
    /// Share of the steps given to M2.
    pub label_share: f64,
}

impl M1M2 {
    /// With M2's weights, but for alpha of images.
    pub fn default_for(data: DataKind) -> Self {
        Self {
            beta: 1.0,
            classification_weight: later_classification_weight(data),
            labelled_bound_weight: M2::default().labelled_bound_weight,
            label_share: 0.5,
        }
    }

    pub(super) fn recipe(&self) -> Result<Recipe> {
        let weights = TermWeights {
            beta: check_weight("beta", self.beta)?,
            ..TermWeights::default()
        };
        let upper = M2 {
            classification_weight: self.classification_weight,
            labelled_bound_weight: self.labelled_bound_weight,
        };
        let share = check_share("label_share", self.label_share)?;
        Ok(Recipe {
            kind: ModelKind::StackedVae,
            stages: vec![
                Stage {
                    name: "vae",
                    share: 1.0 - share,
                    objective: unconditional(weights),
                },
                Stage {
                    name: "m2",
                    share,
                    objective: upper.objective()?,
                },
            ],
        })
    }
}
