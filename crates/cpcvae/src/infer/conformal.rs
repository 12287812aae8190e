//! Conformal sets and intervals: answers that hold the truth with a stated frequency.
//!
//! Held-out rows say how far the truth tends to be from the prediction: 1 - p(true class), or the
//! size of the error of a continuous label. A new row's answer takes in everything that is no
//! further away than the right quantile of these scores (Vovk et al. 2005; for classes the
//! smallest sets on average, Sadinle et al. 2019).
//!
//! Scores come from the folds of a cross-fit, and a row is asked about by the model of each fold: a
//! score that this model gave to a row it had not seen is compared with the one it gives to the new
//! row (cross-conformal prediction, Vovk 2015; for continuous labels CV+, Barber et al. 2021). A
//! model with all labels would be closer to the truth than those that held some out, and sets of
//! its own scores larger than asked for. Scores have weights, so that classes count as they do among
//! rows without a label (as Podkopaev and Ramdas 2021, with one quantile where theirs has one for
//! each class).

use serde::{Deserialize, Serialize};

/// The scores that one model gave to rows it had not seen, in increasing order, each with the
/// weights of all scores up to it. Weights are 1 on average over all folds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Conformity(Vec<(f32, f64)>);

impl Conformity {
    /// 1 - p(true class) of `probabilities [rows, width]` whose true classes are given, each with
    /// the weight of its class.
    ///
    /// # Panics
    /// When a class is not below `width`, as indexing a slice does.
    pub fn of_classes(
        probabilities: &[f32],
        width: usize,
        classes: &[u32],
        class_weights: &[f64],
    ) -> Self {
        let rows = probabilities.chunks_exact(width.max(1)).zip(classes);
        let score = |(row, class): (&[f32], &u32)| {
            let class = *class as usize;
            (1.0 - row[class], class_weights[class])
        };
        Self::sorted(rows.map(score).collect())
    }

    /// The sizes of the errors of continuous predictions.
    pub fn of_errors(errors: impl IntoIterator<Item = f32>) -> Self {
        Self::sorted(errors.into_iter().map(|error| (error.abs(), 1.0)).collect())
    }

    fn sorted(mut scores: Vec<(f32, f64)>) -> Self {
        scores.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let mut so_far = 0.0;
        for (_, weight) in &mut scores {
            so_far += *weight;
            *weight = so_far;
        }
        Self(scores)
    }

    /// The weights of all scores that are smaller than this one.
    fn below(&self, score: f32) -> f64 {
        match self.0.partition_point(|(other, _)| *other < score) {
            0 => 0.0,
            smaller => self.0[smaller - 1].1,
        }
    }
}

/// The scores of all folds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FoldScores(Vec<Conformity>);

impl FoldScores {
    /// Of these folds.
    pub fn new(folds: Vec<Conformity>) -> Self {
        Self(folds)
    }

    /// How many folds there are.
    pub fn folds(&self) -> usize {
        self.0.len()
    }

    /// How many rows were held out.
    pub fn len(&self) -> usize {
        self.0.iter().map(|fold| fold.0.len()).sum()
    }

    /// Whether none was.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The highest coverage that so many rows can vouch for; with a higher one every answer is
    /// taken in.
    pub fn largest_coverage(&self) -> f64 {
        let n = self.len() as f64;
        n / (n + 1.0)
    }

    /// The weight that scores below an answer's may add up to before it is left out. The row to
    /// come counts as one more.
    fn enough(&self, coverage: f64) -> f64 {
        // A little less than the product, which may round up past a whole number.
        (self.len() + 1) as f64 * coverage - 1e-6
    }

    /// The classes of a row's conformal set, in order, from its probabilities by the model of each
    /// fold. A class is left out where the held-out rows that were nearer to the truth, each by its
    /// own fold's model, make up the coverage.
    ///
    /// A set may be empty: where models are right more often than the coverage asks, rows that
    /// they are least sure of have none. With the most probable class always in it, a set would
    /// cover as often as the models are right, whatever was asked for.
    pub fn class_set(&self, probabilities: &[&[f32]], coverage: f64) -> Vec<usize> {
        let below = |class: usize| -> f64 {
            let folds = self.0.iter().zip(probabilities);
            folds.map(|(fold, row)| fold.below(1.0 - row[class])).sum()
        };
        let classes = probabilities.first().map_or(0, |row| row.len());
        let enough = self.enough(coverage);
        (0..classes)
            .filter(|class| below(*class) < enough)
            .collect()
    }

    /// The ends of a row's conformal interval, from what the model of each fold predicts for it.
    /// They reach as far as the held-out errors around their own fold's prediction do, but for
    /// those that the coverage leaves out on either side.
    pub fn interval(&self, predictions: &[f32], coverage: f64) -> (f32, f32) {
        let rank = self.enough(coverage).ceil() as usize;
        if rank > self.len() {
            return (f32::NEG_INFINITY, f32::INFINITY);
        }
        let place = rank.saturating_sub(1);
        let mut ends: Vec<f32> = Vec::with_capacity(self.len());
        let mut end = |side: f32| {
            ends.clear();
            for (fold, prediction) in self.0.iter().zip(predictions) {
                ends.extend(fold.0.iter().map(|(error, _)| side * prediction + error));
            }
            side * *ends.select_nth_unstable_by(place, f32::total_cmp).1
        };
        (end(-1.0), end(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::super::draws::Draws;
    use super::*;

    /// Scores of one fold only.
    fn one(fold: Conformity) -> FoldScores {
        FoldScores::new(vec![fold])
    }

    #[test]
    fn the_quantile_counts_the_row_to_come() {
        let scores = one(Conformity::of_errors([0.3, -0.1, 0.2, 0.4]));
        let around = |reach: f32| (2.0 - reach, 2.0 + reach);
        assert_eq!(
            scores.interval(&[2.0], 0.5),
            around(0.3),
            "3rd of 4: ceil(2.5)"
        );
        assert_eq!(
            scores.interval(&[2.0], 0.8),
            around(0.4),
            "4th: 5 x 0.8 exactly"
        );
        let endless = (f32::NEG_INFINITY, f32::INFINITY);
        assert_eq!(scores.interval(&[2.0], 0.81), endless, "the 5th of 4");
        assert_eq!(scores.largest_coverage(), 0.8);
        assert_eq!(FoldScores::default().interval(&[], 0.1), endless);
    }

    #[test]
    fn an_interval_reaches_around_each_folds_own_prediction() {
        let folds = [[1.0, 2.0], [0.5, 4.0]].map(Conformity::of_errors);
        let scores = FoldScores::new(folds.to_vec());
        // Upper ends 11, 12 and 20.5, 24; lower ends 9, 8 and 19.5, 16.
        assert_eq!(scores.interval(&[10.0, 20.0], 0.6), (9.0, 20.5));
        assert_eq!(scores.interval(&[10.0, 20.0], 0.8), (8.0, 24.0));
    }

    #[test]
    fn weights_count_rows() {
        // Scores 0.1 (class 0, which counts twice), 0.4 and 0.5 (class 1, which counts half).
        let stated = [0.9, 0.1, 0.4, 0.6, 0.5, 0.5];
        let scores = one(Conformity::of_classes(&stated, 2, &[0, 1, 1], &[2.0, 0.5]));
        // Whether a class with this score is in the set.
        let takes_in = |score: f32, coverage| {
            let set = scores.class_set(&[&[1.0 - score]], coverage);
            !set.is_empty()
        };
        assert!(
            takes_in(0.05, 0.5) && !takes_in(0.15, 0.5),
            "2 of 4 up to 0.1"
        );
        assert!(
            takes_in(0.35, 0.6) && !takes_in(0.45, 0.6),
            "2.5 of 4 up to 0.4"
        );
        assert!(
            takes_in(0.45, 0.75) && !takes_in(0.55, 0.75),
            "3 of 4 up to 0.5"
        );
        assert!(takes_in(1.0, 0.8), "3 rows cannot vouch for more");
    }

    #[test]
    fn sets_hold_the_likely_classes() {
        let row: &[f32] = &[0.6, 0.3, 0.1];
        let scores = one(Conformity::of_errors([0.05, 0.75, 0.85]));
        assert_eq!(scores.class_set(&[row], 0.5), [0, 1]);
        assert!(
            scores.class_set(&[row], 0.25).is_empty(),
            "none is that likely"
        );
        assert_eq!(scores.class_set(&[row], 0.8), [0, 1, 2]);
    }

    /// A held-out row of a fold whose model is this good, or a new row by all models: a number
    /// that tells the class, seen through each model's noise.
    fn stated(draws: &mut Draws, models: &[f64]) -> (Vec<[f32; 2]>, u32) {
        let first = draws.uniform();
        let class = draws.category(&[first, 1.0 - first]) as u32;
        let seen = |noise: &f64| {
            let p = (1.0 - noise) * first + noise * draws.uniform();
            [p as f32, 1.0 - p as f32]
        };
        (models.iter().map(seen).collect(), class)
    }

    /// Over many draws of held-out rows and a new one, the new one's class is in its set about
    /// as often as stated, although models of the folds are of different quality and their
    /// probabilities wrong.
    #[test]
    fn coverage_is_as_stated() {
        let models = [0.0, 0.3, 0.9];
        let mut draws = Draws::new(4);
        let (trials, coverage) = (4000, 0.8);
        let mut covered = 0;
        for _ in 0..trials {
            let fold = |model: &f64| {
                let rows: Vec<_> = (0..13).map(|_| stated(&mut draws, &[*model])).collect();
                let probs: Vec<f32> = rows.iter().flat_map(|(p, _)| p[0]).collect();
                let classes: Vec<u32> = rows.iter().map(|(_, class)| *class).collect();
                Conformity::of_classes(&probs, 2, &classes, &[1.0; 2])
            };
            let scores = FoldScores::new(models.iter().map(fold).collect());
            let (new, class) = stated(&mut draws, &models);
            let by_folds: Vec<&[f32]> = new.iter().map(|row| &row[..]).collect();
            let set = scores.class_set(&by_folds, coverage);
            covered += usize::from(set.contains(&(class as usize)));
        }
        // 39 scores: 32/40 where folds are alike. Four standard deviations of a binomial.
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
            let (low, high) = one(Conformity::of_errors(errors)).interval(&[0.0], 0.9);
            covered += usize::from((low..=high).contains(&(draws.uniform() as f32 - 0.5)));
        }
        let share = covered as f64 / trials as f64;
        assert!(
            (share - 0.9).abs() < 4.0 * (0.09 / trials as f64).sqrt(),
            "{share}"
        );
    }
}
