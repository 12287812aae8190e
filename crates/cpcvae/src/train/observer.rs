//! Progress of a training, for the caller.

use super::ConstraintReport;
use crate::infer::{Evaluation, Inference};

/// One logged step.
#[derive(Clone, Debug)]
pub struct StepReport<'a> {
    /// Steps taken.
    pub step: u64,
    /// Steps planned.
    pub steps: u64,
    /// The stage's name.
    pub stage: &'a str,
    /// The loss.
    pub loss: f32,
    /// Names and values of all terms.
    pub terms: &'a [(&'static str, f32)],
    /// lambda, if a constraint solver sets it.
    pub multiplier: Option<f64>,
}

/// One evaluation on validation rows.
#[derive(Clone, Debug)]
pub struct EvaluationReport<'a> {
    /// Steps taken.
    pub step: u64,
    /// The figures.
    pub validation: &'a Evaluation,
    /// Whether this is the best so far.
    pub is_best: bool,
    /// The current model.
    pub model: &'a Inference,
}

/// Receives progress, and may ask for a stop.
///
/// ```
/// use cpcvae::prelude::*;
/// use cpcvae::train::StepReport;
///
/// /// Stops when the loss is small.
/// struct Enough(bool);
///
/// impl Observer for Enough {
///     fn on_step(&mut self, report: &StepReport<'_>) {
///         self.0 = report.loss < 0.1;
///     }
///     fn wants_stop(&mut self) -> bool {
///         self.0
///     }
/// }
/// assert!(!Enough(false).wants_stop());
/// ```
pub trait Observer: Send {
    /// After a step that is logged.
    fn on_step(&mut self, _: &StepReport<'_>) {}
    /// After an evaluation.
    fn on_evaluation(&mut self, _: &EvaluationReport<'_>) {}
    /// After a round of a constraint solver.
    fn on_constraint(&mut self, _: &ConstraintReport) {}
    /// Asked before each step; `true` saves a checkpoint and ends training.
    fn wants_stop(&mut self) -> bool {
        false
    }
}

/// An observer that ignores progress and never stops.
///
/// ```
/// use cpcvae::prelude::*;
///
/// assert!(!Silent.wants_stop());
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {}
