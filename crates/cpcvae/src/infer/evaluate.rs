//! Evaluation on rows whose labels are known.

use super::Inference;
use super::calibrate::at_temperature;
use super::per_class::{ClassFigures, of_each_class};
use crate::model::Target;
use crate::probabilities::largest;
use cpcvae_data::{Dataset, Labels, Matrix};
use serde::{Deserialize, Serialize};

/// Figures over all rows of a data set that have labels.
///
/// ```
/// # use cpcvae::prelude::*;
/// # let rows: Vec<[f32; 2]> =
/// #     (0..60).map(|i| [(i % 2 * 9 + i % 5) as f32, (i % 7) as f32]).collect();
/// # let labels = (0..60).map(|i| (i < 20).then_some(["low", "high"][i % 2]));
/// # let data = Dataset::from_rows(&rows, Labels::classes(labels))?;
/// let fitted = Pc::new().steps(50).hold_out(false).fit(&data)?;
/// let figures = fitted.evaluate(&data)?;
/// assert_eq!((figures.rows, figures.labelled), (60, 20));
/// assert!(figures.accuracy.is_some());
/// # Ok::<(), cpcvae::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// Rows in all.
    pub rows: usize,
    /// Rows with a label.
    pub labelled: usize,
    /// Share of labelled rows whose most probable class is correct.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<f64>,
    /// Mean of -log P(true class), in nats.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_loss: Option<f64>,
    /// `confusion[true][predicted]`, rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub confusion: Vec<Vec<u64>>,
    /// Root of the mean squared error of continuous labels, over rows and dimensions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rmse: Option<f64>,
    /// Share of the continuous labels' variance that is explained.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r_squared: Option<f64>,
    /// Figures of each class, if requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub per_class: Vec<ClassFigures>,
    /// Mean evidence lower bound of all rows, in nats, one draw a row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elbo: Option<f64>,
}

impl Inference {
    /// Predictions at the code's mean against the labels, and the evidence.
    pub fn evaluate(&self, data: &Dataset) -> Evaluation {
        self.with_evidence(self.evaluate_predictions(data), data)
    }

    /// Adds the evidence on the same rows to an evaluation without it, which takes several times as
    /// long as predictions.
    pub(crate) fn with_evidence(&self, mut evaluation: Evaluation, data: &Dataset) -> Evaluation {
        // A classifier has no evidence.
        if let (None, false, Some(model)) =
            (evaluation.elbo, data.is_empty(), self.generative_model())
        {
            let elbo = self.score_by(model, &data.features, 1).elbo;
            evaluation.elbo = Some(mean(elbo.into_iter().map(f64::from)));
        }
        evaluation
    }

    /// Predictions only.
    pub(crate) fn evaluate_predictions(&self, data: &Dataset) -> Evaluation {
        self.evaluate_outputs(&self.outputs_for(data), data)
    }

    /// Predictions only, with class probabilities at a temperature, and figures of each class.
    pub(crate) fn evaluate_at(&self, data: &Dataset, temperature: f64) -> Evaluation {
        self.evaluate_each_class(self.outputs_for(data), data, temperature)
    }

    /// The same for outputs `[rows, outputs]` that need not be the model's own.
    pub(crate) fn evaluate_each_class(
        &self,
        mut outputs: Matrix,
        data: &Dataset,
        temperature: f64,
    ) -> Evaluation {
        if let Target::Classes(names) = &self.shape.target {
            at_temperature(&mut outputs.values, names.len(), temperature);
        }
        let mut evaluation = self.evaluate_outputs(&outputs, data);
        if let Labels::Classes { of_row, .. } = &data.labels {
            evaluation.per_class = of_each_class(&outputs, of_row, &evaluation.confusion);
        }
        evaluation
    }

    /// Outputs `[rows, outputs]` against the labels.
    fn evaluate_outputs(&self, outputs: &Matrix, data: &Dataset) -> Evaluation {
        let mut evaluation = match (&data.labels, &self.shape.target) {
            (Labels::Classes { of_row, .. }, Target::Classes(names)) => {
                of_classes(outputs, of_row, names.len())
            }
            (Labels::Values { of_row, .. }, Target::Values(_)) => of_values(outputs, of_row),
            _ => Evaluation::empty(),
        };
        evaluation.rows = data.len();
        evaluation
    }

    /// The model's outputs; empty if the rows have no labels of its kind.
    fn outputs_for(&self, data: &Dataset) -> Matrix {
        match (&data.labels, &self.shape.target) {
            (Labels::Classes { .. }, Target::Classes(_))
            | (Labels::Values { .. }, Target::Values(_)) => self.outputs(&data.features, 0),
            _ => Matrix::default(),
        }
    }
}

impl Evaluation {
    fn empty() -> Self {
        Self {
            rows: 0,
            labelled: 0,
            accuracy: None,
            log_loss: None,
            confusion: Vec::new(),
            rmse: None,
            r_squared: None,
            per_class: Vec::new(),
            elbo: None,
        }
    }

    /// The figure of merit for comparing models: accuracy, or explained variance.
    pub fn quality(&self) -> Option<f64> {
        self.accuracy.or(self.r_squared)
    }
}

fn of_classes(probs: &Matrix, labels: &[Option<u32>], classes: usize) -> Evaluation {
    let mut confusion = vec![vec![0; classes]; classes];
    let mut log_loss = 0.0;
    let mut labelled = 0;
    for (row, label) in labels.iter().enumerate() {
        let Some(label) = label.filter(|label| (*label as usize) < classes) else {
            continue;
        };
        let probs = probs.row(row);
        confusion[label as usize][largest(probs)] += 1;
        log_loss -= f64::from(probs[label as usize].max(f32::MIN_POSITIVE)).ln();
        labelled += 1;
    }
    let right: u64 = (0..classes).map(|class| confusion[class][class]).sum();
    let share = |total: f64| (labelled > 0).then(|| total / labelled as f64);
    Evaluation {
        labelled,
        accuracy: share(right as f64),
        log_loss: share(log_loss),
        confusion,
        ..Evaluation::empty()
    }
}

fn of_values(predicted: &Matrix, labels: &[Option<Vec<f32>>]) -> Evaluation {
    let known = || {
        labels
            .iter()
            .enumerate()
            .filter_map(|(row, label)| Some((row, label.as_ref()?)))
    };
    let labelled = known().count();
    if labelled == 0 {
        return Evaluation::empty();
    }
    let (mut error, mut spread) = (0.0, 0.0);
    for dimension in 0..predicted.columns {
        let centre = mean(known().map(|(_, label)| f64::from(label[dimension])));
        for (row, label) in known() {
            let value = f64::from(label[dimension]);
            error += (f64::from(predicted.row(row)[dimension]) - value).powi(2);
            spread += (value - centre).powi(2);
        }
    }
    Evaluation {
        labelled,
        rmse: Some((error / (labelled * predicted.columns) as f64).sqrt()),
        r_squared: (spread > 0.0).then(|| 1.0 - error / spread),
        ..Evaluation::empty()
    }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
    sum / f64::from(count.max(1))
}
