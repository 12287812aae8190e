//! The methods of all builders.

use super::{Estimator, Fitted};
use crate::config::Preset;
use crate::error::Result;
use crate::train::{Silent, Watch};
use cpcvae_data::{DataName, Source};
use std::path::{Path, PathBuf};
use std::time::Duration;
use toml::{Table, Value};

/// The methods of all builders, and [`Fit::fit`] itself. Every setting has a key, a line in
/// `docs/methods`, and a default that depends on method and data.
///
/// ```
/// use cpcvae::prelude::*;
/// # let rows: Vec<[f32; 2]> =
/// #     (0..60).map(|i| [(i % 2 * 9 + i % 5) as f32, (i % 7) as f32]).collect();
/// # let labels = (0..60).map(|i| (i < 20).then_some(["low", "high"][i % 2]));
/// # let data = Dataset::from_rows(&rows, Labels::classes(labels))?;
/// let fitted = Cpc::new().code(2).steps(50).hold_out(false).fit(&data)?;
/// assert_eq!(fitted.card().shape.code, 2);
/// # Ok::<(), cpcvae::Error>(())
/// ```
pub trait Fit: Sized {
    /// The method and the settings so far.
    fn estimator(&self) -> &Estimator;

    /// The same, changed.
    fn change(self, change: impl FnOnce(&mut Estimator)) -> Self;

    /// Trains a model, then holds labels out to calibrate its predictions. Nothing is written
    /// unless a folder was named.
    fn fit(&self, data: impl Into<Source>) -> Result<Fitted> {
        self.fit_watched(data, &Silent)
    }

    /// The same with a [`Watch`], which receives the progress and may ask for a stop.
    fn fit_watched(&self, data: impl Into<Source>, watch: &dyn Watch) -> Result<Fitted> {
        self.estimator().fit_source(data.into(), watch)
    }

    /// Opens a built-in data set or a file, as the settings say. Built-in data sets are looked for
    /// in `data_dir`.
    fn open(&self, name: &str, data_dir: &Path) -> Result<Source> {
        let estimator = self.estimator();
        let data = DataName::parse(name)?;
        let config = estimator.settings_before_opening(&data, name)?;
        let needs_labels = config.method.uses_labels();
        Ok(data.open(&config.data, config.seed, data_dir, needs_labels)?)
    }

    /// Sets any setting by its key, such as `train.learning_rate`. A key that does not exist is an
    /// error when the model is fitted.
    fn set(self, key: &str, value: impl Into<Value>) -> Self {
        let mut value = value.into();
        for part in key.rsplit('.') {
            value = Value::Table(Table::from_iter([(part.to_string(), value)]));
        }
        self.change(|estimator| {
            if let Value::Table(settings) = value {
                estimator.request.push(key, settings);
            }
        })
    }

    /// The set of defaults: ours, or the paper's.
    fn preset(self, preset: Preset) -> Self {
        self.change(|estimator| {
            estimator.request = std::mem::take(&mut estimator.request).with_preset(preset);
        })
    }

    /// The seed of split, weights, batches and noise.
    fn seed(self, seed: u64) -> Self {
        self.set("seed", seed as i64)
    }

    /// Steps of training.
    fn steps(self, steps: u64) -> Self {
        self.set("train.steps", steps as i64)
    }

    /// Dimensions of the code.
    fn code(self, dimensions: usize) -> Self {
        self.set("model.code", dimensions as i64)
    }

    /// Units of the encoder's dense layers; the decoder mirrors them.
    fn hidden(self, units: &[usize]) -> Self {
        let units: Vec<i64> = units.iter().map(|units| *units as i64).collect();
        self.set("model.hidden", units)
    }

    /// Adam's step size.
    fn learning_rate(self, rate: f64) -> Self {
        self.set("train.learning_rate", rate)
    }

    /// Labels that training may use, the same number for each class; all where this is not set.
    fn labels(self, labels: usize) -> Self {
        self.set("data.labels", labels as i64)
    }

    /// Rows kept for validation: a share below 1, or a number of rows.
    fn validation(self, rows: f64) -> Self {
        self.set("data.validation", rows)
    }

    /// Rows kept for the final test: a share below 1, or a number of rows.
    fn test(self, rows: f64) -> Self {
        self.set("data.test", rows)
    }

    /// The device: `cpu`, `wgpu`, `cuda` or `metal`.
    fn device(self, name: &str) -> Self {
        self.change(|estimator| estimator.device = name.into())
    }

    /// Writes everything into this folder while training: checkpoints, metrics, the model. It is an
    /// error if there already is a run, unless it is resumed or overwritten.
    fn folder(self, path: impl Into<PathBuf>) -> Self {
        self.change(|estimator| estimator.folder = Some(path.into()))
    }

    /// Whether a stopped run in the folder is resumed.
    fn resume(self, resume: bool) -> Self {
        self.change(|estimator| estimator.resume = resume)
    }

    /// Whether a run in the folder is removed first.
    fn overwrite(self, overwrite: bool) -> Self {
        self.change(|estimator| estimator.overwrite = overwrite)
    }

    /// Whether labels are held out after training, which calibrates probabilities and makes
    /// conformal sets and intervals. By default they are, except those of built-in data.
    fn hold_out(self, wanted: bool) -> Self {
        self.change(|estimator| estimator.held_out.wanted = Some(wanted))
    }

    /// The number of folds in which labels are held out; this also turns holding out on.
    fn folds(self, folds: usize) -> Self {
        self.change(|estimator| {
            estimator.held_out.folds = Some(folds);
            estimator.held_out.wanted.get_or_insert(true);
        })
    }

    /// How often rows are dealt into folds.
    fn repeats(self, repeats: usize) -> Self {
        self.change(|estimator| estimator.held_out.repeats = repeats)
    }

    /// Keeps the runs of the folds, which are otherwise removed after labels were held out.
    fn keep_folds(self, keep: bool) -> Self {
        self.change(|estimator| estimator.held_out.keep_folds = keep)
    }

    /// Fits everything into about this time, by fewer steps and, if needed, fewer folds.
    fn budget(self, time: Duration) -> Self {
        self.change(|estimator| estimator.held_out.budget = Some(time))
    }

    /// Whether baselines are trained on the same folds, for a verdict.
    fn compare(self, compare: bool) -> Self {
        self.change(|estimator| estimator.held_out.compare = compare)
    }
}

impl Fit for Estimator {
    fn estimator(&self) -> &Estimator {
        self
    }

    fn change(mut self, change: impl FnOnce(&mut Estimator)) -> Self {
        change(&mut self);
        self
    }
}
