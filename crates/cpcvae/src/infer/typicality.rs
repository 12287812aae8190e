//! How unusual a row is: the percentile of its log p(x) among training rows.

use super::missing_cells::{self, Level, ScoreRows};
use crate::error::Result;
use cpcvae_data::Matrix;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Number of quantiles: enough for a tenth of a percent.
const KEPT: usize = 1001;

/// The distribution of log p(x) over training rows, as evenly spaced quantiles in increasing order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Typical {
    /// Draws of the code for each log p(x). An estimate grows with the number of draws, so rows are
    /// compared only at the same number.
    pub draws: usize,
    quantiles: Vec<f32>,
    /// The same of rows with missing cells, by their number. Empty if no cell can be missing, and
    /// in runs of earlier versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    gaps: Vec<Level>,
}

/// At most `most` evenly spaced quantiles of the finite values.
pub(super) fn quantiles(mut values: Vec<f32>, most: usize) -> Vec<f32> {
    values.retain(|value| value.is_finite());
    values.sort_by(f32::total_cmp);
    let last = values.len().saturating_sub(1);
    match values.len() <= most {
        true => values,
        false => (0..most).map(|i| values[i * last / (most - 1)]).collect(),
    }
}

/// Of 100 values with these quantiles, how many are at most this one.
pub(super) fn rank(quantiles: &[f32], value: f32) -> f32 {
    let rank = match value.is_nan() {
        true => 0,
        false => quantiles.partition_point(|limit| *limit <= value),
    };
    100.0 * rank as f32 / quantiles.len() as f32
}

impl Typical {
    /// From the log p(x) of training rows; values that are not finite are left out. `None` if there
    /// are no others.
    pub fn new(log_likelihoods: &[f32], draws: usize) -> Option<Self> {
        let quantiles = quantiles(log_likelihoods.to_vec(), KEPT);
        (!quantiles.is_empty()).then_some(Self {
            draws,
            quantiles,
            gaps: Vec::new(),
        })
    }

    /// From training rows `[rows, places]` and their scores, also with some of their cells hidden:
    /// `columns` are the positions of each column's values.
    pub(crate) fn of_rows(
        rows: &Matrix,
        columns: &[Range<usize>],
        draws: usize,
        score: &dyn ScoreRows,
    ) -> Result<Option<Self>> {
        let numbers: Vec<u32> = (0..rows.rows as u32).collect();
        let scores = score.score(rows, &numbers)?;
        let is_whole = |row: &usize| {
            missing_cells::missing(rows.row(*row), columns)
                .next()
                .is_none()
        };
        let whole: Vec<f32> = (0..rows.rows)
            .filter(is_whole)
            .map(|row| scores[row])
            .collect();
        let compared = match whole.len() >= missing_cells::FEWEST_ROWS {
            true => &whole,
            false => &scores,
        };
        let Some(usual) = Self::new(compared, draws) else {
            return Ok(None);
        };
        let gaps = missing_cells::learn(rows, &scores, columns, score)?;
        Ok(Some(Self { gaps, ..usual }))
    }

    /// Whether the values are plausible, so that a damaged file is not used.
    pub(crate) fn is_sound(&self) -> bool {
        let sorted = !self.quantiles.is_empty() && self.quantiles.is_sorted();
        self.draws > 0 && sorted && missing_cells::are_sound(&self.gaps)
    }

    /// The percentile of a row: of 100 training rows, how many are at least as unusual as this one.
    /// Near 0 for a row unlike any of them. A log p(x) of NaN has percentile 0.
    pub fn percentile(&self, log_likelihood: f32) -> f32 {
        rank(&self.quantiles, log_likelihood)
    }

    /// [`Typical::percentile`] of prepared rows `[rows, places]`, each among training rows with as
    /// many cells hidden. A row without any known cell has 0.
    pub(crate) fn percentiles(
        &self,
        scores: &[f32],
        rows: &Matrix,
        columns: &[Range<usize>],
    ) -> Vec<f32> {
        let of_row = |(row, score): (usize, &f32)| {
            let row = rows.row(row);
            match missing_cells::missing(row, columns).count() {
                0 => self.percentile(*score),
                all if all == columns.len() => 0.0,
                count => missing_cells::percentile(&self.gaps, count, *score, row, columns)
                    .unwrap_or_else(|| self.percentile(*score)),
            }
        };
        scores.iter().enumerate().map(of_row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_shares_of_training_rows() {
        let typical = Typical::new(&[-1.0, -4.0, -2.0, -3.0, f32::NAN], 5).expect("rows");
        assert_eq!(typical.percentile(-9.0), 0.0);
        assert_eq!(typical.percentile(-3.0), 50.0);
        assert_eq!(typical.percentile(-2.5), 50.0);
        assert_eq!(typical.percentile(0.0), 100.0);
        assert_eq!(typical.percentile(f32::NEG_INFINITY), 0.0);
        assert_eq!(typical.percentile(f32::NAN), 0.0);
        assert_eq!(Typical::new(&[f32::NAN], 5), None);
    }

    #[test]
    fn many_rows_are_summed_up_to_a_tenth_of_a_percent() {
        let values: Vec<f32> = (0..50_000).map(|i| i as f32).collect();
        let typical = Typical::new(&values, 1).expect("rows");
        assert_eq!(typical.quantiles.len(), KEPT);
        for share in [0.1, 12.5, 99.0] {
            let found = typical.percentile(500.0 * share);
            assert!((found - share).abs() <= 0.1, "{found} for {share}");
        }
    }
}
