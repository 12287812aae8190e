//! A run folder: settings, split, metrics, checkpoints, and the final model.

mod card_check;
pub(crate) mod checksummed_json;
mod fingerprint;
mod folder;
mod lock;
mod ranks;

pub use folder::RunFolder;
pub use lock::RunLock;
pub use ranks::{assist, dismiss};

use crate::config::RunConfig;
use crate::distribution::Family;
use crate::error::{Error, Remedy, Result};
use crate::evenly::evenly;
use crate::infer::{Evaluation, FittedCodes, Inference};
use crate::model::{Model, Shape};
use crate::op::{Compute, Precision};
use crate::plan::train_plan;
use crate::prepare::{Prepared, Preprocess};
use crate::train::{
    Alone, Communicator, FitOutcome, FitReport, Observer, Parameters, StopReason, TensorFile,
    TrainingData, fit_with,
};
use burn::tensor::Device;
use cpcvae_data::{Dataset, Source, Split, write_atomically};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// The version of the card's format.
const FORMAT: u32 = 1;
/// The most training rows whose codes the mixture is fitted to.
const FITTED_ROWS: usize = 5000;

/// The metadata of a saved model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Card {
    /// Version of this format.
    pub format: u32,
    /// Version of cpcvae that trained it.
    pub version: String,
    /// The data set's name.
    pub data: String,
    /// The method's name.
    pub method: String,
    /// The seed of the run.
    pub seed: u64,
    /// The step of the parameters.
    pub step: u64,
    /// Shapes of the model, classes included.
    pub shape: Shape,
    /// How rows are prepared.
    pub preprocess: Preprocess,
    /// Precision that it was trained with and predicts in; older cards lack it, which means the
    /// default of the machine.
    #[serde(default)]
    pub precision: Option<Precision>,
}

/// A finished run's result.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunReport {
    /// Report of the training; its figures are in the user's units.
    pub fit: FitReport,
    /// Figures on test rows, which training did not use, in the user's units.
    pub test: Option<Evaluation>,
    /// Likelihood of the features. Densities are comparable only with the same likelihood and
    /// floor.
    #[serde(default = "unknown_likelihood")]
    pub likelihood: Family,
    /// Smallest standard deviation of that likelihood.
    #[serde(default)]
    pub scale_floor: f64,
}

/// Older reports lack it.
fn unknown_likelihood() -> Family {
    Family::NoiseNormal
}

/// A training that has finished or was stopped.
#[derive(Debug)]
pub struct Run {
    /// Its complete settings.
    pub config: RunConfig,
    /// Its report.
    pub report: RunReport,
    /// Which rows trained, validated and tested.
    pub split: Split,
    /// The model; `None` if the observer asked for a stop.
    pub trained: Option<Trained>,
    /// Every term over time, as lines of JSON; empty if they are in a folder.
    pub metrics: Vec<u8>,
}

/// Trains a model as the settings say.
///
/// With a folder everything is written there, and a stopped run in it is resumed, with the same
/// settings only. Without a folder everything stays in memory.
pub fn run(
    config: &RunConfig,
    source: Source,
    folder: Option<&RunFolder>,
    device: &Device,
    observer: &mut dyn Observer,
) -> Result<Run> {
    run_with(&Alone, config, source, folder, device, observer)
}

/// The same on rank 0 of several processes; the others call [`assist`]. The result does not depend
/// on their number.
pub fn run_with(
    ranks: &dyn Communicator,
    config: &RunConfig,
    source: Source,
    folder: Option<&RunFolder>,
    device: &Device,
    observer: &mut dyn Observer,
) -> Result<Run> {
    let stored_split = match folder.map(RunFolder::split_path) {
        Some(path) if path.exists() => Some(Split::load(path)?),
        _ => None,
    };
    let name = source.rows.name.clone();
    let rows = source.rows.clone();
    let prepared = Prepared::new(source, config, stored_split)?;
    let plan = train_plan(config, &prepared)?;
    if let Some(folder) = folder {
        folder.start(config, &prepared.training.split)?;
        folder.check_data(&rows)?;
    }
    ranks::announce(
        ranks,
        config,
        &plan,
        &prepared.training.split,
        &rows,
        folder,
    )?;
    let path = folder.map(RunFolder::path);
    let FitOutcome {
        model,
        report: mut fit,
        metrics,
    } = fit_with(ranks, &plan, &prepared.training, path, device, observer)?;
    let in_user_units = |evaluation, rows: &Dataset| {
        let preprocess = &prepared.preprocess;
        preprocess.in_user_units(evaluation, &rows.features)
    };
    let validated = fit.validation.zip(prepared.training.validation.as_ref());
    fit.validation = validated.map(|(evaluation, rows)| in_user_units(evaluation, rows));
    let mut run = Run {
        report: RunReport {
            fit,
            test: None,
            likelihood: config.model.likelihood,
            scale_floor: config.model.scale_floor,
        },
        trained: None,
        split: prepared.training.split.clone(),
        config: config.clone(),
        metrics,
    };
    if run.report.fit.stop == StopReason::Interrupted {
        return Ok(run);
    }
    let card = Card {
        format: FORMAT,
        version: env!("CARGO_PKG_VERSION").into(),
        data: name,
        method: config.method.name().into(),
        seed: config.seed,
        step: run.report.fit.kept_step,
        shape: plan.shape.clone(),
        preprocess: prepared.preprocess.clone(),
        precision: Some(plan.precision),
    };
    let inference = Inference::new(&model, &plan.shape, device, config.seed);
    let codes = fitted_codes(&inference, &prepared.training)?;
    let test = prepared.test.as_ref();
    run.report.test = test.map(|rows| in_user_units(inference.evaluate(rows), rows));
    let inference = inference.with_fitted_codes(codes);
    let trained = run.trained.insert(Trained { card, inference });
    if let Some(folder) = folder {
        trained.save(folder)?;
        folder.write_report(&run.report)?;
    }
    Ok(run)
}

impl Run {
    /// Writes what a run with a folder would have written, except checkpoints.
    pub fn save(&self, folder: &RunFolder) -> Result<()> {
        folder.check_ours()?;
        folder.start(&self.config, &self.split)?;
        write_atomically(&folder.metrics_path(), &self.metrics)?;
        if let Some(trained) = &self.trained {
            trained.save(folder)?;
            folder.write_report(&self.report)?;
        }
        Ok(())
    }
}

/// The mixture fitted to codes of training rows, for models that have such codes.
fn fitted_codes(inference: &Inference, training: &TrainingData) -> Result<Option<FittedCodes>> {
    let split = &training.split;
    let labelled: HashSet<u32> = split.labelled.iter().copied().collect();
    let mut rows = [split.labelled.as_slice(), &split.unlabelled].concat();
    rows.sort_unstable();
    let rows = evenly(&rows, FITTED_ROWS);
    // Labels that are hidden from training are not used here either.
    let known = |row: &u32| match labelled.contains(row) {
        true => training.rows.labels.class_of(*row),
        false => None,
    };
    let known: Vec<Option<u32>> = rows.iter().map(known).collect();
    let features = training.rows.select(&rows).features;
    inference.fit_codes(&features, &known)
}

/// A trained model, ready for inference.
#[derive(Clone, Debug)]
pub struct Trained {
    /// Its metadata.
    pub card: Card,
    /// Inference for prepared rows.
    pub inference: Inference,
}

impl Trained {
    /// The same with another seed for random draws.
    pub fn with_seed(&self, seed: u64) -> Self {
        Self {
            card: self.card.clone(),
            inference: self.inference.with_seed(seed),
        }
    }

    /// Writes model, card and fitted codes into `model` of the folder.
    fn save(&self, folder: &RunFolder) -> Result<()> {
        let parent = folder.path().join("model");
        cpcvae_data::create_folder(&parent).map_err(|error| Error::file(&parent, error))?;
        let text = serde_json::to_string_pretty(&self.card).expect("plain values serialise");
        let file = TensorFile {
            tensors: Parameters::of(self.inference.model()),
            about: text.clone(),
        };
        file.save(&folder.model_path())?;
        write_atomically(&folder.card_path(), text.as_bytes())?;
        match self.inference.fitted_codes() {
            Some(codes) => TensorFile::of_codes(codes.clone()).save(&folder.codes_path()),
            None => Ok(()),
        }
    }

    /// Loads the model of a finished run, with the precision on its card. `seed` is for random
    /// draws.
    pub fn open(folder: &RunFolder, device: &Device, seed: u64) -> Result<Self> {
        Self::open_with(folder, device, None, seed)
    }

    /// [`Trained::open`] with another precision than the card's, if given.
    pub fn open_with(
        folder: &RunFolder,
        device: &Device,
        precision: Option<Precision>,
        seed: u64,
    ) -> Result<Self> {
        let path = folder.model_path();
        if folder.is_started() && !path.exists() {
            return Err(Error::file(
                folder.path(),
                "this run has not finished, so there is no model yet; resume it",
            )
            .with_remedy(Remedy::Resume));
        }
        let file = TensorFile::load(&path)?;
        let damaged = |problem: String| Error::file(&path, problem);
        let card: Card =
            serde_json::from_str(&file.about).map_err(|error| damaged(error.to_string()))?;
        if card.format != FORMAT {
            return Err(damaged(format!(
                "has format {}, this version of cpcvae reads format {FORMAT}",
                card.format
            )));
        }
        card_check::check(&card, &file.tensors).map_err(damaged)?;
        let precision = precision.or(card.precision);
        let compute = Compute::new(device, precision.unwrap_or_else(Precision::auto));
        let fresh = Model::new(&card.shape, card.seed, &compute);
        let model = file.tensors.apply(fresh).map_err(damaged)?;
        // Runs of earlier versions have none.
        let codes = match folder.codes_path() {
            path if path.exists() => Some(TensorFile::load(&path)?.codes(&card.shape, &path)?),
            _ => None,
        };
        let inference = Inference::new(&model, &card.shape, device, seed);
        Ok(Self {
            inference: inference.with_fitted_codes(codes),
            card,
        })
    }
}
