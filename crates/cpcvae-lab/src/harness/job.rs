//! A cell with its settings, and how it is trained.

use crate::experiment::{Cell, CellKey, Metrics, Plan, PresetName, Record, cells, settings_hash};
use anyhow::{Context, Result};
use cpcvae::config::{Preset, Request, RunConfig, choice};
use cpcvae::device::Device;
use cpcvae::run::{RunFolder, RunReport};
use cpcvae::train::{TrainingInfo, Watch};
use cpcvae_data::{DataName, Source};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// A cell that can be trained.
#[derive(Debug)]
pub(super) struct Job {
    /// Identifies the cell.
    pub key: CellKey,
    /// Its settings, resolved.
    pub config: RunConfig,
    /// Their hash.
    pub hash: String,
}

/// The environment of training.
pub(super) struct Bench {
    /// The experiment's name.
    pub experiment: String,
    /// The data.
    pub data: DataName,
    /// The folder of built-in data sets.
    pub data_dir: PathBuf,
    /// The device.
    pub device: Device,
    /// Folder of the experiment's runs.
    pub runs: PathBuf,
    /// The version of the program.
    pub commit: String,
}

impl Job {
    /// All cells of a plan. Unknown settings are errors here, before anything is trained.
    pub(super) fn all(
        plan: &Plan,
        data: &DataName,
        precision: Option<&str>,
        file: &str,
    ) -> Result<Vec<Self>> {
        let jobs = cells(plan).into_iter();
        jobs.map(|cell| Self::of(cell, plan, data, precision, file))
            .collect()
    }

    fn of(
        cell: Cell,
        plan: &Plan,
        data: &DataName,
        precision: Option<&str>,
        file: &str,
    ) -> Result<Self> {
        let preset = match cell.preset {
            PresetName::Default => Preset::Default,
            PresetName::Paper => Preset::Paper,
        };
        let mut request = Request::new(Some(&cell.method)).with_preset(preset);
        for layer in &cell.layers {
            request.push(layer.context.clone(), layer.settings.clone());
        }
        let mut config = request
            .settings_before_opening(data, &plan.data)
            .with_context(|| format!("{file}: method `{}`", cell.key.method))?;
        if let Some(precision) = precision {
            config.train.precision = choice("train.precision", precision)?;
        }
        Ok(Self {
            hash: settings_hash(&serde_json::to_value(&config)?),
            key: cell.key,
            config,
        })
    }

    /// The folder of its run, which depends on its settings.
    pub(super) fn folder(&self, runs: &Path) -> RunFolder {
        RunFolder::at(runs.join(format!("{}-{}", self.key.slug(), self.hash)))
    }

    /// Whether its model exists.
    pub(crate) fn has_model(&self, runs: &Path) -> bool {
        let folder = self.folder(runs);
        folder.path().join("model/model.safetensors").is_file()
    }

    /// Trains or resumes it; `None` when interrupted.
    pub(super) fn train(&self, bench: &Bench, watch: &dyn Watch) -> Result<Option<Record>> {
        let mut observer = watch.training(&TrainingInfo {
            name: self.key.to_string(),
            part: 0,
            parts: 1,
        });
        let start = Instant::now();
        let source = self.open(bench)?;
        let folder = self.folder(&bench.runs);
        let run = cpcvae::run::run(
            &self.config,
            source,
            Some(&folder),
            &bench.device,
            observer.as_mut(),
        )
        .with_context(|| {
            format!(
                "{} (its run is in {}; remove it to start it afresh)",
                self.key,
                folder.path().display()
            )
        })?;
        Ok(match run.trained {
            None => None,
            Some(_) => Some(self.record(bench, &run.report, start.elapsed().as_secs_f64())?),
        })
    }

    /// Its data.
    pub(super) fn open(&self, bench: &Bench) -> Result<Source> {
        let (config, needs_labels) = (&self.config, self.config.method.uses_labels());
        let data_dir = &bench.data_dir;
        Ok(bench
            .data
            .open(&config.data, config.seed, data_dir, needs_labels)?)
    }

    fn record(&self, bench: &Bench, report: &RunReport, elapsed: f64) -> Result<Record> {
        let precision = self.config.train.precision.precision();
        Ok(Record {
            experiment: bench.experiment.clone(),
            key: self.key.clone(),
            hash: self.hash.clone(),
            seed: self.config.seed,
            steps: report.fit.steps,
            kept_step: report.fit.kept_step,
            seconds: report.fit.seconds,
            // For a resumed cell, only training knows the time before.
            elapsed: elapsed.max(report.fit.seconds),
            commit: bench.commit.clone(),
            precision: precision.name().into(),
            metrics: Metrics {
                validation_curve: validation_curve(&self.folder(&bench.runs))?,
                ..metrics(report)
            },
            settings: serde_json::to_value(&self.config)?,
        })
    }

    /// Removes what need not be kept of a recorded run.
    pub(crate) fn tidy(&self, runs: &Path, keep: Keep) -> Result<()> {
        let folder = self.folder(runs);
        let path = match keep {
            Keep::All => return Ok(()),
            Keep::Model => folder.path().join("checkpoints"),
            Keep::Nothing => folder.path().to_path_buf(),
        };
        std::fs::remove_dir_all(&path).with_context(|| format!("removing {}", path.display()))
    }
}

/// What is kept of a run after it was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keep {
    /// Everything.
    All,
    /// What figures need.
    Model,
    /// Only its line in the results.
    Nothing,
}

impl Keep {
    /// What the plan needs.
    pub(super) fn of(plan: &Plan, key: &CellKey) -> Self {
        let shown = |figure: &crate::experiment::FigurePlan| {
            figure.draw.needs_models() && figure.only.has(key)
        };
        if plan.keep {
            Self::All
        } else if key.draw == 0 && plan.figures.iter().any(shown) {
            Self::Model
        } else {
            Self::Nothing
        }
    }
}

/// Validation accuracies of a run's metrics, with their steps.
fn validation_curve(folder: &RunFolder) -> Result<Vec<(u64, f64)>> {
    let path = folder.path().join("metrics.jsonl");
    let text = std::fs::read_to_string(&path)
        .with_context(|| format!("{} cannot be read", path.display()))?;
    let point = |line: &str| {
        let line: serde_json::Value = serde_json::from_str(line).ok()?;
        let accuracy = line["validation"]["accuracy"].as_f64()?;
        Some((line["step"].as_u64()?, accuracy))
    };
    Ok(text.lines().filter_map(point).collect())
}

fn metrics(report: &RunReport) -> Metrics {
    let test = report.test.as_ref();
    let validation = report.fit.validation.as_ref();
    let constraint = report.fit.constraint.as_ref();
    let steps = report.fit.steps;
    Metrics {
        accuracy: test.and_then(|test| test.accuracy),
        log_loss: test.and_then(|test| test.log_loss),
        elbo: test.and_then(|test| test.elbo),
        validation_accuracy: validation.and_then(|validation| validation.accuracy),
        validation_elbo: validation.and_then(|validation| validation.elbo),
        validation_curve: Vec::new(),
        step_seconds: (steps > 0).then(|| report.fit.seconds / steps as f64),
        multiplier: constraint.map(|constraint| constraint.multiplier),
        constraint_value: constraint.map(|constraint| constraint.value),
        satisfied: constraint.map(|constraint| constraint.satisfied),
    }
}
