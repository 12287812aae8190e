//! `vat`: virtual adversarial training of a network, with entropy minimisation.

use super::{DataKind, LabelFacts, MethodInfo, MethodSettings, Recipe};
use crate::error::Result;
use crate::model::ModelKind;
use crate::objective::{ClassifierObjective, Objective, VirtualAdversarial, WorstChange};
use crate::range::{at_least_zero, positive};
use serde::{Deserialize, Serialize};

/// Prediction loss of labelled rows, and predictions of all rows that are robust to small
/// perturbations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vat {
    /// alpha, weight of the divergence under the worst perturbation.
    pub adversarial_weight: f64,
    /// Weight of the predictions' entropy.
    pub entropy_weight: f64,
    /// Root mean square perturbation of a feature: epsilon over the root of the number of features.
    pub radius: f64,
    /// Length xi of the finite-difference perturbation, as a share of epsilon.
    pub probe: f64,
    /// Power iterations K in the search for the worst perturbation.
    pub iterations: usize,
}

impl MethodSettings for Vat {
    const INFO: MethodInfo = MethodInfo {
        has_batch_norm: true,
        ..MethodInfo::new(
            "vat",
            "a predictor that withstands the worst small change of a row (Miyato et al. 2019)",
        )
    };

    /// alpha = 1 and K = 1 are Miyato's. The radius is what did best in short trials on half-moon
    /// and on MNIST, where pixels go from -1 to 1.
    fn default_for(data: DataKind) -> Self {
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

    fn recipe(&self, _: &LabelFacts) -> Result<Recipe> {
        let objective = ClassifierObjective::VirtualAdversarial(VirtualAdversarial {
            adversarial: at_least_zero("method.adversarial_weight", self.adversarial_weight)?,
            entropy: at_least_zero("method.entropy_weight", self.entropy_weight)?,
            search: WorstChange {
                radius: positive("method.radius", self.radius)?,
                probe: positive("method.probe", self.probe)?,
                iterations: self.iterations,
            },
        });
        let objective = Objective::Classifier(objective);
        Ok(Recipe::whole(ModelKind::Classifier, objective))
    }
}
