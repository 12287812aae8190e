//! The recipe of a method: which model is trained, and with which objectives in sequence.

use crate::model::ModelKind;
use crate::objective::{LabelledEvidence, Objective, PseudoLabels};
use cpcvae_data::{BuiltIn, Layout};

/// What kind of features the data has; defaults differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataKind {
    /// Columns of numbers.
    Table,
    /// Pixels.
    Images,
}

impl DataKind {
    /// The kind of data of a layout.
    pub fn of(layout: &Layout) -> Self {
        match layout {
            Layout::Columns(_) => Self::Table,
            Layout::Image { .. } => Self::Images,
        }
    }

    /// The kind of data of a built-in data set.
    pub(crate) fn of_built_in(data: BuiltIn) -> Self {
        match data.holds_images() {
            true => Self::Images,
            false => Self::Table,
        }
    }
}

/// The recipe of a method: which model is trained, and with which objectives in sequence.
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    /// The kind of model.
    pub kind: ModelKind,
    /// Stages in order.
    pub stages: Vec<Stage>,
}

/// A part of training with one objective.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// Its name in logs.
    pub name: &'static str,
    /// Its share of the run's steps.
    pub share: f64,
    /// The objective.
    pub objective: Objective,
}

/// Facts about the data for recipes.
#[derive(Clone, Debug)]
pub struct LabelFacts {
    /// Share of each class among the labelled rows; empty for continuous labels.
    pub class_shares: Vec<f32>,
    /// Training rows, labelled and unlabelled.
    pub rows: usize,
    /// How many of them have a label.
    pub labelled_rows: usize,
}

impl LabelFacts {
    /// Share of the rows that have a label.
    pub fn labelled_share(&self) -> f64 {
        self.labelled_rows as f64 / self.rows.max(1) as f64
    }
}

/// Settings outside of `[method]` that objectives depend on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObjectiveOptions {
    /// Pseudo-labels, with weights that are multiples of lambda.
    pub pseudo_labels: Option<PseudoLabels>,
    /// The weight of the evidence of labelled rows relative to the others.
    pub labelled_evidence: LabelledEvidence,
}

impl Recipe {
    /// A recipe of one stage that trains this kind of model.
    pub(super) fn whole(kind: ModelKind, objective: Objective) -> Self {
        Self {
            kind,
            stages: vec![Stage {
                name: "fit",
                share: 1.0,
                objective,
            }],
        }
    }

    /// The same recipe with these options. Continuous labels have no pseudo-labels.
    pub fn with_options(mut self, options: &ObjectiveOptions, facts: &LabelFacts) -> Self {
        let stages = self.stages.iter_mut();
        for objective in stages.filter_map(|stage| stage.objective.constrained_mut()) {
            objective.labelled_evidence = options.labelled_evidence;
            objective.labelled_share = facts.labelled_share();
            let lambda = objective.prediction.weight;
            objective.pseudo_labels = options
                .pseudo_labels
                .as_ref()
                .filter(|_| !facts.class_shares.is_empty())
                .map(|pseudo_labels| pseudo_labels.times(lambda))
                .filter(|pseudo_labels| pseudo_labels.weight != 0.0);
        }
        self
    }
}
