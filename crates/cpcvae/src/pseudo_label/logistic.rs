//! A classifier from the labelled rows alone: multinomial logistic regression with an L2 penalty.
//!
//! Where a table has more columns than labelled rows, hardly anything is better than a linear
//! classifier with small weights on many columns.

use super::labelled::{Classifier, Labelled};
use super::lbfgs::minimise;
use crate::probabilities::softmax;
use rayon::prelude::*;

/// Weight of half the sum of squared weights against the sum of the rows' losses, for standardised
/// columns: scikit-learn's default, C = 1.
const PENALTY: f64 = 1.0;
/// Columns with a smaller mean square are not standardised.
const LEAST_SQUARE: f64 = 0.25;
/// Their penalty is as much smaller as the mean squared length of rows is below this: otherwise HOG
/// descriptors, whose length is 1, would hardly be used.
const USUAL_SQUARED_LENGTH: f64 = 16.0;
/// Labelled rows are used up to this many values, which is enough for a linear classifier.
const MOST_VALUES: usize = 20_000_000;

/// Probabilities of the classes, `[rows, classes]`, for `features [rows, width]` of which some
/// rows have the class given in `labels` (row, class), by logistic regression on these. A missing
/// cell (NaN) counts as 0.
///
/// # Panics
/// If a row or class of a label is out of range.
pub fn logistic(features: &[f32], width: usize, labels: &[(u32, u32)], classes: usize) -> Vec<f32> {
    let features = &super::zero_filled(features)[..];
    let data = Labelled {
        features,
        columns: width,
        labels,
        classes,
    };
    Logistic::fit_all(data).class_probs(features)
}

/// A fitted classifier.
#[derive(Clone, Debug)]
pub(crate) struct Logistic {
    columns: usize,
    classes: usize,
    /// `[columns + 1, classes]`, offsets last.
    weights: Vec<f64>,
}

impl Logistic {
    /// `[columns + 1, classes]`, offsets last.
    pub(crate) fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// A classifier with these weights `[columns + 1, classes]`; `None` if their number does not fit
    /// the classes.
    pub(crate) fn with_weights(weights: Vec<f64>, classes: usize) -> Option<Self> {
        let lines = weights.len() / classes.max(1);
        (lines > 1 && lines * classes == weights.len()).then(|| Self {
            columns: lines - 1,
            classes,
            weights,
        })
    }

    /// With weights that a file of `f32` holds exactly.
    pub(crate) fn rounded(mut self) -> Self {
        let weights = self.weights.iter_mut();
        weights.for_each(|weight| *weight = f64::from(*weight as f32));
        self
    }

    /// The same classifier of rows `x` whose features are `(x - mean) map`, as a function of x;
    /// `map [x's columns, columns]`.
    pub(crate) fn before(&self, map: &[f64], mean: &[f32]) -> Self {
        let (slopes, offsets) = self.weights.split_at(self.columns * self.classes);
        let mut weights = Vec::with_capacity((mean.len() + 1) * self.classes);
        for line in map.chunks_exact(self.columns) {
            for class in 0..self.classes {
                let slopes = slopes[class..].iter().step_by(self.classes);
                weights.push(line.iter().zip(slopes).map(|(a, b)| a * b).sum());
            }
        }
        let mut offsets = offsets.to_vec();
        for (mean, weights) in mean.iter().zip(weights.chunks_exact(self.classes)) {
            let offsets = offsets.iter_mut().zip(weights);
            offsets.for_each(|(offset, weight)| *offset -= f64::from(*mean) * weight);
        }
        weights.extend(offsets);
        Self {
            columns: mean.len(),
            classes: self.classes,
            weights,
        }
    }
}

impl Classifier for Logistic {
    fn fit(data: Labelled<'_>, used: &[usize]) -> Self {
        let (columns, classes) = (data.columns, data.classes);
        let most = (MOST_VALUES / columns.max(1)).max(1);
        let step = used.len().div_ceil(most).max(1);
        let used: Vec<usize> = used.iter().step_by(step).copied().collect();
        let penalty = penalty(data, &used);
        let weights = minimise(vec![0.0; (columns + 1) * classes], |weights, slope| {
            loss(data, &used, penalty, weights, slope)
        });
        Self {
            columns,
            classes,
            weights,
        }
    }

    fn row_probs(&self, row: &[f32]) -> Vec<f32> {
        let mut scores = scores(row, self.columns, self.classes, &self.weights);
        softmax(&mut scores);
        scores.into_iter().map(|p| p as f32).collect()
    }

    fn columns(&self) -> usize {
        self.columns
    }
}

/// The penalty for features of their size.
fn penalty(data: Labelled<'_>, used: &[usize]) -> f64 {
    let rows = used.iter().map(|place| data.row(data.labels[*place].0));
    let squares = rows.map(|row| row.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>());
    let mean = squares.sum::<f64>() / used.len().max(1) as f64;
    if mean >= LEAST_SQUARE * data.columns as f64 {
        return PENALTY;
    }
    // Rows of zeros have no weights to be found, but the problem has to have a solution.
    PENALTY * (mean / USUAL_SQUARED_LENGTH).clamp(1e-6, 1.0)
}

/// The penalised sum of -log p(class) over the labels in `used`; adds its gradient to `slope`.
fn loss(
    data: Labelled<'_>,
    used: &[usize],
    penalty: f64,
    weights: &[f64],
    slope: &mut [f64],
) -> f64 {
    let (columns, classes) = (data.columns, data.classes);
    // First the errors of the probabilities, all rows in parallel; then sums in row order, so that
    // the number of threads does not matter.
    let errors: Vec<(f64, Vec<f64>)> = used
        .par_iter()
        .map(|place| {
            let (row, class) = data.labels[*place];
            let mut p = scores(data.row(row), columns, classes, weights);
            softmax(&mut p);
            let loss = -p[class as usize].max(f64::MIN_POSITIVE).ln();
            p[class as usize] -= 1.0;
            (loss, p)
        })
        .collect();
    slope
        .par_chunks_exact_mut(classes)
        .enumerate()
        .for_each(|(column, slope)| {
            for (place, (_, error)) in used.iter().zip(&errors) {
                let value = match column < columns {
                    true => f64::from(data.row(data.labels[*place].0)[column]),
                    false => 1.0,
                };
                let sums = slope.iter_mut().zip(error);
                sums.for_each(|(sum, error)| *sum += value * error);
            }
        });
    let mut total: f64 = errors.iter().map(|(loss, _)| loss).sum();
    for (weight, slope) in weights.iter().zip(slope).take(columns * classes) {
        total += 0.5 * penalty * weight * weight;
        *slope += penalty * weight;
    }
    total
}

fn scores(row: &[f32], columns: usize, classes: usize, weights: &[f64]) -> Vec<f64> {
    let mut scores = weights[columns * classes..].to_vec();
    for (value, weights) in row.iter().zip(weights.chunks_exact(classes)) {
        let sums = scores.iter_mut().zip(weights);
        sums.for_each(|(score, weight)| *score += f64::from(*value) * weight);
    }
    scores
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probabilities::largest;
    use cpcvae_kernels::random::{Stream, normal};

    /// Noise in `columns` columns; the mean of the first ones depends on the class.
    fn leaning(rows: usize, columns: usize) -> (Vec<f32>, Vec<(u32, u32)>) {
        let stream = Stream {
            seed: 8,
            step: 0,
            purpose: 0,
        };
        let mut features = vec![0.0; rows * columns];
        normal(stream, &mut features);
        let labels: Vec<(u32, u32)> = (0..rows as u32).map(|row| (row, row % 3)).collect();
        for (row, class) in &labels {
            features[*row as usize * columns + *class as usize] += 2.5;
        }
        (features, labels)
    }

    #[test]
    fn its_gradient_is_that_of_its_loss_and_vanishes_at_the_end() {
        let (features, labels) = leaning(20, 4);
        let data = Labelled {
            features: &features,
            columns: 4,
            labels: &labels,
            classes: 3,
        };
        let used: Vec<usize> = (0..20).collect();
        let weights: Vec<f64> = (0..15).map(|i| 0.1 * f64::from(i % 7) - 0.3).collect();
        let mut slope = vec![0.0; 15];
        loss(data, &used, 0.7, &weights, &mut slope);
        for i in 0..15 {
            let at = |by: f64| {
                let mut moved = weights.clone();
                moved[i] += by;
                loss(data, &used, 0.7, &moved, &mut [0.0; 15])
            };
            let measured = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!((slope[i] - measured).abs() < 1e-6, "{i}");
        }
        let fitted = Logistic::fit(data, &used);
        let mut slope = vec![0.0; 15];
        let penalty = penalty(data, &used);
        assert_eq!(penalty, PENALTY);
        loss(data, &used, penalty, &fitted.weights, &mut slope);
        assert!(slope.iter().all(|s| s.abs() < 1e-3), "{slope:?}");
    }

    #[test]
    fn the_unit_of_columns_that_are_not_standardised_does_not_matter() {
        let (features, labels) = leaning(60, 4);
        let [small, smaller] = [8.0, 64.0].map(|unit| {
            let features: Vec<f32> = features.iter().map(|value| value / unit).collect();
            logistic(&features, 4, &labels, 3)
        });
        for (a, b) in small.iter().zip(&smaller) {
            assert!((a - b).abs() < 1e-3, "{a} {b}");
        }
    }

    #[test]
    fn a_plane_is_found_among_more_columns_than_labels() {
        let (features, labels) = leaning(1500, 60);
        let class_probs = logistic(&features, 60, &labels[..45], 3);
        let right = class_probs.chunks_exact(3).zip(&labels).skip(45);
        let right = right.filter(|(b, (_, class))| largest(b) == *class as usize);
        // Chance is a third; the best possible classifier, which knows the noise columns, has 93 %.
        assert!(right.count() as f64 / 1455.0 > 0.7);
        assert!(
            class_probs
                .chunks_exact(3)
                .all(|b| (b.iter().sum::<f32>() - 1.0).abs() < 1e-5)
        );
    }
}
