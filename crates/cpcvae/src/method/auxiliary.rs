//! `adgm` and `sdgm`: auxiliary and skip deep generative models, Maaloe et al. 2016.

use super::{DataKind, LabelFacts, M2, MethodInfo, MethodSettings, Recipe};
use crate::error::{Error, Result};
use crate::model::{AuxiliaryShape, ModelKind};
use crate::objective::{AuxiliaryEvidence, Objective};
use crate::range::at_least_zero;
use serde::{Deserialize, Serialize};

/// [`Auxiliary`] whose features are generated without a.
pub type Adgm = Auxiliary<false>;

/// [`Auxiliary`] whose features are generated from a too, a skip connection.
pub type Sdgm = Auxiliary<true>;

/// M2's weighted objective with an auxiliary variable a in its bounds. `SKIP` says whether features
/// are generated from a too ([`Sdgm`]) or not ([`Adgm`]).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Auxiliary<const SKIP: bool> {
    /// alpha.
    pub classification_weight: f64,
    /// Weight of the bound of labelled rows.
    pub labelled_bound_weight: f64,
    /// Dimensions of a; 0 for as many as the code has.
    pub auxiliary: usize,
    /// Draws of (a, z) for each row and step.
    pub samples: usize,
}

impl<const SKIP: bool> MethodSettings for Auxiliary<SKIP> {
    const INFO: MethodInfo = MethodInfo {
        needs_classes: true,
        has_batch_norm: true,
        has_plain_images: true,
        ..if SKIP {
            MethodInfo::new(
                "sdgm",
                "adgm whose features depend on the auxiliary variable too",
            )
        } else {
            MethodInfo::new(
                "adgm",
                "m2 with an auxiliary variable for a richer posterior (Maaloe et al. 2016)",
            )
        }
    };

    /// With M2's weights, but for alpha of images, which is Maaloe's: 0.1 times all rows of MNIST over
    /// the 100 with a label.
    fn default_for(data: DataKind) -> Self {
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

    fn recipe(&self, _: &LabelFacts) -> Result<Recipe> {
        if self.samples == 0 {
            let problem = "is 0; a bound needs at least one draw";
            return Err(Error::setting("method.samples", problem));
        }
        let (classification, labelled_bound) =
            (self.classification_weight, self.labelled_bound_weight);
        let objective = Objective::AuxiliaryVae(AuxiliaryEvidence {
            classification: at_least_zero("method.classification_weight", classification)?,
            labelled_bound: at_least_zero("method.labelled_bound_weight", labelled_bound)?,
            samples: self.samples,
        });
        let kind = ModelKind::AuxiliaryVae(AuxiliaryShape {
            dimensions: self.auxiliary,
            skip: SKIP,
        });
        Ok(Recipe::whole(kind, objective))
    }
}
