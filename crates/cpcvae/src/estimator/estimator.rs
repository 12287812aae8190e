//! A method with its settings: how it is fitted and measured.

use super::fitted::{Fitted, HeldOutState};
use super::held_out_details::HeldOutDetails;
use super::{budget, suspects::suspects};
use crate::calibration::{Calibration, rightness};
use crate::compare::{self, LearningCurve, Workplace};
use crate::config::{EnsembleMembers, Request, RunConfig};
use crate::crossfit::{CrossFit, Folding, HeldOut};
use crate::device::{Device, device};
use crate::ensemble::Ensemble;
use crate::error::{Error, Result};
use crate::infer::quality::share;
use crate::nearest::NearestRows;
use crate::prepare::Prepared;
use crate::run::{Run, RunFolder, run};
use crate::train::{StopReason, TrainingInfo, Watch};
use cpcvae_data::{DataName, Dataset, Matrix, Source, Split};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Folds of a learning curve at most.
const CURVE_FOLDS: usize = 5;

/// A method with its settings, ready to fit. What is not set depends on the method and the data.
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
}

/// Which labels are held out after training, and what is compared on them. The model does not depend
/// on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeldOutOptions {
    /// Nothing for: where the data is not built in, which has test rows of its own.
    pub(super) wanted: Option<bool>,
    pub(super) folds: Option<usize>,
    pub(super) repeats: usize,
    pub(super) compare: bool,
    /// How long everything may take.
    pub(super) budget: Option<Duration>,
}

impl Estimator {
    /// A method by its name.
    pub fn named(method: &str) -> Self {
        Self::from_request(Request::new(Some(method)))
    }

    /// What settings ask for.
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
                budget: None,
            },
        }
    }

    /// What was asked for.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// The complete settings for these rows, as a fit would have them. Those of a run that goes on
    /// are its own.
    pub fn settings(&self, rows: &Dataset) -> Result<RunConfig> {
        match self.stored_settings()? {
            Some(stored) => self.request.laid_over(stored),
            None => self.request.settings_for(rows),
        }
    }

    /// Settings as far as they can be known before the data of that name is opened.
    pub fn settings_before_opening(&self, name: &DataName, source: &str) -> Result<RunConfig> {
        match self.stored_settings()? {
            Some(stored) => self.request.laid_over(stored),
            None => self.request.settings_before_opening(name, source),
        }
    }

    /// The settings of the run in the folder, if it is to go on.
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

    /// Where it computes.
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

    /// Accuracy on held-out labels against the number of labels that a model learns from: those of
    /// `counts`, or a few where it is empty. Nothing when a stop was asked for.
    pub fn learning_curve(
        &self,
        data: impl Into<Source>,
        counts: &[usize],
        watch: &dyn Watch,
    ) -> Result<Option<LearningCurve>> {
        let source: Source = data.into();
        // The models whose accuracies are told are those that `fit` would train.
        let config = self.request.settings_for(&source.rows)?;
        let data = source.rows.clone();
        let split = Prepared::new(source, &config, None)?.training.split;
        let usual = self.folding(&data, config.seed);
        let folding = Folding {
            // There are several trainings a fold, and they are compared with each other.
            folds: self.held_out.folds.unwrap_or(usual.folds.min(CURVE_FOLDS)),
            ..usual
        };
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
        // Nobody else works in the folder until this ends.
        let _lock = folder.as_ref().map(RunFolder::claim).transpose()?;
        if let Some(folder) = folder.as_ref().filter(|_| self.overwrite && !self.resume) {
            folder.clear()?;
        }
        // Shares the rows, which stay where they are.
        let data = source.rows.clone();
        let (config, held_out) = self.within_budget(config, &source, &device, began)?;
        let this = &Self {
            held_out,
            ..self.clone()
        };
        let members = this.first_answer(&config, &source, watch)?;
        let mut observer = watch.training(&TrainingInfo {
            name: config.method.name().into(),
            part: 0,
            parts: 1,
        });
        let run = run(&config, source, folder.as_ref(), &device, observer.as_mut())?;
        drop(observer);
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
        )?;
        fitted.keep_calibration()?;
        this.measure(&mut fitted, &data, members, watch)?;
        Ok(fitted)
    }

    /// Settings with which everything ends within the budget, where there is one. A run that goes on
    /// keeps its own.
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

    /// Whether labels of these rows are to be held out.
    fn holds_out(&self, config: &RunConfig, data: &Dataset) -> bool {
        let wanted = self.held_out.wanted.unwrap_or(data.built_in().is_none());
        wanted && config.method.uses_labels()
    }

    /// What members of the ensemble say of held-out labels, told before the network is trained: it
    /// takes seconds. Nothing where there are none, and for a run that goes on, which has told it.
    fn first_answer(
        &self,
        config: &RunConfig,
        source: &Source,
        watch: &dyn Watch,
    ) -> Result<Vec<HeldOut>> {
        let data = &source.rows;
        let classes = data.class_names().len();
        let has_members = config.ensemble.members == EnsembleMembers::All && classes > 1;
        if !has_members || !self.holds_out(config, data) || self.resume {
            return Ok(Vec::new());
        }
        let split = Prepared::new(source.clone(), config, None)?.training.split;
        let Ok(fit) = CrossFit::new(data, &split, &self.folding(data, config.seed)) else {
            return Ok(Vec::new());
        };
        let members = compare::members_held_out(&fit, config)?;
        if let Some(first) = members.first() {
            let said: Vec<Vec<f32>> = members.iter().map(|m| m.outputs.values.clone()).collect();
            let together = first.with_values(Ensemble::members_mean(&said, classes));
            let right = rightness(data, &together);
            let mean = right.iter().sum::<f64>() / right.len().max(1) as f64;
            if let Some(share) = share(mean, right.len()) {
                watch.note(&format!(
                    "first answer, without the network: {:.1}% of {} held-out labels right (95% \
                     interval {:.1}% to {:.1}%)",
                    100.0 * share.value,
                    right.len(),
                    100.0 * share.low,
                    100.0 * share.high
                ));
            }
        }
        Ok(members)
    }

    /// Finds out how good answers are on held-out labels, and keeps it beside the model.
    /// `members` are what members said of held-out labels, where that is known.
    fn measure(
        &self,
        fitted: &mut Fitted,
        data: &Dataset,
        members: Vec<HeldOut>,
        watch: &dyn Watch,
    ) -> Result<()> {
        let config = fitted.config.clone();
        if !self.holds_out(&config, data) {
            return Ok(());
        }
        let split = fitted.split.clone();
        let folding = self.folding(data, config.seed);
        let fit = match CrossFit::new(data, &split, &folding) {
            Ok(fit) => fit,
            Err(error) => {
                fitted.held_out = HeldOutState::Impossible(error.to_string());
                return Ok(());
            }
        };
        let trainings = fit.parts()
            + match self.held_out.compare {
                true => compare::baseline_trainings(&config, &fit),
                false => 0,
            };
        watch.note(&format!(
            "holding labels out: {trainings} more trainings like this one"
        ));
        let device = fitted.device.clone();
        let place = Workplace {
            device: &device,
            folder: self.folder.clone(),
            watch,
        };
        fitted.held_out = HeldOutState::Stopped;
        let Some(ours) = compare::hold_out_labels(&fit, &config, &folding, &place)? else {
            return Ok(());
        };
        let members = match &fitted.ensemble {
            Some(_) if members.is_empty() => compare::members_held_out(&fit, &config)?,
            Some(_) => members,
            None => Vec::new(),
        };
        let network = ours;
        let ours = fitted.vote(data, &network, &members);
        let unlabelled = fitted
            .with_seed(config.seed)
            .answers_without_label(data, &split)?;
        let calibration = fitted.calibration.clone();
        let calibration = calibration.with_held_out(data, &ours, &unlabelled);
        let comparison = compare::comparison(
            (data, &split),
            &config,
            (&fit, &folding),
            &ours,
            &calibration.class_weights,
        );
        let comparison = match members.is_empty() {
            true => comparison,
            false => compare::with_voters(comparison, data, &fitted.voters(), &network, &members),
        };
        let comparison = match self.held_out.compare {
            false => Some(comparison),
            true => compare::with_baselines(comparison, data, &config, (&fit, &folding), &place)?,
        };
        let Some(comparison) = comparison else {
            return Ok(());
        };
        fitted.details = HeldOutDetails::new(data, &ours, calibration.temperature);
        fitted.suspects = suspects(data, &ours, calibration.temperature);
        fitted.calibration = calibration;
        fitted.test_again(data)?;
        fitted.comparison = Some(comparison);
        fitted.held_out = HeldOutState::Measured;
        fitted.keep_calibration()?;
        fitted.keep_report()
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
            // Answers do not depend on the seed of training, but on one of their own.
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
    /// The common answer for held-out rows, by votes that follow from what network and members said
    /// of them. The network's own where there are no members.
    fn vote(&mut self, data: &Dataset, network: &HeldOut, members: &[HeldOut]) -> HeldOut {
        let Some(ensemble) = self.ensemble.take() else {
            return network.clone();
        };
        let known = |row: &u32| data.labels.class_of(*row);
        let known: Vec<u32> = network.rows.iter().filter_map(known).collect();
        let said = |all: &HeldOut| all.outputs.values.clone();
        let of_members: Vec<Vec<f32>> = members.iter().map(said).collect();
        let mut all = vec![said(network)];
        all.extend(of_members.iter().cloned());
        let ensemble = ensemble.with_votes(&all, &known);
        let mean = ensemble.mean(network.outputs.clone(), of_members);
        self.ensemble = Some(ensemble);
        network.with_values(mean.values)
    }

    /// What is said of some rows without a label: `[rows, outputs]`.
    fn answers_without_label(&self, data: &Dataset, split: &Split) -> Result<Matrix> {
        match &self.ensemble {
            None => self.trained.answers_without_label(data, split),
            Some(_) => {
                let rows = data.select(&crate::calibration::compared_without_label(split));
                self.class_probabilities(&self.card().preprocess.apply(rows)?)
            }
        }
    }

    /// Figures on test rows by the common answer; training knew the network's only.
    fn test_again(&mut self, data: &Dataset) -> Result<()> {
        if self.ensemble.is_some() && !self.split.test.is_empty() && self.report.test.is_some() {
            self.report.test = Some(self.evaluate(&data.select(&self.split.test))?);
        }
        Ok(())
    }
}
