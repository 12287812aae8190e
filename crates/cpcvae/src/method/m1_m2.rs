//! `m1-m2`: M2 on codes of a VAE, Kingma et al. 2014.

use super::m2::later_classification_weight;
use super::{DataKind, LabelFacts, M2, MethodInfo, MethodSettings, Recipe, Stage, vae::evidence};
use crate::error::Result;
use crate::model::ModelKind;
use crate::objective::{Objective, StackedObjective};
use crate::range;
use serde::{Deserialize, Serialize};

/// Two stages: the VAE on all rows, then M2 on samples of its codes, with the VAE frozen.
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

impl MethodSettings for M1M2 {
    const INFO: MethodInfo = MethodInfo {
        needs_classes: true,
        has_plain_images: true,
        ..MethodInfo::new("m1-m2", "m2 on the codes of a VAE (Kingma et al. 2014)")
    };

    /// With M2's weights, but for alpha of images.
    fn default_for(data: DataKind) -> Self {
        Self {
            beta: 1.0,
            classification_weight: later_classification_weight(data),
            labelled_bound_weight: M2::default().labelled_bound_weight,
            label_share: 0.5,
        }
    }

    fn recipe(&self, _: &LabelFacts) -> Result<Recipe> {
        let lower = StackedObjective::Features(evidence(self.beta)?);
        let m2 = M2 {
            classification_weight: self.classification_weight,
            labelled_bound_weight: self.labelled_bound_weight,
        };
        let upper = StackedObjective::Labels(m2.bounds()?);
        let share = range::share("method.label_share", self.label_share)?;
        Ok(Recipe {
            kind: ModelKind::StackedVae,
            stages: vec![
                Stage {
                    name: "vae",
                    share: 1.0 - share,
                    objective: Objective::StackedVae(lower),
                },
                Stage {
                    name: "m2",
                    share,
                    objective: Objective::StackedVae(upper),
                },
            ],
        })
    }
}
