//! A study: all trials of one search. Everything is in its journal, so that a killed process loses
//! nothing, and several can work on it at the same time.

use super::clock::now;
use super::journal::{JournalFile, Operation, Replay};
use super::{Pruner, Result, Sampler, SearchError, Space, Trial, TrialState};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

/// When no more trials are started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Trials of the study in total, of all workers and with any outcome.
    pub trials: usize,
    /// No trial is started after this time.
    pub until: Option<Instant>,
}

/// The outcome of a trial.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// A value; one that is not finite is a failure.
    Complete(f64),
    /// It was stopped early.
    Pruned,
    /// It failed, and why.
    Failed(String),
}

/// A study in its journal.
#[derive(Debug)]
pub struct Study {
    file: JournalFile,
    name: String,
    replay: Replay,
}

impl Study {
    /// Opens a study, or creates it.
    pub fn open(journal: &Path, name: &str) -> Result<Self> {
        let mut study = Self {
            file: JournalFile::open(journal)?,
            name: name.into(),
            replay: Replay::default(),
        };
        study.read()?;
        if study.replay.place(name).is_none() {
            let line = json!({ "study_name": name, "directions": [1] });
            study.write(&[(Operation::CreateStudy, line)])?;
        }
        if !study.replay.studies[study.place()].minimises {
            let problem = format!(
                "its study `{name}` makes values larger, and cpcvae makes them smaller; name \
                 another study or another file"
            );
            return Err(SearchError::file(journal, problem));
        }
        Ok(study)
    }

    /// Reads what others have written.
    pub fn read(&mut self) -> Result<()> {
        for (number, line) in self.file.new_lines()? {
            self.replay
                .apply(&line)
                .map_err(|problem| SearchError::Journal {
                    path: self.file.path().into(),
                    line: number,
                    problem,
                })?;
        }
        Ok(())
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    fn place(&self) -> usize {
        self.replay.place(&self.name).unwrap_or(0)
    }

    /// All trials that were read, by number.
    pub fn trials(&self) -> Vec<Trial> {
        let trials = &self.replay.studies[self.place()].trials;
        trials
            .iter()
            .map(|id| self.replay.trials[*id].clone())
            .collect()
    }

    /// One trial.
    pub fn trial(&self, number: usize) -> Result<Trial> {
        let trials = &self.replay.studies[self.place()].trials;
        let id = trials.get(number).ok_or_else(|| SearchError::Trial {
            number,
            problem: format!("there is none; the study has {}", trials.len()),
        })?;
        Ok(self.replay.trials[*id].clone())
    }

    /// The complete trial with the smallest value.
    pub fn best(&self) -> Option<Trial> {
        let trials = self.trials().into_iter();
        trials
            .filter_map(|trial| Some((trial.finished_value()?, trial)))
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, trial)| trial)
    }

    /// An attribute of the study.
    pub fn attr(&self, key: &str) -> Option<&Value> {
        self.replay.studies[self.place()].user_attrs.get(key)
    }

    /// Sets an attribute of the study.
    pub fn set_attr(&mut self, key: &str, value: Value) -> Result<()> {
        let line = json!({ "study_id": self.place(), "user_attr": { key: value } });
        self.write(&[(Operation::SetStudyUserAttr, line)])
    }

    /// The next trial; `None` once there are enough. Chosen with the journal locked, so that all
    /// other trials are known. `given` returns fixed parameters for the trial of a number, instead
    /// of the sampler's.
    pub fn ask(
        &mut self,
        space: &Space,
        sampler: Sampler,
        seed: u64,
        limits: &Limits,
        given: impl FnOnce(usize) -> Option<BTreeMap<String, f64>>,
    ) -> Result<Option<Trial>> {
        let lock = self.file.lock()?;
        self.read()?;
        let trials = self.trials();
        let is_late = limits.until.is_some_and(|until| Instant::now() >= until);
        if trials.len() >= limits.trials || is_late {
            return Ok(None);
        }
        let number = trials.len();
        let fixed = given(number).unwrap_or_default();
        let params = sampler.propose(space, &trials, seed, &fixed);
        let distributions = params.keys().filter_map(|name| {
            let parameter = space.get(name)?;
            Some((name.clone(), json!(parameter.distribution.to_optuna())))
        });
        let line = json!({
            "study_id": self.place(),
            "datetime_start": now(),
            "state": TrialState::Running as u64,
            "value": null,
            "values": null,
            "distributions": distributions.collect::<Map<String, Value>>(),
            "params": params,
            "user_attrs": {},
            "system_attrs": {},
            "intermediate_values": {},
        });
        self.file.append(&[(Operation::CreateTrial, line)], &lock)?;
        drop(lock);
        self.read()?;
        self.trial(number).map(Some)
    }

    /// Stores a report of a trial at a step, and returns whether to stop it.
    pub fn report(&mut self, id: usize, step: u64, value: f64, pruner: Pruner) -> Result<bool> {
        self.read()?;
        let before = self.by_id(id)?;
        if !before.reports.contains_key(&step) && value.is_finite() {
            let line = json!({ "trial_id": id, "step": step, "intermediate_value": value });
            self.write(&[(Operation::SetTrialIntermediateValue, line)])?;
        }
        let trial = self.by_id(id)?;
        let (stop, reached) = pruner.judge(&trial, &self.trials());
        let lines = reached.into_iter().map(|(key, value)| {
            let line = json!({ "trial_id": id, "system_attr": { key: value } });
            (Operation::SetTrialSystemAttr, line)
        });
        let lines: Vec<_> = lines.collect();
        if !lines.is_empty() {
            self.write(&lines)?;
        }
        Ok(stop)
    }

    /// Ends a trial. A trial that is already finished is unchanged.
    pub fn tell(&mut self, id: usize, outcome: Outcome) -> Result<()> {
        let (state, values) = match &outcome {
            Outcome::Complete(value) if value.is_finite() => (TrialState::Complete, json!([value])),
            Outcome::Pruned => match self.by_id(id)?.last_report() {
                // A stopped trial's last report is its value, as in Optuna.
                Some((_, value)) => (TrialState::Pruned, json!([value])),
                None => (TrialState::Pruned, Value::Null),
            },
            Outcome::Complete(_) | Outcome::Failed(_) => (TrialState::Failed, Value::Null),
        };
        let mut lines = Vec::new();
        let problem = match outcome {
            Outcome::Failed(problem) => Some(problem),
            Outcome::Complete(value) if !value.is_finite() => Some(format!("the value is {value}")),
            _ => None,
        };
        if let Some(problem) = problem {
            let line = json!({ "trial_id": id, "user_attr": { "error": problem } });
            lines.push((Operation::SetTrialUserAttr, line));
        }
        lines.push((
            Operation::SetTrialStateValues,
            json!({
                "trial_id": id,
                "state": state as u64,
                "values": values,
                "datetime_complete": now(),
            }),
        ));
        self.write(&lines)
    }

    fn by_id(&self, id: usize) -> Result<Trial> {
        let trial = self.replay.trials.get(id).cloned();
        trial.ok_or_else(|| SearchError::Trial {
            number: id,
            problem: "the journal has no trial of that number".into(),
        })
    }

    fn write(&mut self, lines: &[(Operation, Value)]) -> Result<()> {
        let lock = self.file.lock()?;
        self.file.append(lines, &lock)?;
        drop(lock);
        self.read()
    }
}
