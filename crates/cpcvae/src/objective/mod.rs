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

/// What a stage of training minimises, by the model that it trains.
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

/// What a [`Vae`] can minimise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(clippy::large_enum_variant)] // a stage has one; a box would gain nothing
pub enum VaeObjective {
    /// Evidence under prediction and consistency constraints (VAE, supervised VAE, PC, CPC).
    Constrained(Constrained),
    /// The predictor alone, on codes of an encoder that stays as it is.
    PredictorOnly(PredictorOnly),
}

/// What one of the models of a [`StackedVae`] minimises, while the other stays as it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum StackedObjective {
    /// The lower model, of features.
    Features(Constrained),
    /// The upper model, of labels and codes of the lower one.
    Labels(LabelEvidence),
}

/// What a [`Classifier`] can minimise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ClassifierObjective {
    /// The prediction loss of labelled rows.
    LabelsOnly,
    /// The same, and predictions that withstand the worst small change of a row.
    VirtualAdversarial(VirtualAdversarial),
}

/// Which rows an objective learns from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowsUsed {
    /// All, without their labels.
    AllUnlabelled,
    /// Only those with a label.
    Labelled,
    /// Both, and the labels.
    Both,
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
    /// The terms for a batch. The noise is that of the step. An error when the model is not of the
    /// kind that the objective trains.
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

    /// Which rows it learns from: batches are made of these.
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

    /// The paper's objective, where it is that.
    pub fn constrained(&self) -> Option<&Constrained> {
        match self {
            Self::Vae(VaeObjective::Constrained(objective))
            | Self::StackedVae(StackedObjective::Features(objective)) => Some(objective),
            _ => None,
        }
    }

    /// The same, to change it.
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
