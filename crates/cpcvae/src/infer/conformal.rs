//! Conformal sets and intervals, which contain the truth with a stated frequency.
//!
//! The scores of held-out rows measure how far the truth is from the prediction: 1 - p(true class),
//! or the absolute error of a continuous label. The set for a new row contains everything whose
//! score is at most a quantile of these scores (Vovk et al. 2005; for classes the smallest sets on
//! average, Sadinle et al. 2019).
//!
//! With scores of a single held-out part, the truth is in the set with at least the stated
//! frequency over exchangeable rows. If they are pooled from the folds of a cross-fit
//! (cross-conformal), that frequency is observed in practice, but not guaranteed. Scores have
//! weights, so that classes count as among rows without a label (as in Podkopaev and Ramdas 2021,
//! with one threshold in place of one for each class).

use serde::{Deserialize, Serialize};

/// The scores of held-out rows in increasing order, each with its weight; these are 1 on average.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Conformity(Vec<(f32, f32)>);

impl Conformity {
    /// 1 - p(true class) for `probabilities [rows, width]` with the given true classes, each with
    /// the weight of its class.
    ///
    /// # Panics
    /// When a class is not below `width`, as indexing a slice does.
    pub(crate) fn of_classes(
        probabilities: &[f32],
        width: usize,
        classes: &[u32],
        class_weights: &[f64],
    ) -> Self {
        let rows = probabilities.chunks_exact(width.max(1)).zip(classes);
        let score = |(row, class): (&[f32], &u32)| {
            let class = *class as usize;
            (1.0 - row[class], class_weights[class] as f32)
        };
        Self::sorted(rows.map(score).collect())
    }

    /// The absolute errors of continuous predictions.
    pub(crate) fn of_errors(errors: impl IntoIterator<Item = f32>) -> Self {
        Self::sorted(errors.into_iter().map(|error| (error.abs(), 1.0)).collect())
    }

    fn sorted(mut scores: Vec<(f32, f32)>) -> Self {
        scores.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        Self(scores)
    }

    /// How many rows were held out.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether none was.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The largest score in sets of this coverage: of n scores with equal weights the ceil((n + 1)
    /// coverage)-th smallest, otherwise the first at which the cumulated weight reaches (n + 1)
    /// coverage. `None` if n is too small, so that only the set of everything has the coverage.
    pub fn threshold(&self, coverage: f64) -> Option<f32> {
        // Slightly less than the product, which may be rounded up past a whole number.
        let needed = (self.0.len() + 1) as f64 * coverage - 1e-6;
        let mut so_far = 0.0;
        let mut scores = self.0.iter();
        let reached = scores.find(|(_, weight)| {
            so_far += f64::from(*weight);
            so_far >= needed
        });
        reached.map(|(score, _)| *score)
    }

    /// The highest coverage for which there is a threshold.
    pub(crate) fn largest_coverage(&self) -> f64 {
        let n = self.0.len() as f64;
        n / (n + 1.0)
    }
}

/// The classes of a row's conformal set, in order: those whose score is within the threshold.
/// Without a threshold all classes.
///
/// A set may be empty: if the accuracy is higher than the coverage, the least certain rows have
/// none. If the most probable class were always included, the coverage would be at least the
/// accuracy, whatever was requested.
pub(crate) fn class_set(probabilities: &[f32], threshold: Option<f32>) -> Vec<usize> {
    let is_near = |class: &usize| threshold.is_none_or(|most| 1.0 - probabilities[*class] <= most);
    (0..probabilities.len()).filter(is_near).collect()
}

#[cfg(test)]
mod tests {
    use super::super::draws::Draws;
    use super::*;

    #[test]
    fn the_quantile_counts_the_row_to_come() {
        let scores = Conformity::of_errors([0.3, -0.1, 0.2, 0.4]);
        assert_eq!(scores.threshold(0.5), Some(0.3), "the 3rd of 4: ceil(2.5)");
        assert_eq!(scores.threshold(0.8), Some(0.4), "the 4th: 5 x 0.8 exactly");
        assert_eq!(scores.threshold(0.81), None, "the 5th of 4");
        assert_eq!(scores.largest_coverage(), 0.8);
        assert_eq!(Conformity::default().threshold(0.1), None);
    }

    #[test]
    fn weights_count_rows() {
        // Scores 0.1 (class 0, which counts twice), 0.4 and 0.5 (class 1, which counts half).
        let stated = [0.9, 0.1, 0.4, 0.6, 0.5, 0.5];
        let scores = Conformity::of_classes(&stated, 2, &[0, 1, 1], &[2.0, 0.5]);
        let near = |threshold: Option<f32>, score: f32| {
            assert!((threshold.expect("within reach") - score).abs() < 1e-6);
        };
        near(scores.threshold(0.5), 0.1);
        near(scores.threshold(0.6), 0.4);
        near(scores.threshold(0.75), 0.5);
        assert_eq!(scores.threshold(0.8), None);
    }

    #[test]
    fn sets_hold_the_likely_classes() {
        let row = [0.6, 0.3, 0.1];
        assert_eq!(class_set(&row, Some(0.75)), [0, 1]);
        assert!(class_set(&row, Some(0.1)).is_empty(), "none is that likely");
        assert_eq!(class_set(&row, None), [0, 1, 2]);
    }

    /// Over many draws of held-out rows and a new one, the new one's class is in its set about as
    /// often as stated, although the probabilities are wrong.
    #[test]
    fn coverage_is_as_stated() {
        let mut draws = Draws::new(4);
        let mut row = || {
            let first = draws.uniform();
            let stated = [first as f32, 1.0 - first as f32];
            // The true probabilities differ from the predicted ones.
            let truth = 0.2 + 0.6 * first;
            (stated, draws.category(&[truth, 1.0 - truth]) as u32)
        };
        let (trials, coverage) = (4000, 0.8);
        let mut covered = 0;
        for _ in 0..trials {
            let held: Vec<_> = (0..19).map(|_| row()).collect();
            let stated: Vec<f32> = held.iter().flat_map(|(p, _)| *p).collect();
            let classes: Vec<u32> = held.iter().map(|(_, class)| *class).collect();
            let scores = Conformity::of_classes(&stated, 2, &classes, &[1.0; 2]);
            let (new, class) = row();
            let set = class_set(&new, scores.threshold(coverage));
            covered += usize::from(set.contains(&(class as usize)));
        }
        // 19 scores: exactly 16/20. Four standard deviations of a binomial.
        let share = covered as f64 / trials as f64;
        let deviation = (coverage * (1.0 - coverage) / trials as f64).sqrt();
        assert!((share - coverage).abs() < 4.0 * deviation, "{share}");
    }

    #[test]
    fn intervals_cover_as_stated() {
        let mut draws = Draws::new(5);
        let (trials, mut covered) = (4000, 0);
        for _ in 0..trials {
            let errors: Vec<f32> = (0..9).map(|_| draws.uniform() as f32 - 0.5).collect();
            let threshold = Conformity::of_errors(errors)
                .threshold(0.9)
                .expect("9 of 9");
            covered += usize::from((draws.uniform() as f32 - 0.5).abs() <= threshold);
        }
        let share = covered as f64 / trials as f64;
        assert!(
            (share - 0.9).abs() < 4.0 * (0.09 / trials as f64).sqrt(),
            "{share}"
        );
    }
}
