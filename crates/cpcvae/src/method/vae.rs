//! `vae`: the unsupervised variational autoencoder.

use super::{DataKind, LabelFacts, MethodInfo, MethodSettings, Recipe};
use crate::error::Result;
use crate::model::ModelKind;
use crate::objective::{Constrained, Objective, Term, VaeObjective};
use crate::range;
use serde::{Deserialize, Serialize};

/// Maximises the evidence lower bound; labels are not used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlainVae {
    /// Weight beta of the KL divergence.
    pub beta: f64,
}

impl MethodSettings for PlainVae {
    const INFO: MethodInfo = MethodInfo {
        uses_labels: false,
        ..MethodInfo::new("vae", "a variational autoencoder without labels")
    };

    fn default_for(_: DataKind) -> Self {
        Self { beta: 1.0 }
    }

    fn recipe(&self, _: &LabelFacts) -> Result<Recipe> {
        let objective = VaeObjective::Constrained(evidence(self.beta)?);
        Ok(Recipe::whole(ModelKind::Vae, Objective::Vae(objective)))
    }
}

/// The evidence term with this `method.beta`: the first stage of several methods.
pub(super) fn evidence(beta: f64) -> Result<Constrained> {
    Ok(Constrained {
        beta: Term::constant(range::at_least_zero("method.beta", beta)?),
        ..Constrained::default()
    })
}
