//! The terms of the objectives, one equation a file, and the objectives that add them up.
//!
//! Every term is a mean over the whole batch, labelled and unlabelled rows together, as in the
//! authors' code: with half of the rows labelled, a prediction weight of 25 weighs the labelled
//! mean by 12.5.

mod aggregate;
mod auxiliary_evidence;
mod consistency;
mod constrained;
mod entropy;
mod evidence;
mod examples;
mod label_evidence;
mod labels_only;
mod mixup;
mod prediction;
mod predictor_only;
mod pseudo_labels;
mod terms;
mod virtual_adversarial;

pub use aggregate::AggregateViews;
pub use auxiliary_evidence::{
    AuxiliaryEvidence, draw as draw_auxiliary, labelled_weight, unlabelled_weight,
};
pub use consistency::{GradientPath, Simulated};
pub use constrained::{Constrained, TermWeights};
pub use evidence::LabelledEvidence;
pub use examples::Examples;
pub(crate) use examples::one_hot;
pub use label_evidence::{LabelEvidence, labelled_bound, unlabelled_bound};
pub use prediction::Prediction;
pub use predictor_only::PredictorOnly;
pub use pseudo_labels::{PseudoLabelSource, PseudoLabels};
pub use terms::{Term, Terms};
pub use virtual_adversarial::{VirtualAdversarial, WorstChange};

use crate::model::Model;
use crate::noise::Noise;
use serde::{Deserialize, Serialize};

/// What a stage of training minimises.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Objective {
    /// Evidence under prediction and consistency constraints (VAE, supervised VAE, PC, CPC).
    Constrained(Constrained),
    /// The predictor alone, on codes of an encoder that stays as it is.
    PredictorOnly(PredictorOnly),
    /// M2's weighted bounds.
    LabelEvidence(LabelEvidence),
    /// The weighted bounds of ADGM and SDGM.
    AuxiliaryEvidence(AuxiliaryEvidence),
    /// Prediction loss of a network on the features.
    LabelsOnly,
    /// The same, and predictions that withstand the worst small change of a row.
    VirtualAdversarial(VirtualAdversarial),
}

/// Where training stands within a stage.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Share of the stage's steps already taken, 0 to 1.
    pub share: f64,
    /// lambda as set by a constraint solver, in place of the configured one.
    pub multiplier: Option<f64>,
}

impl Progress {
    /// The whole of a stage is behind us: every ramp is at its top.
    pub const DONE: Self = Self {
        share: 1.0,
        multiplier: None,
    };
}

impl Objective {
    /// The terms for a batch. The noise is that of the step.
    ///
    /// # Panics
    /// When the model is not of the kind that the objective trains; a recipe pairs them.
    pub fn terms(
        &self,
        model: &Model,
        batch: &Examples,
        noise: &Noise,
        progress: Progress,
    ) -> Terms {
        match (self, model) {
            (Self::Constrained(objective), Model::Vae(model)) => {
                objective.terms(model, batch, noise, progress)
            }
            (Self::PredictorOnly(objective), Model::Vae(model)) => {
                objective.terms(model, batch, noise)
            }
            (Self::LabelEvidence(objective), Model::LabelVae(model)) => {
                objective.terms(model, batch, noise)
            }
            // The two stages of a stack: the lower model, then the upper one on its codes.
            (Self::Constrained(objective), Model::StackedVae(model)) => {
                objective.terms(model.features(), batch, noise, progress)
            }
            (Self::LabelEvidence(objective), Model::StackedVae(model)) => {
                let codes = label_evidence::as_codes(model, batch, noise);
                objective.terms(model.labels(), &codes, noise)
            }
            (Self::AuxiliaryEvidence(objective), Model::AuxiliaryVae(model)) => {
                objective.terms(model, batch, noise)
            }
            (Self::LabelsOnly, Model::Classifier(model)) => labels_only::terms(model, batch),
            (Self::VirtualAdversarial(objective), Model::Classifier(model)) => {
                objective.terms(model, batch, noise)
            }
            _ => unreachable!("a recipe pairs each objective with its kind of model"),
        }
    }
}
