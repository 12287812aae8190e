//! The state after replaying the lines of a journal: the same as Optuna's
//! `JournalStorageReplayResult`.

use super::Operation;
use crate::{Distribution, Trial, TrialState};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A study in a journal.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StudyRecord {
    pub name: String,
    /// Whether smaller is better, the only supported direction.
    pub minimises: bool,
    pub user_attrs: BTreeMap<String, Value>,
    /// Indices into [`Replay::trials`].
    pub trials: Vec<usize>,
    pub is_deleted: bool,
}

/// The state of a journal.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Replay {
    pub studies: Vec<StudyRecord>,
    pub trials: Vec<Trial>,
}

type Applied = Result<(), String>;

impl Replay {
    /// Applies a line.
    pub(crate) fn apply(&mut self, line: &Value) -> Applied {
        let operation = line["op_code"].as_u64().and_then(Operation::from_number);
        let Some(operation) = operation else {
            return Err(format!("unknown operation {}", line["op_code"]));
        };
        match operation {
            Operation::CreateStudy => self.create_study(line),
            Operation::DeleteStudy => self.change_study(line, |study, _| study.is_deleted = true),
            Operation::SetStudyUserAttr => self.change_study(line, |study, line| {
                study.user_attrs.extend(entries(&line["user_attr"]));
            }),
            Operation::CreateTrial => self.create_trial(line),
            Operation::SetTrialParam => self.change_trial(line, set_param),
            Operation::SetTrialStateValues => self.change_trial(line, set_state),
            Operation::SetTrialIntermediateValue => self.change_trial(line, |trial, line| {
                let step = number(line, "step")? as u64;
                // Optuna writes NaN as a word, which is replaced by null when read.
                let value = line["intermediate_value"].as_f64().unwrap_or(f64::NAN);
                trial.reports.insert(step, value);
                Ok(())
            }),
            Operation::SetTrialUserAttr => self.change_trial(line, |trial, line| {
                trial.user_attrs.extend(entries(&line["user_attr"]));
                Ok(())
            }),
            Operation::SetTrialSystemAttr => self.change_trial(line, |trial, line| {
                trial.system_attrs.extend(entries(&line["system_attr"]));
                Ok(())
            }),
            Operation::SetStudySystemAttr | Operation::DiscardTrials => Ok(()),
        }
    }

    fn create_study(&mut self, line: &Value) -> Applied {
        let name = line["study_name"].as_str().unwrap_or_default();
        // If two processes created it, the first one counts.
        if self.place(name).is_none() {
            self.studies.push(StudyRecord {
                name: name.into(),
                minimises: line["directions"] == serde_json::json!([1]),
                user_attrs: BTreeMap::new(),
                trials: Vec::new(),
                is_deleted: false,
            });
        }
        Ok(())
    }

    /// The number of the study of that name.
    pub(crate) fn place(&self, name: &str) -> Option<usize> {
        let is_it = |study: &StudyRecord| study.name == name && !study.is_deleted;
        self.studies.iter().position(is_it)
    }

    fn change_study(&mut self, line: &Value, change: impl Fn(&mut StudyRecord, &Value)) -> Applied {
        let place = number(line, "study_id")? as usize;
        if let Some(study) = self.studies.get_mut(place) {
            change(study, line);
        }
        Ok(())
    }

    fn create_trial(&mut self, line: &Value) -> Applied {
        let place = number(line, "study_id")? as usize;
        let Some(study) = self.studies.get_mut(place).filter(|one| !one.is_deleted) else {
            return Ok(());
        };
        let state = line["state"].as_u64().unwrap_or(0);
        let state = TrialState::from_number(state).ok_or("a trial in an unknown state")?;
        let id = self.trials.len();
        let mut trial = Trial::new(id, study.trials.len(), state);
        for (name, distribution) in entries(&line["distributions"]) {
            let text = distribution.as_str().unwrap_or_default();
            trial
                .distributions
                .insert(name, Distribution::from_optuna(text)?);
        }
        for (name, value) in entries(&line["params"]) {
            let value = value.as_f64().ok_or("a parameter that is no number")?;
            trial.params.insert(name, value);
        }
        for (step, value) in entries(&line["intermediate_values"]) {
            let step = step.parse().map_err(|_| "a step that is no number")?;
            trial
                .reports
                .insert(step, value.as_f64().unwrap_or(f64::NAN));
        }
        trial.user_attrs.extend(entries(&line["user_attrs"]));
        trial.system_attrs.extend(entries(&line["system_attrs"]));
        trial.value = line["value"].as_f64();
        trial.start = line["datetime_start"].as_str().map(String::from);
        trial.end = line["datetime_complete"].as_str().map(String::from);
        study.trials.push(id);
        self.trials.push(trial);
        Ok(())
    }

    /// Changes a trial, unless it is finished: then the line came too late, and is ignored as by
    /// Optuna.
    fn change_trial(
        &mut self,
        line: &Value,
        change: impl Fn(&mut Trial, &Value) -> Applied,
    ) -> Applied {
        let place = number(line, "trial_id")? as usize;
        match self.trials.get_mut(place) {
            Some(trial) if !trial.state.is_finished() => change(trial, line),
            _ => Ok(()),
        }
    }
}

fn set_param(trial: &mut Trial, line: &Value) -> Applied {
    let name = line["param_name"].as_str().unwrap_or_default().to_string();
    let text = line["distribution"].as_str().unwrap_or_default();
    let distribution = Distribution::from_optuna(text)?;
    trial
        .params
        .insert(name.clone(), number(line, "param_value_internal")?);
    trial.distributions.insert(name, distribution);
    Ok(())
}

fn set_state(trial: &mut Trial, line: &Value) -> Applied {
    let state = TrialState::from_number(number(line, "state")? as u64);
    trial.state = state.ok_or("a trial in an unknown state")?;
    let text = |key: &str| line[key].as_str().map(String::from);
    trial.start = text("datetime_start").or(trial.start.take());
    trial.end = text("datetime_complete").or(trial.end.take());
    if let Some(value) = line["values"][0].as_f64() {
        trial.value = Some(value);
    }
    Ok(())
}

fn entries(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

fn number(line: &Value, key: &str) -> Result<f64, String> {
    let number = line[key].as_f64();
    number.ok_or_else(|| format!("a line without `{key}`"))
}
