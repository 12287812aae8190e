//! One trial of a study: what was tried and what came of it.

use super::Distribution;
use serde_json::Value;
use std::collections::BTreeMap;

/// Where a trial stands. The numbers are Optuna's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrialState {
    /// Somebody works on it, or did until he was killed.
    Running = 0,
    /// It has a value.
    Complete = 1,
    /// It was stopped early.
    Pruned = 2,
    /// It could not be done.
    Failed = 3,
    /// Optuna's users may have put it in line.
    Waiting = 4,
}

impl TrialState {
    pub(crate) fn from_number(number: u64) -> Option<Self> {
        use TrialState::*;
        let all = [Running, Complete, Pruned, Failed, Waiting];
        all.into_iter().find(|state| *state as u64 == number)
    }

    /// Whether nothing can change any more.
    pub fn is_finished(self) -> bool {
        matches!(self, Self::Complete | Self::Pruned | Self::Failed)
    }

    /// In a word.
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
    /// Where it stands.
    pub state: TrialState,
    /// Its parameters, as they are inside (see [`Distribution`]).
    pub params: BTreeMap<String, f64>,
    /// What they could have been.
    pub distributions: BTreeMap<String, Distribution>,
    /// What came of it; smaller is better.
    pub value: Option<f64>,
    /// What was reported on the way, by step.
    pub reports: BTreeMap<u64, f64>,
    /// What users keep with it.
    pub user_attrs: BTreeMap<String, Value>,
    /// What samplers and pruners keep with it.
    pub system_attrs: BTreeMap<String, Value>,
    /// When it began.
    pub start: Option<String>,
    /// When it ended.
    pub end: Option<String>,
}

impl Trial {
    /// A trial of which nothing is known.
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

    /// The last step that was reported, with its value.
    pub fn last_report(&self) -> Option<(u64, f64)> {
        let (step, value) = self.reports.last_key_value()?;
        Some((*step, *value))
    }

    /// Its value, where it came to one that is a number.
    pub fn finished_value(&self) -> Option<f64> {
        let value = self.value.filter(|value| value.is_finite());
        value.filter(|_| self.state == TrialState::Complete)
    }
}
