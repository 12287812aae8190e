//! A method with its settings, and how it is fitted and evaluated.

use super::budget;
use super::fitted::{Fitted, HeldOutState};
use crate::calibration::Calibration;
use crate::compare::{self, LearningCurve, Workplace};
use crate::config::{Request, RunConfig};
use crate::crossfit::Folding;
use crate::device::{Device, device};
use crate::ensemble::Ensemble;
use crate::error::{Error, Result};
use crate::nearest::NearestRows;
use crate::prepare::Prepared;
use crate::run::{Run, RunFolder, dismiss, run_with};
use crate::train::{Alone, Communicator, StopReason, TrainingInfo, Watch};
use cpcvae_data::{DataName, Dataset, Source};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The most folds of a learning curve.
const CURVE_FOLDS: usize = 5;

/// A method with its settings, ready to fit. Defaults depend on the method and the data.
///
/// ```
/// use cpcvae::prelude::*;
/// # let rows: Vec<[f32; 2]> =
/// #     (0..60).map(|i| [(i % 2 * 9 + i % 5) as f32, (i % 7) as f32]).collect();
/// # let labels = (0..60).map(|i| (i < 20).then_some(["low", "high"][i % 2]));
/// # let data = Dataset::from_rows(&rows, Labels::classes(labels))?;
/// let estimator = Estimator::named("vae-then-mlp").seed(3).set("train.learning_rate", 2e-3);
/// let settings = estimator.settings(&data)?;
/// assert_eq!((settings.seed, settings.train.learning_rate), (3, 2e-3));
/// # Ok::<(), cpcvae::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Estimator {
    pub(super) request: Request,
    pub(super) device: String,
    pub(super) folder: Option<PathBuf>,
    pub(super) resume: bool,
    pub(super) overwrite: bool,
    pub(super) held_out: HeldOutOptions,
    ranks: Arc<dyn Communicator>,
}

/// Which labels are held out after training, and what is compared on them. This does not affect the
/// model.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeldOutOptions {
    /// `None`: only if the data is not built in, since built-in data has test rows.
    pub(super) wanted: Option<bool>,
    pub(super) folds: Option<usize>,
    pub(super) repeats: usize,
    pub(super) compare: bool,
    pub(super) keep_folds: bool,
    /// The time for everything.
    pub(super) budget: Option<Duration>,
}

impl Estimator {
    /// A method by its name.
    pub fn named(method: &str) -> Self {
        Self::from_request(Request::new(Some(method)))
    }

    /// A method with the settings of a request.
    pub fn from_request(request: Request) -> Self {
        Self {
            request,
            device: "cpu".into(),
            folder: None,
            resume: false,
            overwrite: false,
            held_out: HeldOutOptions {
                wanted: None,
                folds: None,
                repeats: 1,
                compare: false,
                keep_folds: false,
                budget: None,
            },
            ranks: Arc::new(Alone),
        }
    }

    /// As rank 0 of several processes that train the model of the next fit together, while the
    /// others [`assist`](crate::run::assist); they are dismissed when it is trained. Everything else,
    /// labels that are held out among it, is done by rank 0 alone.
    pub fn with_ranks(mut self, ranks: Arc<dyn Communicator>) -> Self {
        self.ranks = ranks;
        self
    }

    /// The request.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// The complete settings for these rows, as used by a fit. A resumed run keeps its own.
    pub fn settings(&self, rows: &Dataset) -> Result<RunConfig> {
        match self.stored_settings()? {
            Some(stored) => self.request.laid_over(stored),
            None => self.request.settings_for(rows),
        }
    }

    /// Settings that are known before the data of that name is opened.
    pub fn settings_before_opening(&self, name: &DataName, source: &str) -> Result<RunConfig> {
        match self.stored_settings()? {
            Some(stored) => self.request.laid_over(stored),
            None => self.request.settings_before_opening(name, source),
        }
    }

    /// The settings of the run in the folder, if it will be resumed.
    pub fn stored_settings(&self) -> Result<Option<RunConfig>> {
        let Some(folder) = self.run_folder().filter(RunFolder::is_started) else {
            return Ok(None);
        };
        match self.resume {
            true => folder.config().map(Some),
            false if self.overwrite => Ok(None),
            false => Err(Error::RunExists(folder.path().into())),
        }
    }

    fn run_folder(&self) -> Option<RunFolder> {
        self.folder.as_ref().map(RunFolder::at)
    }

    /// The device.
    pub(crate) fn place(&self) -> Result<Device> {
        device(&self.device)
    }

    /// How labels of these rows are held out.
    pub(crate) fn folding(&self, data: &Dataset, seed: u64) -> Folding {
        let usual = Folding::default_for(&data.layout, seed);
        Folding {
            folds: self.held_out.folds.unwrap_or(usual.folds),
            repeats: self.held_out.repeats,
            ..usual
        }
    }

    /// The same for a learning curve, where each fold has several trainings.
    pub(super) fn curve_folding(&self, data: &Dataset, seed: u64) -> Folding {
        let usual = self.folding(data, seed);
        Folding {
            folds: self.held_out.folds.unwrap_or(usual.folds.min(CURVE_FOLDS)),
            ..usual
        }
    }

    /// Accuracy on held-out labels against the number of labels in training: those of `counts`, or
    /// a few if it is empty. `None` when a stop was asked for.
    pub fn learning_curve(
        &self,
        data: impl Into<Source>,
        counts: &[usize],
        watch: &dyn Watch,
    ) -> Result<Option<LearningCurve>> {
        let source: Source = data.into();
        // The models whose accuracies are reported are those that `fit` would train.
        let config = self.request.settings_for(&source.rows)?;
        let data = source.rows.clone();
        let split = Prepared::new(source, &config, None)?.training.split;
        let folding = self.curve_folding(&data, config.seed);
        let place = Workplace {
            device: &self.place()?,
            folder: self.folder.clone(),
            watch,
        };
        compare::learning_curve(&data, &split, &config, &folding, counts, &place)
    }

    pub(super) fn fit_source(&self, source: Source, watch: &dyn Watch) -> Result<Fitted> {
        let began = Instant::now();
        let config = self.settings(&source.rows)?;
        for note in self.request.notes() {
            watch.note(note);
        }
        let device = self.place()?;
        let folder = self.run_folder();
        watch.plan(self.trainings(&config, &source.rows));
        // Locks the folder until this ends.
        let _lock = folder.as_ref().map(RunFolder::claim).transpose()?;
        if let Some(folder) = folder.as_ref().filter(|_| self.overwrite && !self.resume) {
            folder.clear()?;
        }
        // Shares the rows without copying them.
        let data = source.rows.clone();
        if let Some(done) = self.finished(folder.as_ref(), &config, &data, &device, watch)? {
            dismiss(self.ranks.as_ref())?;
            return Ok(done);
        }
        let (config, held_out) = self.within_budget(config, &source, &device, began)?;
        let this = &Self {
            held_out,
            ..self.clone()
        };
        let members = this.report_members(&config, &source, watch)?;
        let mut observer = watch.training(&TrainingInfo {
            name: config.method.name().into(),
            part: 0,
            parts: 1,
        });
        let ranks = self.ranks.as_ref();
        let run = run_with(
            ranks,
            &config,
            source,
            folder.as_ref(),
            &device,
            observer.as_mut(),
        )?;
        drop(observer);
        dismiss(ranks)?;
        if run.report.fit.stop == StopReason::Interrupted {
            return Err(Error::Stopped {
                step: run.report.fit.steps,
            });
        }
        let mut fitted = Fitted::new(run, folder, device)?;
        let preprocess = &fitted.trained.card.preprocess;
        let ensemble = Ensemble::fit(&config, preprocess, &data, &fitted.split)?;
        fitted.ensemble = ensemble.map(Ensemble::with_own_votes);
        fitted.nearest = NearestRows::keep(&config, preprocess, &data, &fitted.split)?;
        fitted.calibration = Calibration::unknown().with_typical(
            &fitted.trained.with_seed(config.seed),
            &data,
            &fitted.split,
            fitted.nearest.is_none(),
        )?;
        fitted.keep_calibration()?;
        this.measure(&mut fitted, &data, members, watch)?;
        Ok(fitted)
    }

    /// Settings with which everything stays within the budget, if there is one. A resumed run keeps
    /// its own.
    fn within_budget(
        &self,
        config: RunConfig,
        source: &Source,
        device: &Device,
        began: Instant,
    ) -> Result<(RunConfig, HeldOutOptions)> {
        let goes_on = self.resume && self.run_folder().is_some_and(|folder| folder.is_started());
        let Some(budget) = self.held_out.budget.filter(|_| !goes_on) else {
            return Ok((config, self.held_out));
        };
        let folds = match self.holds_out(&config, &source.rows) {
            true => self.folding(&source.rows, config.seed).folds,
            false => 0,
        };
        let place = (source, device);
        budget::plan(config, self.held_out, folds, place, (budget, began))
    }

    /// Whether labels of these rows are held out.
    pub(super) fn holds_out(&self, config: &RunConfig, data: &Dataset) -> bool {
        let wanted = self.held_out.wanted.unwrap_or(data.built_in().is_none());
        wanted && config.method.uses_labels()
    }
}

impl Fitted {
    /// A model that has just been trained.
    fn new(run: Run, folder: Option<RunFolder>, device: Device) -> Result<Self> {
        let Some(trained) = &run.trained else {
            return Err(Error::Stopped {
                step: run.report.fit.steps,
            });
        };
        let metrics = match &folder {
            Some(folder) => folder.metrics()?,
            None => run.metrics,
        };
        Ok(Self {
            // Predictions do not depend on the seed of training, but on a fixed one.
            trained: trained.with_seed(0),
            config: run.config,
            report: run.report,
            split: run.split,
            metrics,
            ensemble: None,
            nearest: None,
            calibration: Calibration::unknown(),
            comparison: None,
            details: None,
            suspects: Vec::new(),
            held_out: HeldOutState::NotAsked,
            folder,
            device,
        })
    }
}
