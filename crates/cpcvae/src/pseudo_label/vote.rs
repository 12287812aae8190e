//! Weighted averages of several classifiers in log space.

use crate::probabilities::softmax;
use serde::{Deserialize, Serialize};

/// Probabilities are mixed with the uniform distribution by this much: no classifier may rule out a
/// class alone.
const UNIFORM_SHARE: f32 = 0.05;
/// With this many labels, the sharpness is half-way between 1 and the best one.
const LABELS_FOR_SHARPNESS: f64 = 5.0;
/// Sharpnesses tried: e to the power of these steps. Labels propagated over a long way give nearly
/// uniform probabilities, which need to be sharpened a lot. No classifier is so overconfident that
/// it needs as much flattening.
const STEPS: std::ops::RangeInclusive<i32> = -6..=12;
const STEP: f64 = 0.25;

/// The sharpness and weight of a classifier in an ensemble.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Vote {
    /// Exponent of its probabilities (an inverse temperature): below 1 for an overconfident
    /// classifier.
    pub sharpness: f64,
    /// Its weight; weights sum to 1.
    pub weight: f64,
}

impl Vote {
    /// Votes from out-of-fold predictions `[labels, classes]`: the weight is proportional to `prior
    /// exp(-sqrt(n) loss)` for the mean log-loss on `n` labels. So with few labels the priors
    /// decide, and with many the best classifier wins.
    pub(crate) fn by_left_out(
        left_out: &[Vec<f32>],
        prior: &[f64],
        labels: &[u32],
        classes: usize,
    ) -> Vec<Self> {
        let shrink = labels.len() as f64 / (labels.len() as f64 + LABELS_FOR_SHARPNESS);
        let mut votes: Vec<Self> = Vec::new();
        let mut losses = Vec::new();
        for class_probs in left_out {
            let candidates = STEPS.map(|step| (STEP * f64::from(step)).exp());
            let best = candidates
                .map(|sharpness| (log_loss(class_probs, labels, classes, sharpness), sharpness))
                .min_by(|a, b| a.0.total_cmp(&b.0));
            let sharpness = best.map_or(1.0, |(_, sharpness)| sharpness.powf(shrink));
            losses.push(log_loss(class_probs, labels, classes, sharpness));
            votes.push(Self {
                sharpness,
                weight: 0.0,
            });
        }
        let least = losses.iter().copied().fold(f64::INFINITY, f64::min);
        // Losses on few labels are mostly chance: their spread falls with the square root of the
        // number of labels.
        let contrast = (labels.len() as f64).sqrt();
        for (vote, (loss, prior)) in votes.iter_mut().zip(losses.iter().zip(prior)) {
            vote.weight = prior * (-contrast * (loss - least)).exp();
        }
        let sum: f64 = votes.iter().map(|vote| vote.weight).sum();
        votes.iter_mut().for_each(|vote| vote.weight /= sum);
        votes
    }
}

/// Probabilities `[rows, classes]` proportional to `exp(sum of weight sharpness log p)` over the
/// classifiers, each of which predicted `[rows, classes]`.
pub fn log_mean(votes: &[Vote], class_probs: &[Vec<f32>], classes: usize) -> Vec<f32> {
    let values = class_probs.first().map_or(0, Vec::len);
    let mut all = Vec::with_capacity(values);
    for first in (0..values).step_by(classes.max(1)) {
        let mut scores = vec![0.0; classes];
        for (vote, class_probs) in votes.iter().zip(class_probs) {
            let factor = vote.weight * vote.sharpness;
            for (score, p) in scores.iter_mut().zip(&class_probs[first..]) {
                *score += factor * doubted(*p, classes);
            }
        }
        softmax(&mut scores);
        all.extend(scores.into_iter().map(|p| p as f32));
    }
    all
}

/// Factor and offset that mix probabilities with the uniform distribution.
pub(crate) fn uniform_mix(classes: usize) -> (f64, f64) {
    let uniform_mix = f64::from(UNIFORM_SHARE);
    (1.0 - uniform_mix, uniform_mix / classes as f64)
}

fn doubted(p: f32, classes: usize) -> f64 {
    f64::from((1.0 - UNIFORM_SHARE) * p + UNIFORM_SHARE / classes as f32).ln()
}

/// The mean of -log p(class) at that sharpness.
fn log_loss(class_probs: &[f32], labels: &[u32], classes: usize, sharpness: f64) -> f64 {
    let rows = class_probs.chunks_exact(classes).zip(labels);
    let loss = |(row, class): (&[f32], &u32)| {
        let scores = row.iter().map(|p| sharpness * doubted(*p, classes));
        let mut scores: Vec<f64> = scores.collect();
        softmax(&mut scores);
        -scores[*class as usize].max(f64::MIN_POSITIVE).ln()
    };
    rows.map(loss).sum::<f64>() / labels.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two overconfident classifiers: one is right nine times of ten, the other guesses.
    fn class_probs(rows: usize) -> (Vec<Vec<f32>>, Vec<u32>) {
        let of = |class: u32| {
            if class == 0 {
                [0.95, 0.05]
            } else {
                [0.05, 0.95]
            }
        };
        let labels: Vec<u32> = (0..rows as u32).map(|row| row % 2).collect();
        let good = labels.iter().zip(0u32..);
        let good = good.flat_map(|(class, row)| of(if row % 10 == 3 { 1 - class } else { *class }));
        let guess = labels
            .iter()
            .zip(0u32..)
            .flat_map(|(_, row)| of(row / 2 % 2));
        (vec![good.collect(), guess.collect()], labels)
    }

    #[test]
    fn the_better_one_is_heard_more_the_more_labels_say_so() {
        let weight = |rows| {
            let (class_probs, labels) = class_probs(rows);
            let votes = Vote::by_left_out(&class_probs, &[0.5; 2], &labels, 2);
            assert!((votes[0].weight + votes[1].weight - 1.0).abs() < 1e-9);
            assert!(votes[1].sharpness < votes[0].sharpness);
            votes[0].weight
        };
        assert!(weight(4) > 0.5 && weight(4) < weight(40) && weight(400) > 0.99);
    }

    /// Always right, but with nearly uniform probabilities.
    #[test]
    fn one_who_is_faint_but_right_is_heard() {
        let labels: Vec<u32> = (0..30).map(|row| row % 2).collect();
        let faint = labels.iter().flat_map(|class| match class {
            0 => [0.55, 0.45],
            _ => [0.45, 0.55],
        });
        let guess = (0..30).flat_map(|row| [[0.8, 0.2], [0.2, 0.8]][row / 2 % 2]);
        let class_probs = [faint.collect(), guess.collect::<Vec<f32>>()];
        let votes = Vote::by_left_out(&class_probs, &[0.5; 2], &labels, 2);
        assert!(votes[0].sharpness > 5.0, "{votes:?}");
        assert!(votes[0].weight > 0.9, "{votes:?}");
    }

    #[test]
    fn equal_votes_give_the_geometric_mean() {
        let votes = [Vote {
            sharpness: 1.0,
            weight: 0.5,
        }; 2];
        let mean = log_mean(&votes, &[vec![0.8, 0.2], vec![0.5, 0.5]], 2);
        let root = |p: f64, q: f64| ((0.95 * p + 0.025) * (0.95 * q + 0.025)).sqrt();
        let (a, b) = (root(0.8, 0.5), root(0.2, 0.5));
        assert!((f64::from(mean[0]) - a / (a + b)).abs() < 1e-6, "{mean:?}");
    }
}
