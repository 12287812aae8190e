//! Checkpoints: parameters, optimiser and the state of the loop in one file.

use super::pseudo_labels::AssignedLabels;
use super::{Adam, ConstraintReport, Parameters, ScheduleState, TensorFile};
use crate::error::{Error, Result};
use crate::infer::Evaluation;
use crate::model::Model;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The state of the loop beside parameters and optimiser.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct LoopState {
    /// Steps taken in this round.
    pub step: u64,
    /// Rounds of a constraint solver before this one.
    pub round: u64,
    /// Steps taken in those rounds.
    pub steps_before: u64,
    /// lambda, if a constraint solver sets it.
    pub multiplier: Option<f64>,
    /// The state of the schedule.
    pub schedule: ScheduleState,
    /// The best validation quality and log-loss so far.
    pub best: Option<Best>,
    /// How often pseudo-labels were assigned.
    #[serde(default)]
    pub spreads: u64,
    /// Evaluations since the best one.
    pub waited: u64,
    /// Length of the metrics file.
    pub metrics_bytes: u64,
    /// Seconds of training up to here.
    pub seconds: f64,
    /// How training ended, once it has.
    pub finished: Option<Finished>,
}

/// The best evaluation so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Best {
    /// Step of the evaluation.
    pub step: u64,
    /// Accuracy, explained variance, or evidence: larger is better.
    pub quality: f64,
    /// Tie-breaker: smaller is better.
    pub loss: f64,
    /// The evaluation itself, so that it need not be repeated at the end of training.
    #[serde(default)]
    pub evaluation: Option<Evaluation>,
}

/// The end of training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Finished {
    /// Whether it ended before its planned steps because validation stopped improving.
    pub early: bool,
    /// The constraint, if there was one.
    pub constraint: Option<ConstraintReport>,
}

/// Writes a checkpoint; refuses parameters that are not finite, so that the file on disk is always
/// valid.
pub(super) fn save(
    path: &Path,
    model: &Model,
    adam: &Adam,
    assigned: Option<&AssignedLabels>,
    state: &LoopState,
) -> Result<()> {
    let mut tensors = Parameters::of(model);
    check_finite(&tensors, state, path)?;
    prefix(&mut tensors, "model.");
    let mut optimiser = adam.state();
    prefix(&mut optimiser, "adam.");
    tensors.0.append(&mut optimiser.0);
    if let Some(assigned) = assigned {
        assigned.store(&mut tensors);
    }
    let about = serde_json::to_string(state).expect("plain numbers serialise");
    TensorFile { tensors, about }.save(path)
}

/// Fails where a parameter is not finite; `path` is the previous checkpoint.
pub(super) fn check_finite(tensors: &Parameters, state: &LoopState, path: &Path) -> Result<()> {
    match tensors.not_finite() {
        None => Ok(()),
        Some(name) => Err(Error::NotFinite {
            step: state.step,
            term: format!("parameter {name}"),
            value: f32::NAN,
            checkpoint: path.to_owned(),
        }),
    }
}

/// Reads a checkpoint, which stood at `path`, into a model of the same shapes.
pub(super) fn read(
    file: &TensorFile,
    path: &Path,
    model: Model,
) -> Result<(Model, Adam, Option<AssignedLabels>, LoopState)> {
    let damaged = |problem: String| {
        let advice = "this checkpoint does not belong to the run's configuration";
        Error::file(path, format!("{problem}; {advice}"))
    };
    let state = serde_json::from_str(&file.about).map_err(|error| damaged(error.to_string()))?;
    let adam = Adam::from_state(&without_prefix(&file.tensors, "adam.")).map_err(damaged)?;
    let model = without_prefix(&file.tensors, "model.")
        .apply(model)
        .map_err(damaged)?;
    let assigned = AssignedLabels::restore(&file.tensors);
    Ok((model, adam, assigned, state))
}

fn prefix(parameters: &mut Parameters, prefix: &str) {
    parameters.0 = std::mem::take(&mut parameters.0)
        .into_iter()
        .map(|(name, tensor)| (format!("{prefix}{name}"), tensor))
        .collect();
}

fn without_prefix(parameters: &Parameters, prefix: &str) -> Parameters {
    let stripped = parameters.0.iter().filter_map(|(name, tensor)| {
        Some((name.strip_prefix(prefix)?.to_string(), tensor.clone()))
    });
    Parameters(stripped.collect())
}
