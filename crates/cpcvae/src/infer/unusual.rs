//! How unusual a row is: where its log p(x) stands among those of training rows.

use serde::{Deserialize, Serialize};

/// Quantiles kept: enough for a tenth of a percent.
const KEPT: usize = 1001;

/// The spread of log p(x) over training rows, as evenly spaced quantiles in increasing order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Typical {
    /// Draws of the code that each log p(x) was estimated with. An estimate grows with the
    /// number of draws, so rows are compared only at the same number.
    pub draws: usize,
    quantiles: Vec<f32>,
}

impl Typical {
    /// From the log p(x) of training rows; values that are not finite are left out. Nothing
    /// where none is left.
    pub fn new(log_likelihoods: &[f32], draws: usize) -> Option<Self> {
        let mut sorted: Vec<f32> = log_likelihoods.to_vec();
        sorted.retain(|value| value.is_finite());
        sorted.sort_by(f32::total_cmp);
        let last = sorted.len().checked_sub(1)?;
        let quantiles = match sorted.len() <= KEPT {
            true => sorted,
            false => (0..KEPT).map(|i| sorted[i * last / (KEPT - 1)]).collect(),
        };
        Some(Self { draws, quantiles })
    }

    /// Whether it can have been measured.
    pub(crate) fn is_sound(&self) -> bool {
        self.draws > 0 && !self.quantiles.is_empty() && self.quantiles.is_sorted()
    }

    /// The percentile of a row: of 100 training rows, how many are as unusual as this one or
    /// more so. Near 0 for a row unlike any of them. A log p(x) that is not a number is as
    /// unusual as can be.
    pub fn percentile(&self, log_likelihood: f32) -> f32 {
        let below = |limit: &f32| *limit <= log_likelihood;
        let rank = match log_likelihood.is_nan() {
            true => 0,
            false => self.quantiles.partition_point(below),
        };
        100.0 * rank as f32 / self.quantiles.len() as f32
    }

    /// [`Typical::percentile`] of every row.
    pub fn percentiles(&self, log_likelihoods: &[f32]) -> Vec<f32> {
        let rows = log_likelihoods.iter();
        rows.map(|value| self.percentile(*value)).collect()
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
