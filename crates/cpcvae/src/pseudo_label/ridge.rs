//! A classifier from the labelled rows alone: kernel ridge regression of one-hot classes with RBF
//! kernels.
//!
//! Each regression is solved exactly, and its leave-one-out predictions come with the solution. The
//! prediction is the mean over several widths and penalties, weighted by their leave-one-out
//! errors: a few labels cannot decide which width is best, and the mean of all is better than one
//! choice.

use super::cholesky::inverse;
use super::kernel::{Kernel, median_square};
use rayon::prelude::*;

/// With more labels, this many of them are used: the cost is cubic.
const MOST_LABELS: usize = 500;
/// Penalties that are averaged; the kernel's diagonal is 1.
const PENALTIES: [f64; 5] = [0.01, 0.03, 0.1, 0.3, 1.0];
/// Widths of the RBF kernel that are averaged, as multiples of the median squared distance of the
/// labelled rows.
const WIDTHS: [f64; 3] = [0.25, 1.0, 4.0];

/// A fitted classifier.
#[derive(Clone, Debug)]
pub(crate) struct Ridge {
    columns: usize,
    classes: usize,
    /// The labelled rows, `[labels, columns]`.
    rows: Vec<f32>,
    /// The mean over penalties for each width; scores are the sum over widths.
    kernels: Vec<Weighted>,
    /// Leave-one-out predictions, `[labels, classes]`.
    left_out: Vec<f64>,
    /// Indices into the list of labels of the rows used.
    used: Vec<usize>,
}

/// A kernel and the coefficients of the labelled rows, `[labels, classes]`.
#[derive(Clone, Debug)]
pub(crate) struct Weighted {
    pub(crate) kernel: Kernel,
    pub(crate) coefficients: Vec<f64>,
}

/// One regression: coefficients and leave-one-out predictions, both `[labels, classes]`, and the
/// mean squared error of the latter.
struct Solved {
    kernel: Kernel,
    coefficients: Vec<f64>,
    left_out: Vec<f64>,
    error: f64,
}

impl Ridge {
    /// Scores are clamped to this range before they are normalised to probabilities: they estimate
    /// these, but may be slightly outside.
    pub(crate) const RANGE: (f64, f64) = (1e-3, 1.0);

    /// The labelled rows, `[labels, columns]`, and the kernels with their coefficients.
    pub(crate) fn parts(&self) -> (&[f32], &[Weighted]) {
        (&self.rows, &self.kernels)
    }

    /// The mean over widths and penalties, each weighted by `exp(-sqrt(n) (e / e_min - 1))` for its
    /// leave-one-out mean squared error `e` on `n` labels. `None` without labels.
    pub(super) fn fit(
        features: &[f32],
        columns: usize,
        labels: &[(u32, u32)],
        classes: usize,
    ) -> Option<Self> {
        let step = labels.len().div_ceil(MOST_LABELS).max(1);
        let used: Vec<usize> = (0..labels.len()).step_by(step).collect();
        let of_row = |place: &usize| &features[labels[*place].0 as usize * columns..][..columns];
        let rows: Vec<f32> = used.iter().flat_map(of_row).copied().collect();
        let known: Vec<u32> = used.iter().map(|place| labels[*place].1).collect();
        let median = median_square(&rows, columns);
        let kernels = WIDTHS.map(|width| Kernel::Rbf(width * median));
        let solved: Vec<Solved> = kernels
            .into_par_iter()
            .flat_map(|kernel| solved(kernel, &rows, columns, &known, classes))
            .collect();
        let weights = weights(&solved, known.len());
        let values = known.len() * classes;
        let mut left_out = vec![0.0; values];
        let mut of_kernels: Vec<Weighted> = Vec::new();
        for (one, weight) in solved.iter().zip(weights) {
            if of_kernels
                .last()
                .is_none_or(|last| last.kernel != one.kernel)
            {
                of_kernels.push(Weighted {
                    kernel: one.kernel,
                    coefficients: vec![0.0; values],
                });
            }
            let coefficients = &mut of_kernels.last_mut()?.coefficients;
            add(weight, &one.coefficients, coefficients);
            add(weight, &one.left_out, &mut left_out);
        }
        (!of_kernels.is_empty()).then_some(Self {
            columns,
            classes,
            rows,
            kernels: of_kernels,
            left_out,
            used,
        })
    }

    /// Leave-one-out predictions for `labels` labelled rows, `[labels, classes]`; uniform for
    /// labels that it does not use.
    pub(super) fn left_out(&self, labels: usize) -> Vec<f32> {
        let mut class_probs = vec![1.0 / self.classes as f32; labels * self.classes];
        let rows = self.left_out.chunks_exact(self.classes);
        for (place, row) in self.used.iter().zip(rows) {
            // Targets are one-hot minus 1 / classes.
            let scores = row.iter().map(|score| score + 1.0 / self.classes as f64);
            let row_probs = as_probabilities(scores.collect());
            class_probs[place * self.classes..][..self.classes].copy_from_slice(&row_probs);
        }
        class_probs
    }

    /// Probabilities of the classes for `features [rows, columns]`: `[rows, classes]`.
    pub(super) fn class_probs(&self, features: &[f32]) -> Vec<f32> {
        let rows = features.par_chunks_exact(self.columns);
        rows.flat_map_iter(|row| {
            let mut scores = vec![1.0 / self.classes as f64; self.classes];
            let known = self.rows.chunks_exact(self.columns);
            for (place, known) in known.enumerate() {
                for Weighted {
                    kernel,
                    coefficients,
                } in &self.kernels
                {
                    let coefficients = &coefficients[place * self.classes..][..self.classes];
                    add(kernel.of(row, known), coefficients, &mut scores);
                }
            }
            as_probabilities(scores)
        })
        .collect()
    }
}

/// Probabilities from scores.
fn as_probabilities(mut scores: Vec<f64>) -> Vec<f32> {
    scores
        .iter_mut()
        .for_each(|score| *score = score.clamp(Ridge::RANGE.0, Ridge::RANGE.1));
    let sum: f64 = scores.iter().sum();
    scores.iter().map(|score| (score / sum) as f32).collect()
}

/// [`solve`] for one-hot classes minus 1 / classes.
fn solve_classes(inverse: &[f64], known: &[u32], classes: usize) -> (Vec<f64>, Vec<f64>) {
    solve(inverse, [known.len(), classes], |i, k| {
        target(known[i], k, classes)
    })
}

/// The regression target of class `k` for a row of class `class`.
fn target(class: u32, k: usize, classes: usize) -> f64 {
    f64::from(u8::from(class as usize == k)) - 1.0 / classes as f64
}

/// Coefficients `G Y`, and the leave-one-out predictions `y_i - (G Y)_i / G_ii`; both `[rows,
/// outputs]`, for the inverse `G` of the kernel matrix plus penalty, and targets `Y`.
pub(crate) fn solve(
    inverse: &[f64],
    [n, outputs]: [usize; 2],
    target: impl Fn(usize, usize) -> f64,
) -> (Vec<f64>, Vec<f64>) {
    let mut coefficients = vec![0.0; n * outputs];
    for (i, row) in coefficients.chunks_exact_mut(outputs).enumerate() {
        for (k, coefficient) in row.iter_mut().enumerate() {
            *coefficient = (0..n).map(|j| inverse[i * n + j] * target(j, k)).sum();
        }
    }
    let left_out = (0..n * outputs)
        .map(|at| {
            let (i, k) = (at / outputs, at % outputs);
            target(i, k) - coefficients[at] / inverse[i * n + i]
        })
        .collect();
    (coefficients, left_out)
}

/// The regressions on a kernel, one for each penalty.
fn solved(
    kernel: Kernel,
    rows: &[f32],
    columns: usize,
    known: &[u32],
    classes: usize,
) -> Vec<Solved> {
    let n = known.len();
    let alike = kernel.between(rows, columns);
    let with_penalty = |penalty: f64| {
        let mut matrix = alike.clone();
        (0..n).for_each(|i| matrix[i * n + i] += penalty);
        let (coefficients, left_out) = solve_classes(&inverse(matrix, n)?, known, classes);
        let squares = left_out.iter().enumerate();
        let error = squares.map(|(at, prediction)| {
            (prediction - target(known[at / classes], at % classes, classes)).powi(2)
        });
        Some(Solved {
            kernel,
            error: error.sum::<f64>() / n as f64,
            coefficients,
            left_out,
        })
    };
    PENALTIES.into_iter().filter_map(with_penalty).collect()
}

/// Weights of the regressions by their leave-one-out errors on `labels` labels; they sum to 1.
fn weights(solved: &[Solved], labels: usize) -> Vec<f64> {
    let least = solved
        .iter()
        .map(|one| one.error)
        .fold(f64::INFINITY, f64::min);
    let least = least.max(f64::MIN_POSITIVE);
    let weight = |one: &Solved| (-(labels as f64).sqrt() * (one.error / least - 1.0)).exp();
    let weights: Vec<f64> = solved.iter().map(weight).collect();
    let sum: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / sum).collect()
}

/// Adds `weight values` to `sums`.
fn add(weight: f64, values: &[f64], sums: &mut [f64]) {
    let pairs = sums.iter_mut().zip(values);
    pairs.for_each(|(sum, value)| *sum += weight * value);
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpcvae_kernels::random::{Stream, normal};

    fn clouds(rows: usize) -> (Vec<f32>, Vec<(u32, u32)>) {
        let mut features = vec![0.0; rows * 3];
        normal(
            Stream {
                seed: 5,
                step: 0,
                purpose: 0,
            },
            &mut features,
        );
        let labels: Vec<(u32, u32)> = (0..rows as u32).map(|row| (row, row % 2)).collect();
        for (row, class) in &labels {
            features[*row as usize * 3] += 2.0 * *class as f32;
        }
        (features, labels)
    }

    #[test]
    fn leaving_out_is_solving_without() {
        let (features, labels) = clouds(14);
        let known: Vec<u32> = labels.iter().map(|(_, class)| *class).collect();
        let matrix = |places: &[usize]| -> Vec<f64> {
            let n = places.len();
            (0..n * n)
                .map(|i| {
                    let (a, b) = (places[i / n], places[i % n]);
                    let alike = Kernel::Linear.of(&features[a * 3..][..3], &features[b * 3..][..3]);
                    alike + if a == b { 0.1 } else { 0.0 }
                })
                .collect()
        };
        let all: Vec<usize> = (0..14).collect();
        let (_, left_out) = solve_classes(&inverse(matrix(&all), 14).unwrap(), &known, 2);
        let others: Vec<usize> = (0..14).filter(|i| *i != 4).collect();
        let without: Vec<u32> = others.iter().map(|i| known[*i]).collect();
        let (coefficients, _) = solve_classes(&inverse(matrix(&others), 13).unwrap(), &without, 2);
        for k in 0..2 {
            let score: f64 = others
                .iter()
                .zip(coefficients.chunks_exact(2))
                .map(|(i, c)| {
                    Kernel::Linear.of(&features[4 * 3..][..3], &features[i * 3..][..3]) * c[k]
                })
                .sum();
            assert!((score - left_out[4 * 2 + k]).abs() < 1e-9);
        }
    }

    #[test]
    fn the_better_regression_counts_more_the_more_labels_say_so() {
        let solved = [0.2, 0.4].map(|error| Solved {
            kernel: Kernel::Linear,
            coefficients: Vec::new(),
            left_out: Vec::new(),
            error,
        });
        let share = |labels| weights(&solved, labels)[0];
        // 1 / (1 + exp(-sqrt(n))): the second one's error is twice as large.
        assert!((share(4) - 1.0 / (1.0 + (-2.0f64).exp())).abs() < 1e-12);
        assert!(share(4) < share(25) && share(25) > 0.99);
    }

    #[test]
    fn two_clouds_are_told_apart() {
        let (features, labels) = clouds(1000);
        let ridge = Ridge::fit(&features, 3, &labels[..100], 2).unwrap();
        let class_probs = ridge.class_probs(&features[100 * 3..]);
        let right = class_probs
            .chunks_exact(2)
            .zip(&labels[100..])
            .filter(|(b, (_, class))| (b[1] > b[0]) == (*class == 1))
            .count();
        // The best possible accuracy is 84 %.
        assert!(right as f64 / 900.0 > 0.79, "{right}");
        assert!(
            class_probs
                .chunks_exact(2)
                .all(|b| (b[0] + b[1] - 1.0).abs() < 1e-5)
        );
    }
}
