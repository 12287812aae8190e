//! The rows of a training, and its report.

use super::ConstraintReport;
use crate::infer::Evaluation;
use cpcvae_data::{Dataset, Split};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The rows of a training, prepared for the model.
#[derive(Clone, Debug)]
pub struct TrainingData {
    /// All rows.
    pub rows: Arc<Dataset>,
    /// Which of them are labelled, unlabelled, or for validation.
    pub split: Split,
    /// The validation rows.
    pub validation: Option<Dataset>,
}

/// Why training ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopReason {
    /// All steps were taken.
    Complete,
    /// Validation had stopped improving.
    EarlyStop,
    /// The observer asked for it; training can be resumed from the checkpoint.
    Interrupted,
}

/// The report of a training.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FitReport {
    /// Why it ended.
    pub stop: StopReason,
    /// Steps taken, over all rounds of a constraint solver.
    pub steps: u64,
    /// Seconds of training, including those before a resume.
    pub seconds: f64,
    /// The step of the model that was kept: the best on validation rows, or the last if there are
    /// none or a constraint was given.
    pub kept_step: u64,
    /// Its figures on validation rows.
    pub validation: Option<Evaluation>,
    /// The prediction constraint, if one was given.
    pub constraint: Option<ConstraintReport>,
}
