//! Ours, not the paper's: regressors of the labelled rows alone, averaged with a network's
//! prediction of continuous labels.

pub mod baseline;
mod kernel_ridge;
mod nearest;
mod share;
mod trees;

pub use share::{mean, shares};

use crate::pseudo_label::trees::Trees;
use crate::pseudo_label::zero_filled;
pub(crate) use kernel_ridge::Fit;
use kernel_ridge::{KernelRidge, Ridge};
use nearest::Neighbours;
use rayon::prelude::*;
use trees::{ExtraTrees, RandomForest};

/// Folds of the cross-validation.
const FOLDS: usize = 5;

/// Labelled rows.
#[derive(Clone, Copy)]
struct Continuous<'a> {
    /// `[labels, columns]`
    features: &'a [f32],
    columns: usize,
    /// `[labels, outputs]`
    values: &'a [f32],
    outputs: usize,
}

impl<'a> Continuous<'a> {
    fn labels(&self) -> usize {
        self.values.len() / self.outputs
    }

    fn row(&self, label: usize) -> &'a [f32] {
        &self.features[label * self.columns..][..self.columns]
    }

    fn value(&self, label: usize) -> &'a [f32] {
        &self.values[label * self.outputs..][..self.outputs]
    }
}

/// A regressor that can be fitted to labelled rows.
trait Regressor: Sized + Sync {
    /// Fits it to the labels whose indices are in `used`, at least one.
    fn fit(data: Continuous<'_>, used: &[usize]) -> Self;

    /// The prediction for a row, `[outputs]`.
    fn predict_row(&self, row: &[f32]) -> Vec<f32>;

    /// The predictions for `features [rows, columns]`: `[rows, outputs]`.
    fn predict(&self, features: &[f32], columns: usize) -> Vec<f32> {
        let rows = features.par_chunks_exact(columns);
        rows.flat_map_iter(|row| self.predict_row(row)).collect()
    }

    /// Out-of-fold predictions for the labelled rows, `[labels, outputs]`; zero if there is one
    /// label.
    fn left_out(data: Continuous<'_>) -> Vec<f32> {
        let mut predictions = vec![0.0; data.values.len()];
        for fold in 0..FOLDS {
            let (held, used): (Vec<usize>, Vec<usize>) =
                (0..data.labels()).partition(|label| label % FOLDS == fold);
            if held.is_empty() || used.is_empty() {
                continue;
            }
            let fitted = Self::fit(data, &used);
            for label in held {
                let values = fitted.predict_row(data.row(label));
                predictions[label * data.outputs..][..data.outputs].copy_from_slice(&values);
            }
        }
        predictions
    }
}

/// Five regressors fitted to the same labels.
#[derive(Clone, Debug)]
pub struct Regressors {
    columns: usize,
    extra_trees: ExtraTrees,
    random_forest: RandomForest,
    ridge: Ridge,
    kernel_ridge: KernelRidge,
    neighbours: Neighbours,
}

impl Regressors {
    /// Their names, in the order of their predictions.
    pub const NAMES: [&str; 5] = [
        "extra-trees",
        "random-forest",
        "ridge",
        "kernel-ridge",
        "neighbours",
    ];

    /// Prior weights, relative to 1 for all members together.
    pub(crate) const PRIORS: [f64; 5] = [0.3, 0.2, 0.15, 0.25, 0.1];

    /// Fits them to `values [labels, outputs]`, at least one label, of `features [labels,
    /// columns]`. A missing cell (NaN) counts as 0.
    ///
    /// # Panics
    /// If features and values have different numbers of labels.
    pub fn fit(features: &[f32], columns: usize, values: &[f32], outputs: usize) -> Self {
        assert_eq!(features.len() * outputs, values.len() * columns);
        let features = &zero_filled(features)[..];
        let data = Continuous {
            features,
            columns,
            values,
            outputs,
        };
        let all: Vec<usize> = (0..data.labels()).collect();
        Self {
            columns,
            extra_trees: ExtraTrees::fit(data, &all),
            random_forest: RandomForest::fit(data, &all),
            ridge: Ridge::fit(data, &all),
            kernel_ridge: KernelRidge::fit(data, &all),
            neighbours: Neighbours::fit(data, &all),
        }
    }

    /// The forests: extremely randomised trees and a random forest.
    pub(crate) fn forests(&self) -> [&Trees; 2] {
        [&self.extra_trees.0, &self.random_forest.0]
    }

    /// The ridge regressions, linear and on an RBF kernel.
    pub(crate) fn ridges(&self) -> [&Fit; 2] {
        [&self.ridge.0, &self.kernel_ridge.0]
    }

    /// The labelled rows, `[labels, columns]`, their values, `[labels, outputs]`, the number of
    /// neighbours, and the smallest distance.
    pub(crate) fn nearest(&self) -> (&[f32], &[f32], usize, f64) {
        self.neighbours.parts()
    }

    /// The predictions of each for rows `[rows, columns]`: `[rows, outputs]`.
    pub fn predict(&self, features: &[f32]) -> Vec<Vec<f32>> {
        let features = &zero_filled(features)[..];
        vec![
            self.extra_trees.predict(features, self.columns),
            self.random_forest.predict(features, self.columns),
            self.ridge.predict(features, self.columns),
            self.kernel_ridge.predict(features, self.columns),
            self.neighbours.predict(features, self.columns),
        ]
    }

    /// Out-of-fold predictions of each for the labels that it was fitted to: `[labels, outputs]`.
    pub fn left_out(
        features: &[f32],
        columns: usize,
        values: &[f32],
        outputs: usize,
    ) -> Vec<Vec<f32>> {
        let features = &zero_filled(features)[..];
        let data = Continuous {
            features,
            columns,
            values,
            outputs,
        };
        vec![
            ExtraTrees::left_out(data),
            RandomForest::left_out(data),
            Ridge::left_out(data),
            KernelRidge::left_out(data),
            Neighbours::left_out(data),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpcvae_kernels::random::{Stream, normal};

    const COLUMNS: usize = 3;

    /// Rows of three columns; a curved surface over the first two, and its mirror image.
    fn surface(rows: usize) -> (Vec<f32>, Vec<f32>) {
        let mut features = vec![0.0; rows * COLUMNS];
        let stream = Stream {
            seed: 8,
            step: 0,
            purpose: 0,
        };
        normal(stream, &mut features);
        let value = |row: &[f32]| row[0] + 0.5 * row[1] * row[1];
        let values = features.chunks_exact(COLUMNS).map(value);
        let values = values.flat_map(|value| [value, -value]).collect();
        (features, values)
    }

    fn error(predictions: &[f32], values: &[f32]) -> f64 {
        let squares = predictions
            .iter()
            .zip(values)
            .map(|(a, b)| f64::from(a - b).powi(2));
        squares.sum::<f64>() / values.len() as f64
    }

    #[test]
    fn all_of_them_beat_the_mean_on_new_rows_and_on_those_left_out() {
        let (features, values) = surface(600);
        let (known, labels) = (&features[..200 * COLUMNS], &values[..400]);
        let fitted = Regressors::fit(known, COLUMNS, labels, 2);
        let new = fitted.predict(&features[200 * COLUMNS..]);
        let left_out = Regressors::left_out(known, COLUMNS, labels, 2);
        // The variance of the surface is 1.5, of which 0.5 is not linear.
        let most = [0.5, 0.5, 0.8, 0.1, 0.5];
        for (name, ((new, left_out), most)) in Regressors::NAMES
            .iter()
            .zip(new.iter().zip(&left_out).zip(most))
        {
            let (new, left_out) = (error(new, &values[400..]), error(left_out, labels));
            assert!(new < most, "{name}: {new}");
            assert!(
                left_out < 1.5 * most && left_out > 0.0,
                "{name}: {left_out}"
            );
        }
        // The second output mirrors the first.
        for predictions in &new {
            assert!(
                predictions
                    .chunks_exact(2)
                    .all(|v| (v[0] + v[1]).abs() < 1e-3)
            );
        }
    }

    #[test]
    fn labels_that_are_all_alike_are_said_of_every_row() {
        let (features, _) = surface(20);
        let fitted = Regressors::fit(&features[..30], COLUMNS, &[2.5; 10], 1);
        for predictions in fitted.predict(&features) {
            assert!(predictions.iter().all(|value| (value - 2.5).abs() < 1e-4));
        }
    }

    #[test]
    fn one_label_is_enough_for_an_answer() {
        let fitted = Regressors::fit(&[0.0, f32::NAN], 2, &[1.0], 1);
        for predictions in fitted.predict(&[1.0, 1.0]) {
            assert!((predictions[0] - 1.0).abs() < 1e-4, "{predictions:?}");
        }
        let left_out = Regressors::left_out(&[0.0, 1.0], 2, &[1.0], 1);
        assert!(left_out.iter().all(|predictions| predictions == &[0.0]));
    }
}
