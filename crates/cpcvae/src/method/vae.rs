//! `vae`: the unsupervised variational autoencoder.

use super::{Recipe, Stage, check_weight};
use crate::error::Result;
use crate::model::ModelKind;
use crate::objective::{
    AggregateViews, Constrained, GradientPath, LabelledEvidence, Objective, Simulated, TermWeights,
};
use serde::{Deserialize, Serialize};

/// Maximises the evidence lower bound; labels are not used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlainVae {
    /// Weight beta of the KL divergence.
    pub beta: f64,
}

impl Default for PlainVae {
    fn default() -> Self {
        Self { beta: 1.0 }
    }
}

impl PlainVae {
    pub(super) fn recipe(&self) -> Result<Recipe> {
        let weights = TermWeights {
            beta: check_weight("beta", self.beta)?,
            ..TermWeights::default()
        };
        Ok(Recipe {
            kind: ModelKind::Vae,
            stages: Stage::whole(unconditional(weights)),
        })
    }
}

/// The constrained objective with these weights and no consistency.
pub(super) fn unconditional(weights: TermWeights) -> Objective {
    Objective::Constrained(Constrained {
        weights,
        ramps: TermWeights::default(),
        class_shares: Vec::new(),
        gradient_path: GradientPath::Auto,
        target_gradient: true,
        simulated: Simulated::Draw,
        aggregate_views: AggregateViews::Both,
        aggregate_decay: 0.0,
        labelled_evidence: LabelledEvidence::Batch,
        labelled_share: 1.0,
        input_noise: 0.0,
        pseudo_labels: None,
    })
}
