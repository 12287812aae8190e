//! Predictions with conformal sets, densities and votes.

use super::{AsRows, Fitted};
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

/// Predictions, one a row.
///
/// ```
/// # use cpcvae::prelude::*;
/// # let rows: Vec<[f32; 2]> =
/// #     (0..60).map(|i| [(i % 2 * 9 + i % 5) as f32, (i % 7) as f32]).collect();
/// # let labels = (0..60).map(|i| (i < 20).then_some(["low", "high"][i % 2]));
/// # let data = Dataset::from_rows(&rows, Labels::classes(labels))?;
/// let fitted = Pc::new().steps(50).hold_out(false).fit(&data)?;
/// let answers = fitted.predict(&[[10.0, 3.0]])?;
/// assert_eq!(answers.classes, ["high", "low"]);
/// println!("{}", answers.line(0)); // the label, its probability, log p(x) and its percentile
/// assert_eq!(answers.outputs_array().dim(), (1, 2));
/// # Ok::<(), cpcvae::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Predictions {
    /// Names of the classes; empty where labels are continuous.
    pub classes: Vec<String>,
    /// Calibrated probabilities `[rows, classes]`, or continuous labels `[rows, labels]` in the
    /// user's units, less their offsets; see [`Predictions::value`].
    pub outputs: Matrix,
    /// Added to each continuous label, in 64 bits: labels that are large against their spread do
    /// not fit an `f32`. Empty where there are none.
    pub offsets: Vec<f64>,
    /// The classes of each row's conformal set; `None` if no labels were held out.
    pub sets: Option<Vec<Vec<usize>>>,
    /// Half the width of the conformal interval of each continuous label; infinite if too few
    /// labels were held out for the coverage, `None` if none was.
    pub half_widths: Vec<Option<f32>>,
    /// log p(x), if requested and the model has a generative part.
    pub log_density: Option<Vec<f32>>,
    /// Of 100 training rows, how many are at least as unusual as the row: by the distance to the
    /// nearest training rows if these are stored, otherwise by log p(x).
    pub percentile: Option<Vec<f32>>,
    /// For each of [`Fitted::voters`] the index of the class that it predicts for each row; empty
    /// if not requested, or if the network predicts alone.
    pub votes: Vec<Vec<usize>>,
    /// The same for continuous labels: each voter's prediction, like [`Predictions::outputs`].
    pub value_votes: Vec<Matrix>,
}

impl Predictions {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.outputs.rows
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The index of the most probable class of a row.
    pub fn class(&self, row: usize) -> usize {
        largest(self.outputs.row(row))
    }

    /// The name of the most probable class of a row; empty if labels are continuous.
    pub fn label(&self, row: usize) -> &str {
        self.classes.get(self.class(row)).map_or("", String::as_str)
    }

    /// A continuous label of a row, with its offset.
    pub fn value(&self, row: usize, label: usize) -> f64 {
        let offset = self.offsets.get(label).copied().unwrap_or(0.0);
        offset + f64::from(self.outputs.row(row)[label])
    }

    /// A number in the units of a continuous label, such as the end of an interval, as text: with
    /// 32 bits if the label has no offset.
    pub fn value_text(&self, label: usize, value: f32) -> String {
        match self.offsets.get(label).copied().unwrap_or(0.0) {
            0.0 => value.to_string(),
            offset => (offset + f64::from(value)).to_string(),
        }
    }

    /// A row's prediction as a line of text.
    pub fn line(&self, row: usize) -> String {
        let outputs = self.outputs.row(row);
        let mut line = match self.classes.is_empty() {
            true => {
                let values = outputs.iter().enumerate();
                let values = values.map(|(label, value)| self.value_text(label, *value));
                values.collect::<Vec<_>>().join(", ")
            }
            false => format!("{} ({:.3})", self.label(row), outputs[self.class(row)]),
        };
        if let Some(sets) = &self.sets {
            let names = sets[row].iter().map(|class| &self.classes[*class][..]);
            line += &format!(", set {{{}}}", names.collect::<Vec<_>>().join(", "));
        }
        if let (Some(log_p), Some(percentile)) = (&self.log_density, &self.percentile) {
            let (log_p, percentile) = (log_p[row], percentile[row]);
            line += &format!(", log p(x) {log_p:.2}, percentile {percentile:.0}");
        }
        line
    }

    /// Outputs as a view of `ndarray`, `[rows, outputs]`.
    pub fn outputs_array(&self) -> ndarray::ArrayView2<'_, f32> {
        super::input::as_array(&self.outputs)
    }

    fn extend(&mut self, other: Self) {
        self.outputs.rows += other.outputs.rows;
        self.outputs.values.extend(other.outputs.values);
        let join = |all: &mut Option<Vec<f32>>, more: Option<Vec<f32>>| {
            if let (Some(all), Some(more)) = (all, more) {
                all.extend(more);
            }
        };
        join(&mut self.log_density, other.log_density);
        join(&mut self.percentile, other.percentile);
        if self.votes.is_empty() {
            self.votes = other.votes;
        } else {
            let pairs = self.votes.iter_mut().zip(other.votes);
            pairs.for_each(|(all, more)| all.extend(more));
        }
        if self.value_votes.is_empty() {
            self.value_votes = other.value_votes;
        } else {
            for (all, more) in self.value_votes.iter_mut().zip(other.value_votes) {
                all.rows += more.rows;
                all.values.extend(more.values);
            }
        }
        if let (Some(sets), Some(more)) = (&mut self.sets, other.sets) {
            sets.extend(more);
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
