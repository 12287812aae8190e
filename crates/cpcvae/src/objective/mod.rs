//! The terms of the objectives, one equation a file, and the objectives that sum them.
//!
//! Every term is a mean over the whole batch, labelled and unlabelled rows together, as in the
//! authors' code: with half of the rows labelled, a prediction weight of 25 gives the mean over
//! labelled rows a weight of 12.5.

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
pub use constrained::{Constrained, Term};
pub use evidence::LabelledEvidence;
pub use examples::Examples;
pub(crate) use examples::one_hot;
pub use label_evidence::{LabelEvidence, labelled_bound, unlabelled_bound};
pub use prediction::Prediction;
pub use predictor_only::PredictorOnly;
pub use pseudo_labels::{PseudoLabelSource, PseudoLabels};
pub use terms::{TermValue, Terms};
pub use virtual_adversarial::{VirtualAdversarial, WorstChange};

use crate::error::{Error, Result};
use crate::model::{Classifier, Model, StackedVae, Vae};
use crate::noise::Noise;
use serde::{Deserialize, Serialize};

/// The objective of a stage, by the model that it trains.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Objective {
    /// Of a [`Vae`].
    Vae(VaeObjective),
    /// Of a [`LabelVae`](crate::model::LabelVae): M2's weighted bounds.
    LabelVae(LabelEvidence),
    /// Of one of the two models of a [`StackedVae`].
    StackedVae(StackedObjective),
    /// Of an [`AuxiliaryVae`](crate::model::AuxiliaryVae): the weighted bounds of ADGM and SDGM.
    AuxiliaryVae(AuxiliaryEvidence),
    /// Of a [`Classifier`].
    Classifier(ClassifierObjective),
}

/// Objectives of a [`Vae`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(clippy::large_enum_variant)] // a stage has one; a box would gain nothing
pub enum VaeObjective {
    /// Evidence under prediction and consistency constraints (VAE, supervised VAE, PC, CPC).
    Constrained(Constrained),
    /// The predictor alone, on codes of a frozen encoder.
    PredictorOnly(PredictorOnly),
}

/// The objective of one of the models of a [`StackedVae`], while the other is frozen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum StackedObjective {
    /// The lower model, of features.
    Features(Constrained),
    /// The upper model, of labels and codes of the lower one.
    Labels(LabelEvidence),
}

/// Objectives of a [`Classifier`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ClassifierObjective {
    /// The prediction loss of labelled rows.
    LabelsOnly,
    /// The same, and predictions that are robust to the worst small perturbation of a row.
    VirtualAdversarial(VirtualAdversarial),
}

/// The rows that an objective learns from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowsUsed {
    /// All, without their labels.
    AllUnlabelled,
    /// Only those with a label.
    Labelled,
    /// Both, and the labels.
    Both,
}

/// The position of training within a stage.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Share of the stage's steps already taken, 0 to 1.
    pub share: f64,
    /// lambda as set by a constraint solver, in place of the configured one.
    pub multiplier: Option<f64>,
}

impl Progress {
    /// The end of a stage: every ramp is at its top.
    pub const DONE: Self = Self {
        share: 1.0,
        multiplier: None,
    };
}

impl Objective {
    /// The terms for a batch with the noise of the step. An error if the model is of another kind
    /// than the objective trains.
    pub fn terms(
        &self,
        model: &Model,
        batch: &Examples,
        noise: &Noise,
        progress: Progress,
    ) -> Result<Terms> {
        Ok(match (self, model) {
            (Self::Vae(objective), Model::Vae(model)) => {
                objective.terms(model, batch, noise, progress)
            }
            (Self::LabelVae(objective), Model::LabelVae(model)) => {
                objective.terms(model, batch, noise)
            }
            (Self::StackedVae(objective), Model::StackedVae(model)) => {
                objective.terms(model, batch, noise, progress)
            }
            (Self::AuxiliaryVae(objective), Model::AuxiliaryVae(model)) => {
                objective.terms(model, batch, noise)
            }
            (Self::Classifier(objective), Model::Classifier(model)) => {
                objective.terms(model, batch, noise)
            }
            _ => {
                let problem =
                    "the objective is for another kind of model than the one it was given";
                return Err(Error::Mismatch(problem.into()));
            }
        })
    }

    /// The rows that it learns from, which batches are made of.
    pub(crate) fn rows_used(&self) -> RowsUsed {
        match self {
            Self::Vae(VaeObjective::Constrained(objective))
            | Self::StackedVae(StackedObjective::Features(objective))
                if !objective.uses_labels() =>
            {
                RowsUsed::AllUnlabelled
            }
            Self::Vae(VaeObjective::PredictorOnly(_))
            | Self::Classifier(ClassifierObjective::LabelsOnly) => RowsUsed::Labelled,
            _ => RowsUsed::Both,
        }
    }

    /// The paper's objective, if this is it.
    pub fn constrained(&self) -> Option<&Constrained> {
        match self {
            Self::Vae(VaeObjective::Constrained(objective))
            | Self::StackedVae(StackedObjective::Features(objective)) => Some(objective),
            _ => None,
        }
    }

    /// The same, mutable.
    pub(crate) fn constrained_mut(&mut self) -> Option<&mut Constrained> {
        match self {
            Self::Vae(VaeObjective::Constrained(objective))
            | Self::StackedVae(StackedObjective::Features(objective)) => Some(objective),
            _ => None,
        }
    }
}

impl VaeObjective {
    fn terms(&self, model: &Vae, batch: &Examples, noise: &Noise, progress: Progress) -> Terms {
        match self {
            Self::Constrained(objective) => objective.terms(model, batch, noise, progress),
            Self::PredictorOnly(objective) => objective.terms(model, batch, noise),
        }
    }
}

impl StackedObjective {
    fn terms(
        &self,
        model: &StackedVae,
        batch: &Examples,
        noise: &Noise,
        progress: Progress,
    ) -> Terms {
        match self {
            Self::Features(objective) => objective.terms(model.features(), batch, noise, progress),
            Self::Labels(objective) => {
                let codes = label_evidence::as_codes(model, batch, noise);
                objective.terms(model.labels(), &codes, noise)
            }
        }
    }
}

impl ClassifierObjective {
    fn terms(&self, model: &Classifier, batch: &Examples, noise: &Noise) -> Terms {
        match self {
            Self::LabelsOnly => labels_only::terms(model, batch),
            Self::VirtualAdversarial(objective) => objective.terms(model, batch, noise),
        }
    }
}
