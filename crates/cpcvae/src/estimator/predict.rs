//! Predictions with conformal sets, densities and votes.

use super::{AsRows, Fitted, Predictions};
use crate::calibration::Calibration;
use crate::error::{Error, Result};
use crate::infer::calibrate::at_temperature;
use crate::infer::conformal::{Conformity, class_set};
use crate::infer::largest;
use crate::model::Target;
use cpcvae_data::{Dataset, Layout, Matrix};

/// What predictions include.
///
/// ```
/// # use cpcvae::prelude::*;
/// # let rows: Vec<[f32; 2]> =
/// #     (0..60).map(|i| [(i % 2 * 9 + i % 5) as f32, (i % 7) as f32]).collect();
/// # let labels = (0..60).map(|i| (i < 20).then_some(["low", "high"][i % 2]));
/// # let data = Dataset::from_rows(&rows, Labels::classes(labels))?;
/// let fitted = Pc::new().steps(50).hold_out(false).fit(&data)?;
/// let options = PredictOptions { coverage: 0.8, density: false, ..PredictOptions::default() };
/// let answers = fitted.predict_with(&rows, options)?;
/// assert!(answers.log_density.is_none());
/// # Ok::<(), cpcvae::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredictOptions {
    /// The target coverage of sets and intervals.
    pub coverage: f64,
    /// Draws of the code that predictions are averaged over; 0 for its mean.
    pub samples: usize,
    /// Whether log p(x) and its percentile among training rows are computed.
    pub density: bool,
    /// Whether the class, or number, that each voter of an ensemble predicts is included.
    pub votes: bool,
}

impl Default for PredictOptions {
    fn default() -> Self {
        Self {
            coverage: 0.9,
            samples: 0,
            density: true,
            votes: false,
        }
    }
}

/// How outputs are converted to predictions.
#[derive(Clone, Debug)]
enum Reading {
    Classes {
        names: Vec<String>,
        temperature: f64,
        /// `None` if no labels were held out; `Some(None)` if every class is in the set.
        threshold: Option<Option<f32>>,
    },
    Values(Vec<Option<f32>>),
}

impl Reading {
    fn new(target: &Target, calibration: &Calibration, coverage: f64) -> Self {
        match target {
            Target::Classes(names) => Self::Classes {
                names: names.clone(),
                temperature: calibration.temperature,
                threshold: (!calibration.class_scores.is_empty())
                    .then(|| calibration.class_scores.threshold(coverage)),
            },
            Target::Values(names) => {
                let half_width = |label| {
                    let scores: Option<&Conformity> = calibration.label_scores.get(label);
                    scores.map(|scores| scores.threshold(coverage).unwrap_or(f32::INFINITY))
                };
                Self::Values((0..names.len()).map(half_width).collect())
            }
            Target::Nothing => Self::Values(Vec::new()),
        }
    }
}

fn most_probable(predictions: &Matrix) -> Vec<usize> {
    (0..predictions.rows)
        .map(|row| largest(predictions.row(row)))
        .collect()
}

impl Fitted {
    /// Labels, calibrated probabilities, conformal sets, log p(x) and its percentile.
    pub fn predict<R: AsRows + ?Sized>(&self, rows: &R) -> Result<Predictions> {
        self.predict_with(rows, PredictOptions::default())
    }

    /// The same with options.
    pub fn predict_with<R: AsRows + ?Sized>(
        &self,
        rows: &R,
        options: PredictOptions,
    ) -> Result<Predictions> {
        let rows = rows.as_rows(self.layout())?;
        let mut all = self.no_predictions(options);
        for part in self.predict_parts(&rows, options)? {
            all.extend(part?);
        }
        Ok(all)
    }

    /// The same in parts, for rows and predictions that do not fit in memory.
    pub fn predict_parts<'a>(
        &'a self,
        rows: &Dataset,
        options: PredictOptions,
    ) -> Result<impl Iterator<Item = Result<Predictions>> + 'a> {
        let coverage = options.coverage;
        if !(coverage > 0.0 && coverage < 1.0) {
            return Err(Error::Mismatch(format!(
                "a coverage of {coverage} cannot be asked for; it is above 0 and below 1"
            )));
        }
        let prepared = self.card().preprocess.apply(rows.clone())?;
        let layout = prepared.layout.clone();
        let reading = Reading::new(&self.card().shape.target, &self.calibration, coverage);
        let places = self.card().preprocess.places();
        Ok(self.parts(prepared.features).map(move |part| {
            let outputs = part.inference.predict(&part.features, options.samples)?;
            let (outputs, predictions) = self.with_members(outputs, &part.features, &layout)?;
            let mut answers = self.answers_of(&reading, outputs);
            match (options.votes, answers.classes.is_empty()) {
                (false, _) => {}
                (true, false) => answers.votes = predictions.iter().map(most_probable).collect(),
                (true, true) => {
                    let preprocess = &self.card().preprocess;
                    let in_units = predictions
                        .into_iter()
                        .map(|predictions| preprocess.invert_labels(predictions));
                    answers.value_votes = in_units.collect();
                }
            }
            if let Some(typical) = self
                .calibration
                .typical
                .as_ref()
                .filter(|_| options.density)
            {
                let log_density = self
                    .trained
                    .log_densities(&part.inference, &part.features)?;
                answers.percentile = Some(match &self.nearest {
                    Some(nearest) => nearest.percentiles(&part.features),
                    None => typical.percentiles(&log_density, &part.features, &places),
                });
                answers.log_density = Some(log_density);
            }
            Ok(answers)
        }))
    }

    /// The largest coverage that the number of held-out labels allows, if it is less than
    /// requested.
    pub fn coverage_limit(&self, coverage: f64) -> Option<(usize, f64)> {
        let classes = std::iter::once(&self.calibration.class_scores);
        let mut scores = classes.chain(&self.calibration.label_scores);
        scores
            .find(|scores| !scores.is_empty() && scores.threshold(coverage).is_none())
            .map(|scores| (scores.len(), scores.largest_coverage()))
    }

    /// The ensemble's output for prepared rows, and each voter's prediction: the network first,
    /// each `[rows, classes]`. The network's output if it predicts alone.
    pub(super) fn with_members(
        &self,
        outputs: Matrix,
        features: &Matrix,
        layout: &Layout,
    ) -> Result<(Matrix, Vec<Matrix>)> {
        let Some(ensemble) = &self.ensemble else {
            return Ok((outputs, Vec::new()));
        };
        let predictions = ensemble.predictions(features.clone(), layout)?;
        let of_member = |values: &Vec<f32>| Matrix {
            values: values.clone(),
            ..outputs.clone()
        };
        let mut each = vec![outputs.clone()];
        each.extend(predictions.iter().map(of_member));
        Ok((ensemble.mean(outputs, predictions), each))
    }

    fn no_predictions(&self, options: PredictOptions) -> Predictions {
        let reading = Reading::new(
            &self.card().shape.target,
            &self.calibration,
            options.coverage,
        );
        let outputs = Matrix {
            rows: 0,
            columns: self.card().shape.target.outputs(),
            values: Vec::new(),
        };
        let dense = self.calibration.typical.is_some() && options.density;
        Predictions {
            log_density: dense.then(Vec::new),
            percentile: dense.then(Vec::new),
            ..self.answers_of(&reading, outputs)
        }
    }

    /// Outputs of the model as predictions, without densities.
    fn answers_of(&self, reading: &Reading, mut outputs: Matrix) -> Predictions {
        let plain = |outputs| Predictions {
            classes: Vec::new(),
            outputs,
            offsets: Vec::new(),
            sets: None,
            half_widths: Vec::new(),
            log_density: None,
            percentile: None,
            votes: Vec::new(),
            value_votes: Vec::new(),
        };
        match reading {
            Reading::Values(half_widths) => Predictions {
                half_widths: half_widths.clone(),
                offsets: self.card().preprocess.label_offsets.clone(),
                ..plain(self.card().preprocess.invert_labels(outputs))
            },
            Reading::Classes {
                names,
                temperature,
                threshold,
            } => {
                at_temperature(&mut outputs.values, names.len(), *temperature);
                let rows = 0..outputs.rows;
                let sets = threshold
                    .map(|most| rows.map(|row| class_set(outputs.row(row), most)).collect());
                Predictions {
                    classes: names.clone(),
                    sets,
                    ..plain(outputs)
                }
            }
        }
    }
}
