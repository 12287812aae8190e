//! Cross-fitting: each labelled row is predicted by a model that did not see its label.
//!
//! Labelled rows are dealt into folds. For each fold a model is trained without its rows, both
//! labels and features: a model that has seen a row's features may predict it better than a new row
//! (with few rows of many columns much better), and the figures must hold for new rows.

mod held_out;

pub use held_out::HeldOut;

use crate::config::RunConfig;
use crate::ensemble::Ensemble;
use crate::error::{Error, Remedy, Result};
use crate::op::is_cpu;
use crate::prepare::Prepared;
use crate::pseudo_label::ComparedFeatures;
use crate::run::{RunFolder, Trained, run};
use crate::train::Observer;
use burn::tensor::Device;
use cpcvae_data::{Dataset, Folds, Labels, Layout, Matrix, Source, Split, choose_labels};
use std::path::Path;

/// The most rows for label propagation: a neighbour search among more would take longer than
/// training.
const MOST_SPREAD: usize = 60_000;

/// Up to this many numbers in a table, trainings on it run in parallel: each has a copy of it.
const MOST_NUMBERS_AT_ONCE: usize = 32 << 20;

/// A function that propagates labels without training: `features [rows, width]` with NaN for
/// missing cells, known (row, class) pairs, the number of classes; returns probabilities `[rows,
/// classes]`.
pub type Spread =
    fn(features: &[f32], width: usize, labels: &[(u32, u32)], classes: usize) -> Vec<f32>;

/// A function that predicts continuous labels without training (see
/// [`crate::regressors::baseline`]): `features [rows, width]`, labelled rows first, `labels
/// [labelled rows, outputs]`.
pub type PredictValues =
    fn(features: &[f32], width: usize, labels: &[f32], outputs: usize) -> Vec<f32>;

/// How labelled rows are held out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Folding {
    /// Folds of each repeat.
    pub folds: usize,
    /// How often rows are dealt into folds.
    pub repeats: usize,
    /// Labels that each training may use, fewer than there are; `None` for all that are not held
    /// out.
    pub labels: Option<usize>,
    /// The seed of the folds.
    pub seed: u64,
}

impl Folding {
    /// Five folds for tables, and three for images, which take longer. Dealt once.
    pub fn default_for(layout: &Layout, seed: u64) -> Self {
        Self {
            folds: match layout {
                Layout::Columns(_) => 5,
                Layout::Image { .. } => 3,
            },
            repeats: 1,
            labels: None,
            seed,
        }
    }
}

/// One training of a cross-fit.
#[derive(Clone, Debug, PartialEq)]
struct Part {
    name: String,
    split: Split,
    held_out: Vec<u32>,
}

/// A cross-fit of a data set: which rows each training may see the labels of.
#[derive(Clone, Debug)]
pub struct CrossFit<'a> {
    data: &'a Dataset,
    parts: Vec<Part>,
    /// Labelled rows that are never held out, being the only ones of their class.
    pub kept: Vec<u32>,
}

impl<'a> CrossFit<'a> {
    /// Deals the labelled rows of `split` into folds. Validation rows stay the same; test rows are
    /// not used.
    pub fn new(data: &'a Dataset, split: &Split, folding: &Folding) -> Result<Self> {
        let mut parts = Vec::new();
        let mut kept = Vec::new();
        for repeat in 0..folding.repeats.max(1) {
            let folds = Folds::deal(
                data,
                &split.labelled,
                folding.folds,
                folding.seed,
                repeat as u64,
            )?;
            for (fold, held_out) in folds.held_out.into_iter().enumerate() {
                let name = match repeat {
                    0 => format!("fold-{fold}"),
                    _ => format!("repeat-{repeat}-fold-{fold}"),
                };
                let known = split.labelled.iter().filter(|row| !held_out.contains(row));
                let mut labelled: Vec<u32> = known.copied().collect();
                if let Some(count) = folding.labels {
                    labelled = choose_labels(data, &labelled, count, folding.seed);
                }
                let is_hidden = |row: &&u32| !labelled.contains(row) && !held_out.contains(row);
                let hidden = split.labelled.iter().filter(is_hidden);
                let mut unlabelled: Vec<u32> = split.unlabelled.clone();
                unlabelled.extend(hidden);
                unlabelled.sort_unstable();
                parts.push(Part {
                    name,
                    split: Split {
                        labelled,
                        unlabelled,
                        validation: split.validation.clone(),
                        test: Vec::new(),
                    },
                    held_out,
                });
            }
            kept = folds.kept;
        }
        Ok(Self { data, parts, kept })
    }

    /// The number of trainings.
    pub fn parts(&self) -> usize {
        self.parts.len()
    }

    /// How many trainings should run in parallel ([`parallel_runs`](crate::parallel_runs)):
    /// networks for tables are too small to use several threads each, those for images are not.
    pub fn at_once(&self, device: &Device) -> usize {
        let numbers = self.data.len() * self.data.width();
        let is_table = matches!(self.data.layout, Layout::Columns(_));
        match is_table && numbers <= MOST_NUMBERS_AT_ONCE && is_cpu(device) {
            true => rayon::current_num_threads(),
            false => 1,
        }
    }

    /// The name of a training and of its folder.
    pub fn name(&self, part: usize) -> &str {
        &self.parts[part].name
    }

    /// Trains one part and predicts the rows that it holds out. With a folder it is a run in that
    /// folder, and a finished run is reused. `None` when the observer asked for a stop; a run in a
    /// folder then resumes at the next call.
    pub fn train(
        &self,
        part: usize,
        config: &RunConfig,
        folder: Option<&Path>,
        device: &Device,
        observer: &mut dyn Observer,
    ) -> Result<Option<HeldOut>> {
        let part = &self.parts[part];
        let folder = folder.map(|folder| RunFolder::at(folder.join(&part.name)));
        // Another process may train the same part as a cell.
        let _lock = folder.as_ref().map(RunFolder::claim).transpose()?;
        let trained = match &folder {
            Some(folder) if folder.is_finished() => {
                check_same(part, config, folder)?;
                Trained::open(folder, device, config.seed)?
            }
            folder => {
                let run = run(config, self.source(part), folder.as_ref(), device, observer)?;
                let Some(trained) = run.trained else {
                    return Ok(None);
                };
                if let Some(folder) = folder {
                    // Only the model is needed from here on, and there may be many of them. Failing
                    // to remove a folder is harmless.
                    let _ = std::fs::remove_dir_all(folder.path().join("checkpoints"));
                }
                trained
            }
        };
        let preprocess = &trained.card.preprocess;
        let rows = preprocess.apply(self.data.select(&part.held_out))?;
        let outputs = trained.inference.predict(&rows.features, 0)?;
        Ok(Some(HeldOut {
            rows: part.held_out.clone(),
            outputs: match &self.data.labels {
                Labels::Values { .. } => preprocess.invert_labels(outputs),
                _ => outputs,
            },
        }))
    }

    /// Predictions for the rows of a part by label propagation, on the HOG features of images. Only
    /// for classes.
    pub fn spread(&self, part: usize, config: &RunConfig, spread: Spread) -> Result<HeldOut> {
        let part = &self.parts[part];
        let classes = self.data.class_names().len();
        if classes == 0 {
            let problem = "only classes can be spread over rows, and the labels are not classes";
            return Err(Error::Mismatch(problem.into()));
        }
        let prepared = Prepared::new(self.source(part), config, None)?;
        let known = &part.split.labelled;
        let others: Vec<u32> = part.split.unlabelled.clone();
        let step = others.len().div_ceil(MOST_SPREAD).max(1);
        let others = others.into_iter().step_by(step);
        let others = others.filter(|row| part.held_out.binary_search(row).is_err());
        let mut rows = [known.as_slice(), &part.held_out].concat();
        rows.extend(others);
        let training = &prepared.training.rows;
        let features = ComparedFeatures::Hog.of(training.features.gather(&rows), &training.layout);
        let labels: Vec<(u32, u32)> = (0..)
            .zip(known)
            .filter_map(|(place, row)| Some((place, self.data.labels.class_of(*row)?)))
            .collect();
        let mut all = spread(&features.values, features.columns, &labels, classes);
        // The known rows come first; they are removed.
        all.drain(..known.len() * classes);
        all.truncate(part.held_out.len() * classes);
        Ok(HeldOut {
            rows: part.held_out.clone(),
            outputs: Matrix::new(part.held_out.len(), classes, all)?,
        })
    }

    /// Predictions of continuous labels for the rows of a part, without training.
    pub fn values(
        &self,
        part: usize,
        config: &RunConfig,
        predict: PredictValues,
    ) -> Result<HeldOut> {
        let part = &self.parts[part];
        let prepared = Prepared::new(self.source(part), config, None)?;
        let rows = [part.split.labelled.as_slice(), &part.held_out].concat();
        let training = &prepared.training.rows;
        let features = ComparedFeatures::Hog.of(training.features.gather(&rows), &training.layout);
        let known = part.split.labelled.iter();
        let labels = known.filter_map(|row| self.data.labels.values_of(*row));
        let labels: Vec<f32> = labels.flatten().copied().collect();
        let outputs = self.data.labels.dimensions();
        let values = predict(&features.values, features.columns, &labels, outputs);
        Ok(HeldOut {
            rows: part.held_out.clone(),
            outputs: Matrix::new(part.held_out.len(), outputs, values)?,
        })
    }

    /// Predictions of ensemble members, fitted to the labels of a part, for the rows that it holds
    /// out, in the user's units: one [`HeldOut`] a member.
    pub fn members(&self, part: usize, config: &RunConfig) -> Result<Vec<HeldOut>> {
        let part = &self.parts[part];
        let prepared = Prepared::new(self.source(part), config, None)?;
        let preprocess = &prepared.preprocess;
        let fitted = Ensemble::fit(config, preprocess, self.data, &part.split)?;
        let Some(fitted) = fitted else {
            return Ok(Vec::new());
        };
        let held_out = preprocess.apply(self.data.select(&part.held_out))?;
        let predictions = fitted.predictions(held_out.features.matrix(), &held_out.layout)?;
        let of_member = |predictions: Vec<f32>| {
            let outputs = predictions.len() / part.held_out.len().max(1);
            let outputs = Matrix::new(part.held_out.len(), outputs, predictions)?;
            Ok(HeldOut {
                rows: part.held_out.clone(),
                outputs: match &self.data.labels {
                    Labels::Values { .. } => preprocess.invert_labels(outputs),
                    _ => outputs,
                },
            })
        };
        predictions.into_iter().map(of_member).collect()
    }

    fn source(&self, part: &Part) -> Source {
        Source {
            rows: self.data.clone(),
            test: None,
            split: Some(part.split.clone()),
        }
    }
}

/// A finished part can be reused only for the same settings and rows.
fn check_same(part: &Part, config: &RunConfig, folder: &RunFolder) -> Result<()> {
    let split = Split::load(folder.path().join("split.json"))?;
    if folder.config()? == *config && split == part.split {
        return Ok(());
    }
    Err(Error::file(
        folder.path(),
        "was trained with other settings or on other rows; remove this folder, or start another \
         run in another folder",
    )
    .with_remedy(Remedy::OtherFolder))
}
