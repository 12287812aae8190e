//! Paired comparison of two methods on the same rows: their difference and its certainty.

use statrs::distribution::{Binomial, ContinuousCDF, DiscreteCDF, StudentsT};

/// The difference of two methods over the same rows, with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Paired {
    /// Mean of ours minus theirs.
    pub difference: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Rows on which ours is better.
    pub better: usize,
    /// Rows on which it is worse.
    pub worse: usize,
    /// Two-sided p-value of McNemar's exact test: the probability of so uneven numbers of better
    /// and worse rows if both methods were equally good.
    pub p_value: f64,
}

impl Paired {
    /// Compares shares of correct predictions, between 0 and 1, row by row. The interval is that of
    /// Agresti and Min (2005), which also holds for few rows; `None` without rows.
    pub(crate) fn of_shares(ours: &[f64], theirs: &[f64]) -> Option<Self> {
        let mut paired = Self::counted(ours, theirs)?;
        let gains = ours.iter().zip(theirs).map(|(a, b)| a - b);
        let won: f64 = gains.clone().map(|gain| gain.max(0.0)).sum();
        let lost: f64 = gains.map(|gain| (-gain).max(0.0)).sum();
        // Half a row is added to each cell of the two-by-two table.
        let (won, lost, rows) = (won + 0.5, lost + 0.5, ours.len() as f64 + 2.0);
        let centre = (won - lost) / rows;
        let half = Z * (won + lost - (won - lost).powi(2) / rows).sqrt() / rows;
        paired.low = (centre - half).max(-1.0);
        paired.high = (centre + half).min(1.0);
        Some(paired)
    }

    /// Compares any scores of which larger is better, by the t interval of their differences;
    /// `None` for fewer than two rows.
    pub(crate) fn of_scores(ours: &[f64], theirs: &[f64]) -> Option<Self> {
        let mut paired = Self::counted(ours, theirs)?;
        let rows = ours.len() as f64;
        let gains = ours.iter().zip(theirs).map(|(a, b)| a - b);
        let squares: f64 = gains.map(|gain| (gain - paired.difference).powi(2)).sum();
        if rows < 2.0 {
            return None;
        }
        let half = t_quantile(rows - 1.0) * (squares / (rows - 1.0) / rows).sqrt();
        paired.low = paired.difference - half;
        paired.high = paired.difference + half;
        Some(paired)
    }

    /// Difference, counts and p-value; the interval is left to the callers.
    fn counted(ours: &[f64], theirs: &[f64]) -> Option<Self> {
        if ours.is_empty() || ours.len() != theirs.len() {
            return None;
        }
        let gains = ours.iter().zip(theirs).map(|(a, b)| a - b);
        let better = gains.clone().filter(|gain| *gain > 0.0).count();
        let worse = gains.clone().filter(|gain| *gain < 0.0).count();
        Some(Self {
            difference: gains.sum::<f64>() / ours.len() as f64,
            low: f64::NEG_INFINITY,
            high: f64::INFINITY,
            better,
            worse,
            p_value: sign_test(better, worse),
        })
    }
}

/// Half the width of a standard normal's 95 % interval.
const Z: f64 = 1.959_963_984_540_054;

/// The same for Student's t distribution.
fn t_quantile(freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom).map_or(Z, |t| t.inverse_cdf(0.975))
}

/// Probability of a split of fair coins at least as uneven as this one.
fn sign_test(better: usize, worse: usize) -> f64 {
    let (few, all) = (better.min(worse) as u64, (better + worse) as u64);
    Binomial::new(0.5, all).map_or(1.0, |coins| (2.0 * coins.cdf(few)).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mcnemars_probability_is_the_binomials() {
        // 1 of 10: 2 (1 + 10) / 1024.
        assert!((sign_test(9, 1) - 22.0 / 1024.0).abs() < 1e-12);
        assert_eq!(sign_test(3, 3), 1.0);
        assert_eq!(sign_test(0, 0), 1.0);
        assert!(sign_test(500, 400) < 1e-3);
    }

    #[test]
    fn shares_are_compared_row_by_row() {
        let ours = [1.0; 20];
        let theirs: Vec<f64> = (0..20).map(|row| f64::from(u8::from(row >= 8))).collect();
        let paired = Paired::of_shares(&ours, &theirs).expect("rows");
        assert_eq!((paired.better, paired.worse), (8, 0));
        assert!((paired.difference - 0.4).abs() < 1e-12);
        // By hand: cells 8.5 and 0.5 of 22 give 0.364 -+ 1.96 sqrt(9 - 64/22) / 22.
        assert!((paired.low - 0.1437).abs() < 1e-3, "{paired:?}");
        assert!((paired.high - 0.5835).abs() < 1e-3, "{paired:?}");
        // No row differs: the difference is zero, with an interval.
        let same = Paired::of_shares(&ours, &ours).expect("rows");
        assert!(same.difference == 0.0 && same.low < 0.0 && same.high > 0.0);
        assert_eq!(Paired::of_shares(&[], &[]), None);
    }

    #[test]
    fn scores_have_students_interval() {
        // t with 3 degrees of freedom: 3.182; the mean is 1, the standard error 0.5.
        let gains = [0.0, 1.0 - 0.75f64.sqrt(), 1.0 + 0.75f64.sqrt(), 2.0];
        let spread = ((2.0 + 1.5) / 3.0 / 4.0f64).sqrt();
        let paired = Paired::of_scores(&gains, &[0.0; 4]).expect("rows");
        assert!((paired.difference - 1.0).abs() < 1e-12);
        let half = paired.high - 1.0;
        assert!((half / (3.1824 * spread) - 1.0).abs() < 1e-4, "{half}");
        assert_eq!(Paired::of_scores(&[1.0], &[0.0]), None);
    }
}
