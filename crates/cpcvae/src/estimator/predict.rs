//! A full answer for every row.

use super::{AsRows, Fitted};
use crate::calibration::Calibration;
use crate::error::{Error, Result};
use crate::infer::calibrate::at_temperature;
use crate::infer::conformal::{Conformity, class_set};
use crate::infer::largest;
use crate::model::Target;
use cpcvae_data::{Dataset, Matrix};

/// What answers are to hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredictOptions {
    /// How often sets and intervals are to hold the truth.
    pub coverage: f64,
    /// Draws of the code that predictions are averaged over; 0 for its mean.
    pub samples: usize,
    /// Whether log p(x) and its percentile among training rows are wanted.
    pub density: bool,
}

impl Default for PredictOptions {
    fn default() -> Self {
        Self {
            coverage: 0.9,
            samples: 0,
            density: true,
        }
    }
}

/// Answers, one a row.
#[derive(Clone, Debug, PartialEq)]
pub struct Predictions {
    /// Names of the classes; empty where labels are continuous.
    pub classes: Vec<String>,
    /// Calibrated probabilities `[rows, classes]`, or continuous labels `[rows, labels]` in the
    /// user's units, less their offsets; see [`Predictions::value`].
    pub outputs: Matrix,
    /// What is to be added to each continuous label, in 64 bits: labels that are large against
    /// their spread are more than an `f32` can say. Empty where nothing is.
    pub offsets: Vec<f64>,
    /// The classes of each row's conformal set; nothing where no labels were held out.
    pub sets: Option<Vec<Vec<usize>>>,
    /// Half the width of the conformal interval of each continuous label; infinite where too few
    /// labels were held out for the coverage, nothing where none was.
    pub half_widths: Vec<Option<f32>>,
    /// log p(x), where it was wanted and the model has a generative part.
    pub log_density: Option<Vec<f32>>,
    /// Of 100 training rows, how many are as unusual as the row or more so.
    pub percentile: Option<Vec<f32>>,
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

    /// The most probable class of a row, by its place.
    pub fn class(&self, row: usize) -> usize {
        largest(self.outputs.row(row))
    }

    /// The most probable class of a row, by its name; empty where labels are continuous.
    pub fn label(&self, row: usize) -> &str {
        self.classes.get(self.class(row)).map_or("", String::as_str)
    }

    /// A continuous label of a row, with its offset.
    pub fn value(&self, row: usize, label: usize) -> f64 {
        let offset = self.offsets.get(label).copied().unwrap_or(0.0);
        offset + f64::from(self.outputs.row(row)[label])
    }

    /// A number near a continuous label, such as the end of an interval, as text: in 32 bits where
    /// the label has no offset.
    pub fn value_text(&self, label: usize, value: f32) -> String {
        match self.offsets.get(label).copied().unwrap_or(0.0) {
            0.0 => value.to_string(),
            offset => (offset + f64::from(value)).to_string(),
        }
    }

    /// A row's answer as a line of text.
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
        if let (Some(sets), Some(more)) = (&mut self.sets, other.sets) {
            sets.extend(more);
        }
    }
}

/// How outputs become answers.
#[derive(Clone, Debug)]
enum Reading {
    Classes {
        names: Vec<String>,
        temperature: f64,
        /// Nothing where no labels were held out; within it, nothing where every class is in the set.
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

    /// The same part by part, for rows and answers that do not fit in memory.
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
        let reading = Reading::new(&self.card().shape.target, &self.calibration, coverage);
        Ok(self.parts(prepared.features).map(move |part| {
            let outputs = part.inference.predict(&part.features, options.samples)?;
            let mut answers = self.answers_of(&reading, outputs);
            if let Some(typical) = self
                .calibration
                .typical
                .as_ref()
                .filter(|_| options.density)
            {
                let log_density = self
                    .trained
                    .log_densities(&part.inference, &part.features)?;
                let percentile = log_density.iter().map(|log_p| typical.percentile(*log_p));
                answers.percentile = Some(percentile.collect());
                answers.log_density = Some(log_density);
            }
            Ok(answers)
        }))
    }

    /// The most coverage that the held-out labels can vouch for, where it is less than asked for.
    pub fn coverage_limit(&self, coverage: f64) -> Option<(usize, f64)> {
        let classes = std::iter::once(&self.calibration.class_scores);
        let mut scores = classes.chain(&self.calibration.label_scores);
        scores
            .find(|scores| !scores.is_empty() && scores.threshold(coverage).is_none())
            .map(|scores| (scores.len(), scores.largest_coverage()))
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

    /// Outputs of the model as answers, without densities.
    fn answers_of(&self, reading: &Reading, mut outputs: Matrix) -> Predictions {
        let plain = |outputs| Predictions {
            classes: Vec::new(),
            outputs,
            offsets: Vec::new(),
            sets: None,
            half_widths: Vec::new(),
            log_density: None,
            percentile: None,
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
