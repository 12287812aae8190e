//! One trial of a study: its parameters and outcome.

use super::Distribution;
use serde_json::Value;
use std::collections::BTreeMap;

/// The state of a trial. The numbers are Optuna's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrialState {
    /// A worker has it, or had it when it was killed.
    Running = 0,
    /// It has a value.
    Complete = 1,
    /// It was stopped early.
    Pruned = 2,
    /// It failed.
    Failed = 3,
    /// It was enqueued, by Optuna's users.
    Waiting = 4,
}

impl TrialState {
    pub(crate) fn from_number(number: u64) -> Option<Self> {
        use TrialState::*;
        let all = [Running, Complete, Pruned, Failed, Waiting];
        all.into_iter().find(|state| *state as u64 == number)
    }

    /// Whether it cannot change any more.
    pub fn is_finished(self) -> bool {
        matches!(self, Self::Complete | Self::Pruned | Self::Failed)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Complete => "complete",
            Self::Pruned => "pruned",
            Self::Failed => "failed",
            Self::Waiting => "waiting",
        }
    }
}

/// A trial.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// Its number in the journal, over all studies.
    pub id: usize,
    /// Its number in the study.
    pub number: usize,
    /// Its state.
    pub state: TrialState,
    /// Its internal parameter values (see [`Distribution`]).
    pub params: BTreeMap<String, f64>,
    /// Their distributions.
    pub distributions: BTreeMap<String, Distribution>,
    /// Its value; smaller is better.
    pub value: Option<f64>,
    /// Intermediate values, by step.
    pub reports: BTreeMap<u64, f64>,
    /// Attributes of users.
    pub user_attrs: BTreeMap<String, Value>,
    /// Attributes of samplers and pruners.
    pub system_attrs: BTreeMap<String, Value>,
    /// When it started.
    pub start: Option<String>,
    /// When it ended.
    pub end: Option<String>,
}

impl Trial {
    /// A trial without values.
    pub fn new(id: usize, number: usize, state: TrialState) -> Self {
        Self {
            id,
            number,
            state,
            params: BTreeMap::new(),
            distributions: BTreeMap::new(),
            value: None,
            reports: BTreeMap::new(),
            user_attrs: BTreeMap::new(),
            system_attrs: BTreeMap::new(),
            start: None,
            end: None,
        }
    }

    /// The last intermediate value, with its step.
    pub fn last_report(&self) -> Option<(u64, f64)> {
        let (step, value) = self.reports.last_key_value()?;
        Some((*step, *value))
    }

    /// Its value, if it has a finite one.
    pub fn finished_value(&self) -> Option<f64> {
        let value = self.value.filter(|value| value.is_finite());
        value.filter(|_| self.state == TrialState::Complete)
    }
}
