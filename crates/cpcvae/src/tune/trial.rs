//! One trial: its settings, its training or trainings, and intermediate reports.

use super::objective::{held_out_loss, loss};
use super::{Error, Objective, Result, Tuning};
use crate::config::{RunConfig, parse_settings};
use crate::crossfit::{CrossFit, HeldOut};
use crate::run::{RunFolder, run};
use crate::train::{ConstraintReport, EvaluationReport, Observer, StepReport, TrainingInfo, Watch};
use cpcvae_data::Source;
use cpcvae_search::{Outcome, Trial};
use std::path::{Path, PathBuf};

/// Reports are at multiples of this percentage of a training.
const MARK: u64 = 5;

/// How a trial ended; `None` if a stop was asked for.
pub(super) type Ended = Option<Outcome>;

impl Tuning {
    /// The complete settings of a trial.
    pub fn settings_of(&self, trial: &Trial) -> Result<RunConfig> {
        let mut request = self.request.clone();
        let context = format!("trial {}", trial.number);
        request.push(context, parse_settings(&self.pairs_of(trial))?);
        request.settings_for(&self.source.rows)
    }

    /// The settings of a trial, as `key=value`.
    pub(super) fn pairs_of(&self, trial: &Trial) -> Vec<String> {
        let settings = self.space.settings(trial).into_iter();
        let pairs = settings.map(|(key, value)| match value {
            serde_json::Value::String(text) => format!("{key}={text}"),
            other => format!("{key}={other}"),
        });
        pairs.collect()
    }

    /// The folder of a trial: a run, or one with a run for each fold.
    pub fn trial_folder(&self, number: usize) -> PathBuf {
        self.folder.join("trials").join(format!("{number:04}"))
    }

    /// Trains or resumes a trial. Invalid settings or a failing training end the trial; anything
    /// else is an error.
    pub(super) fn train(&self, trial: &Trial, watch: &dyn Watch) -> Result<Ended> {
        let trained = self
            .settings_of(trial)
            .and_then(|config| match self.objective {
                Objective::Validation { .. } => self.train_once(trial, &config, watch),
                Objective::CrossFit { .. } => self.train_folds(trial, &config, watch),
            });
        match trained {
            Err(error) if is_of_the_trial(&error) => Ok(Some(Outcome::Failed(error.to_string()))),
            ended => ended,
        }
    }

    fn train_once(&self, trial: &Trial, config: &RunConfig, watch: &dyn Watch) -> Result<Ended> {
        let folder = RunFolder::at(self.trial_folder(trial.number));
        let source = Source {
            rows: self.source.rows.clone(),
            test: None,
            split: Some(self.split.clone()),
        };
        let mut reporter = Reporter {
            inner: watch.training(&TrainingInfo {
                name: format!("trial {}", trial.number),
                part: 0,
                parts: 1,
            }),
            tuning: self,
            trial: trial.id,
            steps: config.train.steps,
            last: 0,
            is_pruned: false,
            problem: None,
        };
        let run = run(config, source, Some(&folder), &self.device, &mut reporter)?;
        let (is_pruned, problem) = (reporter.is_pruned, reporter.problem.take());
        drop(reporter);
        if let Some(problem) = problem {
            return Err(problem);
        }
        if run.trained.is_none() && !is_pruned {
            return Ok(None);
        }
        remove_checkpoints(folder.path());
        if is_pruned {
            return Ok(Some(Outcome::Pruned));
        }
        let value = run.report.fit.validation.as_ref().and_then(loss);
        Ok(Some(Outcome::Complete(value.unwrap_or(f64::NAN))))
    }

    fn train_folds(&self, trial: &Trial, config: &RunConfig, watch: &dyn Watch) -> Result<Ended> {
        let data = &self.source.rows;
        let folder = self.trial_folder(trial.number);
        let fit = CrossFit::new(data, &self.split, &self.folding)?;
        let mut all: Option<HeldOut> = None;
        for part in 0..fit.parts() {
            let mut observer = watch.training(&TrainingInfo {
                name: format!("trial {}", trial.number),
                part,
                parts: fit.parts(),
            });
            let observer = observer.as_mut();
            let held_out = fit.train(part, config, Some(&folder), &self.device, observer)?;
            let Some(held_out) = held_out else {
                return Ok(None);
            };
            match &mut all {
                Some(all) => all.extend(held_out),
                None => all = Some(held_out),
            }
            let value = all.as_ref().and_then(|all| held_out_loss(data, all));
            let value = value.unwrap_or(f64::NAN);
            let done = part + 1;
            let mark = 100 * done as u64 / fit.parts() as u64;
            let stops = self.study().report(trial.id, mark, value, self.pruner)?;
            if done == fit.parts() {
                return Ok(Some(Outcome::Complete(value)));
            }
            if stops {
                return Ok(Some(Outcome::Pruned));
            }
        }
        Err(Error::Mismatch("no labels could be held out".into()))
    }
}

/// Whether the error is due to a trial's settings, so that other trials may work.
fn is_of_the_trial(error: &Error) -> bool {
    match error {
        Error::WithRemedy { error, .. } => is_of_the_trial(error),
        Error::Part { source, .. } => is_of_the_trial(source),
        Error::NotFinite { .. } | Error::Setting { .. } | Error::Mismatch(_) => true,
        _ => false,
    }
}

/// Only the model is needed from here on, and there may be many trials. Failing to remove a folder
/// is harmless.
fn remove_checkpoints(folder: &Path) {
    let _ = std::fs::remove_dir_all(folder.join("checkpoints"));
}

/// Reports a training to the study, and stops it if the pruner says so.
struct Reporter<'a> {
    inner: Box<dyn Observer>,
    tuning: &'a Tuning,
    trial: usize,
    /// Steps planned; 0 until known.
    steps: u64,
    last: u64,
    is_pruned: bool,
    problem: Option<Error>,
}

impl Observer for Reporter<'_> {
    fn on_step(&mut self, report: &StepReport<'_>) {
        self.steps = report.steps;
        self.inner.on_step(report);
    }

    fn on_evaluation(&mut self, report: &EvaluationReport<'_>) {
        self.inner.on_evaluation(report);
        let share = (100 * report.step).checked_div(self.steps).unwrap_or(0);
        let mark = share / MARK * MARK;
        let Some(value) = loss(report.validation) else {
            return;
        };
        // The end is reported as the trial's value.
        if mark <= self.last || mark >= 100 || self.is_pruned {
            return;
        }
        self.last = mark;
        let reported = self
            .tuning
            .study()
            .report(self.trial, mark, value, self.tuning.pruner);
        match reported {
            Ok(stops) => self.is_pruned = stops,
            Err(error) => self.problem = Some(error.into()),
        }
    }

    fn on_constraint(&mut self, report: &ConstraintReport) {
        self.inner.on_constraint(report);
    }

    fn wants_stop(&mut self) -> bool {
        self.is_pruned || self.problem.is_some() || self.inner.wants_stop()
    }
}
