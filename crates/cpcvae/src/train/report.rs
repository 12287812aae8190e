//! What goes into training and what comes out.

use super::ConstraintReport;
use crate::infer::Evaluation;
use cpcvae_data::{Dataset, Split};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The rows that training sees, prepared for the model.
#[derive(Clone, Debug)]
pub struct TrainingData {
    /// All rows.
    pub rows: Arc<Dataset>,
    /// Which of them are labelled, unlabelled, kept for validation.
    pub split: Split,
    /// The rows kept for validation.
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
    /// The observer asked for it; training can go on from the checkpoint.
    Interrupted,
}

/// What training did.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FitReport {
    /// Why it ended.
    pub stop: StopReason,
    /// Steps taken, over all rounds of a constraint solver.
    pub steps: u64,
    /// Seconds of training, those before a resume included.
    pub seconds: f64,
    /// The step of the model that was kept: the best on validation rows, or the last where there
    /// are none or a constraint was asked for.
    pub kept_step: u64,
    /// Its figures on validation rows.
    pub validation: Option<Evaluation>,
    /// The prediction constraint, where one was asked for.
    pub constraint: Option<ConstraintReport>,
}
