//! Calibration of a run's predictions: temperature and class weights, errors on held-out labels,
//! and the densities of training rows. Stored as `model/answers.json`.

use crate::crossfit::HeldOut;
use crate::error::{Error, Remedy, Result};
use crate::evenly::evenly;
use crate::infer::calibrate::{at_temperature, temperature};
use crate::infer::class_shift::class_weights;
use crate::infer::conformal::Conformity;
use crate::infer::quality::{Estimate, Quality, quality, share};
use crate::infer::{Inference, Typical, largest};
use crate::model::ModelKind;
use crate::net::Net;
use crate::run::{RunFolder, Trained, checksummed_json};
use cpcvae_data::{Dataset, Labels, Matrix, Rows, Split};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The version of the file format.
const FORMAT: u32 = 2;
/// Draws of the code for log p(x).
pub const DENSITY_DRAWS: usize = 20;
/// The most training rows whose densities are measured.
const COMPARED_ROWS: usize = 2000;
/// The same for wide residual networks, where log p(x) of a row takes tens of milliseconds.
const COMPARED_IMAGES: usize = 500;

/// The calibration that is stored with a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Version of this format.
    pub format: u32,
    /// Figures on held-out labels, if there was a cross-fit.
    pub held_out: Option<Figures>,
    /// Estimated frequency of each class among rows without a label, relative to its frequency
    /// among labels.
    pub class_weights: Vec<f64>,
    /// The temperature of class probabilities; 1 leaves them unchanged.
    pub temperature: f64,
    /// Conformal scores of calibrated probabilities on held-out rows.
    pub class_scores: Conformity,
    /// Conformal scores of each continuous label, in the user's units.
    pub label_scores: Vec<Conformity>,
    /// Quantiles of the densities of training rows, in the user's units; `None` for a model without
    /// a generative part.
    pub typical: Option<Typical>,
}

/// Figures over rows whose labels were held out from the predicting models.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Number of distinct rows that were held out.
    pub rows: usize,
    /// Accuracy, with Wilson's interval for that many rows: repeats of the cross-fit make the
    /// figure steadier, but do not add rows.
    pub accuracy: Option<Estimate>,
    /// Figures of the uncalibrated probabilities.
    pub stated: Option<Quality>,
    /// The same at the temperature, which was chosen on these rows, so the figures are slightly
    /// optimistic.
    pub calibrated: Option<Quality>,
    /// Mean absolute error of each continuous label.
    pub absolute_error: Vec<f64>,
}

impl Calibration {
    /// No calibration: probabilities are unchanged.
    pub fn unknown() -> Self {
        Self {
            format: FORMAT,
            held_out: None,
            class_weights: Vec::new(),
            temperature: 1.0,
            class_scores: Conformity::default(),
            label_scores: Vec::new(),
            typical: None,
        }
    }

    /// Adds held-out predictions for rows of `data`, and the model's own predictions for rows
    /// without a label (see [`Trained::unlabelled_predictions`]), from which class frequencies are
    /// estimated.
    pub fn with_held_out(self, data: &Dataset, held_out: &HeldOut, unlabelled: &Matrix) -> Self {
        match &data.labels {
            Labels::Classes { .. } => self.with_classes(data, held_out, unlabelled),
            Labels::Values { names, .. } => self.with_values(data, held_out, names.len()),
            Labels::None => self,
        }
    }

    fn with_classes(mut self, data: &Dataset, held_out: &HeldOut, unlabelled: &Matrix) -> Self {
        let width = held_out.outputs.columns;
        let classes = known_classes(data, held_out);
        let mut probabilities = held_out.outputs.values.clone();
        let stated = quality(&probabilities, width, &classes);
        // Class weights need calibrated probabilities, and the temperature needs class weights: two
        // rounds of each.
        self.class_weights = vec![1.0; width];
        for _ in 0..2 {
            let so_far = temperature(&probabilities, width, &classes, &self.class_weights);
            let mut elsewhere = unlabelled.values.clone();
            at_temperature(&mut elsewhere, width, so_far);
            self.class_weights = class_weights(&classes, &elsewhere, width);
        }
        self.temperature = temperature(&probabilities, width, &classes, &self.class_weights);
        at_temperature(&mut probabilities, width, self.temperature);
        self.class_scores =
            Conformity::of_classes(&probabilities, width, &classes, &self.class_weights);
        let rows = different(&held_out.rows);
        self.held_out = Some(Figures {
            rows,
            accuracy: stated.and_then(|figures| share(figures.accuracy, rows)),
            stated,
            calibrated: quality(&probabilities, width, &classes),
            absolute_error: Vec::new(),
        });
        self
    }

    fn with_values(mut self, data: &Dataset, held_out: &HeldOut, labels: usize) -> Self {
        let errors = |label: usize| {
            held_out
                .rows
                .iter()
                .enumerate()
                .filter_map(move |(place, row)| {
                    let truth = data.labels.values_of(*row)?[label];
                    Some(held_out.outputs.row(place)[label] - truth)
                })
        };
        let mean_size = |label| {
            let sum: f64 = errors(label).map(|error| f64::from(error.abs())).sum();
            sum / errors(label).count().max(1) as f64
        };
        self.label_scores = (0..labels)
            .map(|label| Conformity::of_errors(errors(label)))
            .collect();
        self.held_out = Some(Figures {
            rows: different(&held_out.rows),
            accuracy: None,
            stated: None,
            calibrated: None,
            absolute_error: (0..labels).map(mean_size).collect(),
        });
        self
    }

    /// Adds the densities of training rows: at most 2,000 of them (500 for a wide residual
    /// network), evenly over the split. With `hides_cells` also for rows with missing cells, which
    /// is not needed where rows are compared in another way.
    pub(crate) fn with_typical(
        mut self,
        trained: &Trained,
        data: &Dataset,
        split: &Split,
        hides_cells: bool,
    ) -> Result<Self> {
        if trained.card.shape.kind == ModelKind::Classifier {
            return Ok(self);
        }
        let mut rows = [split.labelled.as_slice(), &split.unlabelled].concat();
        rows.sort_unstable();
        let most = match trained.card.shape.net {
            Net::Wrn(_) => COMPARED_IMAGES,
            Net::Mlp => COMPARED_ROWS,
        };
        let rows = data.select(&evenly(&rows, most));
        let rows = trained.card.preprocess.apply(rows)?;
        let score = |rows: &Matrix, _: &[u32]| trained.log_densities(&trained.inference, rows);
        self.typical = match hides_cells {
            true => {
                let places = trained.card.preprocess.places();
                Typical::of_rows(&rows.features.matrix(), &places, DENSITY_DRAWS, &score)?
            }
            false => {
                let scores = trained.log_densities(&trained.inference, &rows.features)?;
                Typical::new(&scores, DENSITY_DRAWS)
            }
        };
        Ok(self)
    }

    /// The calibration of a run, if it has one.
    pub fn load(folder: &RunFolder) -> Result<Option<Self>> {
        let path = path(folder);
        if !path.exists() {
            return Ok(None);
        }
        let damaged = |problem: String| {
            let advice =
                "remove it to predict without calibration, or resume the run to make it again";
            Error::file(&path, format!("{problem}; {advice}")).with_remedy(Remedy::Resume)
        };
        let answers: Self = match checksummed_json::read(&path) {
            Err(Error::File { problem, .. }) => return Err(damaged(problem)),
            answers => answers?,
        };
        if answers.format != FORMAT {
            return Err(damaged(format!(
                "has format {}, this version of cpcvae reads format {FORMAT}",
                answers.format
            )));
        }
        match answers.problem() {
            Some(problem) => Err(damaged(problem)),
            None => Ok(Some(answers)),
        }
    }

    /// Writes the calibration beside the run's model.
    pub fn save(&self, folder: &RunFolder) -> Result<()> {
        checksummed_json::write(&path(folder), self)
    }

    /// A problem in the values, so that a damaged file is not used.
    fn problem(&self) -> Option<String> {
        let temperature = self.temperature;
        if !(temperature > 0.0 && temperature.is_finite()) {
            return Some(format!(
                "`temperature` is {temperature}; it must be above 0"
            ));
        }
        let is_weight = |weight: &f64| *weight >= 0.0 && weight.is_finite();
        if !self.class_weights.iter().all(is_weight) {
            return Some("`class_weights` holds a weight that is not a number from 0".into());
        }
        let is_sorted = self.typical.as_ref().is_none_or(Typical::is_sound);
        (!is_sorted).then(|| "`typical` is not a list of increasing quantiles".into())
    }
}

/// log p(x) of unprepared rows, in the user's units, from [`DENSITY_DRAWS`] codes each.
pub fn log_densities(trained: &Trained, rows: Dataset) -> Result<Vec<f32>> {
    let rows = trained.card.preprocess.apply(rows)?;
    trained.log_densities(&trained.inference, &rows.features)
}

impl Trained {
    /// The model's predictions for rows without a label, at most 2,000 of them, evenly over the
    /// split: `[rows, outputs]`.
    pub fn unlabelled_predictions(&self, data: &Dataset, split: &Split) -> Result<Matrix> {
        let rows = data.select(&compared_without_label(split));
        let prepared = self.card.preprocess.apply(rows)?;
        self.inference.predict(&prepared.features, 0)
    }

    /// log p(x) of prepared rows, given the inference for some of them. The same row always gets
    /// the same value, whatever rows it is batched with.
    pub fn log_densities(&self, inference: &Inference, prepared: &dyn Rows) -> Result<Vec<f32>> {
        let inference = inference.with_same_noise();
        let mut scores = inference.score(prepared, DENSITY_DRAWS)?.log_likelihood;
        let mut values = vec![0.0; prepared.columns()];
        for (row, score) in scores.iter_mut().enumerate() {
            prepared.read(row, &mut values);
            *score += self.card.preprocess.log_density_shift(&values);
        }
        Ok(scores)
    }
}

/// Rows without a label for estimating class frequencies: at most 2,000, evenly.
pub(crate) fn compared_without_label(split: &Split) -> Vec<u32> {
    evenly(&split.unlabelled, COMPARED_ROWS)
}

/// For each held-out row, the share of its predictions that are correct, in row order: used to
/// compare methods.
pub fn accuracies(data: &Dataset, held_out: &HeldOut) -> Vec<f64> {
    per_row(data, held_out, |outputs, row| {
        let class = data.labels.class_of(row)?;
        Some(f64::from(u8::from(largest(outputs) == class as usize)))
    })
}

/// For each held-out row, minus the mean absolute error over labels and repeats.
pub(crate) fn negative_errors(data: &Dataset, held_out: &HeldOut) -> Vec<f64> {
    per_row(data, held_out, |outputs, row| {
        let truth = data.labels.values_of(row)?;
        let errors = outputs
            .iter()
            .zip(truth)
            .map(|(a, b)| f64::from((a - b).abs()));
        Some(-errors.sum::<f64>() / truth.len().max(1) as f64)
    })
}

fn per_row(
    data: &Dataset,
    held_out: &HeldOut,
    score: impl Fn(&[f32], u32) -> Option<f64>,
) -> Vec<f64> {
    let mut sums = vec![(0.0, 0.0); data.len()];
    for (place, &row) in held_out.rows.iter().enumerate() {
        if let Some(score) = score(held_out.outputs.row(place), row) {
            let (sum, count) = &mut sums[row as usize];
            *sum += score;
            *count += 1.0;
        }
    }
    let seen = sums.iter().filter(|(_, count)| *count > 0.0);
    seen.map(|(sum, count)| sum / count).collect()
}

fn known_classes(data: &Dataset, held_out: &HeldOut) -> Vec<u32> {
    let classes = held_out.rows.iter().map(|row| data.labels.class_of(*row));
    classes
        .map(|class| class.expect("only labelled rows are held out"))
        .collect()
}

fn different(rows: &[u32]) -> usize {
    let mut rows = rows.to_vec();
    rows.sort_unstable();
    rows.dedup();
    rows.len()
}

fn path(folder: &RunFolder) -> PathBuf {
    folder.path().join("model").join("answers.json")
}
