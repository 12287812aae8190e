//! Confusion matrix and reliability diagram of held-out predictions.

use crate::crossfit::HeldOut;
use crate::infer::calibrate::at_temperature;
use crate::infer::largest;
use cpcvae_data::{Dataset, Labels};
use serde::{Deserialize, Serialize};

/// Bins of confidence between 0 and 1.
const BINS: usize = 10;
/// The most continuous labels that are stored with their predictions.
const MOST_VALUES: usize = 1000;

/// Counts of held-out predictions; a row counts once a repeat.
///
/// ```
/// use cpcvae::prelude::*;
/// # let rows: Vec<[f32; 2]> =
/// #     (0..60).map(|i| [(i % 2 * 9 + i % 5) as f32, (i % 7) as f32]).collect();
/// # let labels = (0..60).map(|i| (i < 20).then_some(["low", "high"][i % 2]));
/// # let data = Dataset::from_rows(&rows, Labels::classes(labels))?;
/// let fitted = Pc::new().steps(50).folds(2).fit(&data)?;
/// let details = fitted.held_out_details().expect("labels were held out");
/// assert_eq!(details.confusion.iter().flatten().sum::<u64>(), 20);
/// # Ok::<(), cpcvae::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HeldOutDetails {
    /// `confusion[true][predicted]`, rows.
    pub confusion: Vec<Vec<u64>>,
    /// Rows by the calibrated probability of their most probable class; empty bins are left out.
    pub reliability: Vec<ReliabilityBin>,
    /// The true value and the prediction of the first continuous label, for at most a thousand
    /// rows; empty for classes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<[f64; 2]>,
}

/// Rows with similar confidence.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReliabilityBin {
    /// Number of rows.
    pub rows: usize,
    /// Mean probability of the most probable class.
    pub confidence: f64,
    /// Share of correct predictions.
    pub accuracy: f64,
}

impl HeldOutDetails {
    /// Counts held-out predictions for rows of `data` at the temperature; `None` if there are no
    /// labels.
    pub(super) fn new(data: &Dataset, held_out: &HeldOut, temperature: f64) -> Option<Self> {
        let classes = data.class_names().len();
        if let Labels::Values { .. } = &data.labels {
            return Some(Self::of_values(data, held_out));
        }
        if classes == 0 {
            return None;
        }
        let mut outputs = held_out.outputs.clone();
        at_temperature(&mut outputs.values, classes, temperature);
        let mut confusion = vec![vec![0; classes]; classes];
        let mut bins = [(0usize, 0.0, 0.0); BINS];
        for (place, row) in held_out.rows.iter().enumerate() {
            let Some(class) = data.labels.class_of(*row) else {
                continue;
            };
            let probabilities = outputs.row(place);
            let predicted = largest(probabilities);
            let confidence = f64::from(probabilities[predicted]);
            confusion[class as usize][predicted] += 1;
            let bin = &mut bins[((confidence * BINS as f64) as usize).min(BINS - 1)];
            bin.0 += 1;
            bin.1 += confidence;
            bin.2 += f64::from(u8::from(predicted == class as usize));
        }
        let bins = bins.into_iter().filter(|(rows, ..)| *rows > 0);
        let reliability = bins.map(|(rows, confidence, right)| ReliabilityBin {
            rows,
            confidence: confidence / rows as f64,
            accuracy: right / rows as f64,
        });
        Some(Self {
            confusion,
            reliability: reliability.collect(),
            values: Vec::new(),
        })
    }

    fn of_values(data: &Dataset, held_out: &HeldOut) -> Self {
        let offset = data.labels.offsets().first().copied().unwrap_or(0.0);
        let pair = |(place, row): (usize, &u32)| {
            let truth = *data.labels.values_of(*row)?.first()?;
            let answer = *held_out.outputs.row(place).first()?;
            Some([truth, answer].map(|value| offset + f64::from(value)))
        };
        let pairs = held_out.rows.iter().enumerate().filter_map(pair);
        Self {
            values: pairs.take(MOST_VALUES).collect(),
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpcvae_data::Matrix;

    #[test]
    fn answers_are_counted_by_class_and_confidence() {
        let labels = Labels::classes([Some("a"), Some("b"), Some("b"), None]);
        let data = Dataset::from_rows(&[[0.0], [1.0], [2.0], [3.0]], labels).expect("fits");
        let held_out = HeldOut {
            rows: vec![0, 1, 2],
            outputs: Matrix::new(3, 2, vec![0.95, 0.05, 0.97, 0.03, 0.4, 0.6]).expect("fits"),
        };
        let details = HeldOutDetails::new(&data, &held_out, 1.0).expect("classes");
        assert_eq!(details.confusion, [[1, 0], [1, 1]]);
        let sure = details.reliability.last().expect("a bin");
        assert_eq!((sure.rows, sure.accuracy), (2, 0.5));
        assert!((sure.confidence - 0.96).abs() < 1e-6);
        assert_eq!(details.reliability.len(), 2);
    }
}
