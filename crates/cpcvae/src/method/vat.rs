//! `vat`: virtual adversarial training of a network, with entropy minimisation.

use super::{DataKind, Recipe, Stage, check_weight};
use crate::error::{Error, Result};
use crate::model::ModelKind;
use crate::objective::{Objective, VirtualAdversarial, WorstChange};
use serde::{Deserialize, Serialize};

/// Prediction loss of labelled rows, and predictions of all rows that withstand small changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vat {
    /// alpha, weight of the divergence under the worst change.
    pub adversarial_weight: f64,
    /// Weight of the predictions' entropy.
    pub entropy_weight: f64,
    /// Root mean square change of a feature: epsilon over the root of the number of features.
    pub radius: f64,
    /// Length xi of the probing change, as a share of epsilon.
    pub probe: f64,
    /// Gradients K of the search for the worst change.
    pub iterations: usize,
}

impl Vat {
    /// alpha = 1 and K = 1 are Miyato's. The radius is what did best in short trials on half-moon
    /// and on MNIST, where pixels go from -1 to 1.
    pub fn default_for(data: DataKind) -> Self {
        Self {
            adversarial_weight: 1.0,
            entropy_weight: 1.0,
            radius: match data {
                DataKind::Table => 0.2,
                DataKind::Images => 0.1,
            },
            probe: 0.1,
            iterations: 1,
        }
    }

    pub(super) fn recipe(&self) -> Result<Recipe> {
        let positive = |key: &str, value: f64| match value.is_finite() && value > 0.0 {
            true => Ok(value),
            false => {
                let problem = format!("is {value}; it must be larger than 0");
                Err(Error::setting(&format!("method.{key}"), problem))
            }
        };
        let objective = VirtualAdversarial {
            adversarial: check_weight("adversarial_weight", self.adversarial_weight)?,
            entropy: check_weight("entropy_weight", self.entropy_weight)?,
            search: WorstChange {
                radius: positive("radius", self.radius)?,
                probe: positive("probe", self.probe)?,
                iterations: self.iterations,
            },
        };
        Ok(Recipe {
            kind: ModelKind::Classifier,
            stages: Stage::whole(Objective::VirtualAdversarial(objective)),
        })
    }
}
