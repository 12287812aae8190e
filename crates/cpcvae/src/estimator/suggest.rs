//! Suggests rows to label next (active learning).

use super::Fitted;
use crate::calibration::{DENSITY_DRAWS, log_densities};
use crate::error::{Error, Result};
use crate::infer::calibrate::at_temperature;
use crate::infer::{Typical, entropy, largest, suggest};
use crate::model::Target;
use cpcvae_data::Dataset;

/// A suggested row.
///
/// ```
/// # use cpcvae::prelude::*;
/// # let rows: Vec<[f32; 2]> =
/// #     (0..60).map(|i| [(i % 2 * 9 + i % 5) as f32, (i % 7) as f32]).collect();
/// # let labels = (0..60).map(|i| (i < 20).then_some(["low", "high"][i % 2]));
/// # let data = Dataset::from_rows(&rows, Labels::classes(labels))?;
/// let fitted = Pc::new().steps(50).hold_out(false).fit(&data)?;
/// let next = fitted.suggest(&data, 3)?;
/// assert!(next.iter().all(|row| row.row >= 20)); // the first 20 have a label
/// # Ok::<(), cpcvae::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Suggestion {
    /// Its number.
    pub row: usize,
    /// The most probable class.
    pub label: String,
    /// Entropy of the calibrated probabilities, in nats.
    pub entropy: f64,
    /// Of 100 training rows, how many are at least as unusual as this one.
    pub percentile: f32,
}

impl Fitted {
    /// Rows to label next, the best first: uncertain, typical, and different from each other. Rows
    /// that already have a label are left out.
    pub fn suggest(&self, rows: &Dataset, count: usize) -> Result<Vec<Suggestion>> {
        let Target::Classes(names) = &self.card().shape.target else {
            return Err(Error::Mismatch(
                "rows are suggested by how sure their class is, and this model predicts no classes"
                    .into(),
            ));
        };
        let is_open = |row: &u32| !rows.labels.is_known(*row);
        let candidates: Vec<u32> = (0..rows.len() as u32).filter(is_open).collect();
        if candidates.is_empty() {
            return Err(Error::Mismatch(format!(
                "all {} rows of `{}` have labels already",
                rows.len(),
                rows.name
            )));
        }
        let open = rows.select(&candidates);
        let preprocess = &self.card().preprocess;
        let prepared = preprocess.apply(open.clone())?;
        let inference = &self.trained.inference;
        let codes = inference.encode(&prepared.features)?.mean;
        let mut probabilities = self.ensemble_outputs(&prepared)?;
        let temperature = self.calibration.temperature;
        at_temperature(&mut probabilities.values, names.len(), temperature);
        let percentiles = match &self.nearest {
            Some(nearest) => nearest.percentiles(&prepared.features.matrix()),
            None => {
                let log_p = log_densities(&self.trained, open)?;
                // For a run without densities of training rows, those of the given rows are used.
                let typical = self.calibration.typical.clone();
                let typical = typical.or_else(|| Typical::new(&log_p, DENSITY_DRAWS));
                let (rows, places) = (prepared.features.matrix(), preprocess.places());
                typical.map_or(vec![0.0; log_p.len()], |typical| {
                    typical.percentiles(&log_p, &rows, &places)
                })
            }
        };
        let percentile = |row: usize| percentiles[row];
        let unsure = |row: usize| entropy(probabilities.row(row));
        let worth: Vec<f64> = (0..prepared.len())
            .map(|row| unsure(row) * f64::from(percentile(row)) / 100.0)
            .collect();
        let chosen = suggest(&worth, &codes, count).into_iter();
        let suggestion = |row: usize| Suggestion {
            row: candidates[row] as usize,
            label: names[largest(probabilities.row(row))].clone(),
            entropy: unsure(row),
            percentile: percentile(row),
        };
        Ok(chosen.map(suggestion).collect())
    }
}
