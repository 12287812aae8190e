//! `adgm` and `sdgm`: auxiliary and skip deep generative models, Maaloe et al. 2016.

use super::{DataKind, M2, Recipe, Stage, check_weight};
use crate::error::{Error, Result};
use crate::model::{AuxiliaryShape, ModelKind};
use crate::objective::{AuxiliaryEvidence, Objective};
use serde::{Deserialize, Serialize};

/// M2's weighted objective with an auxiliary variable a in its bounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Auxiliary {
    /// alpha.
    pub classification_weight: f64,
    /// Weight of the bound of labelled rows.
    pub labelled_bound_weight: f64,
    /// Dimensions of a; 0 for as many as the code has.
    pub auxiliary: usize,
    /// Draws of (a, z) for each row and step.
    pub samples: usize,
}

impl Auxiliary {
    /// With M2's weights, but for alpha of images, which is Maaloe's: 0.1 times all rows of MNIST over
    /// the 100 with a label.
    pub fn default_for(data: DataKind) -> Self {
        Self {
            classification_weight: match data {
                DataKind::Table => M2::default().classification_weight,
                DataKind::Images => 50.0,
            },
            labelled_bound_weight: M2::default().labelled_bound_weight,
            auxiliary: 0,
            samples: 1,
        }
    }

    /// `skip` for SDGM, whose features are made with a; not for ADGM.
    pub(super) fn recipe(&self, skip: bool) -> Result<Recipe> {
        if self.samples == 0 {
            let problem = "is 0; a bound needs at least one draw";
            return Err(Error::setting("method.samples", problem));
        }
        let objective = Objective::AuxiliaryEvidence(AuxiliaryEvidence {
            classification: check_weight("classification_weight", self.classification_weight)?,
            labelled_bound: check_weight("labelled_bound_weight", self.labelled_bound_weight)?,
            samples: self.samples,
        });
        Ok(Recipe {
            kind: ModelKind::AuxiliaryVae(AuxiliaryShape {
                dimensions: self.auxiliary,
                skip,
            }),
            stages: Stage::whole(objective),
        })
    }
}
