//! Regressors as baselines of a comparison: fitted to the labelled rows, they predict the others.
//!
//! All functions take `features [rows, columns]` with the labelled rows first and NaN for missing
//! cells (which count as 0), and `labels [labelled rows, outputs]`; they return `[other rows,
//! outputs]`.

use super::kernel_ridge::Ridge;
use super::nearest::Neighbours;
use super::trees::RandomForest;
use super::{Continuous, Regressor};
use crate::pseudo_label::zero_filled;

fn by<R: Regressor>(features: &[f32], columns: usize, labels: &[f32], outputs: usize) -> Vec<f32> {
    let features = zero_filled(features);
    let known = labels.len() / outputs.max(1);
    let (labelled, others) = features.split_at(known * columns);
    let data = Continuous {
        features: labelled,
        columns,
        values: labels,
        outputs,
    };
    R::fit(data, &(0..known).collect::<Vec<_>>()).predict(others, columns)
}

/// The mean of the five nearest labelled rows, each weighted by one over its distance.
pub fn neighbours(features: &[f32], columns: usize, labels: &[f32], outputs: usize) -> Vec<f32> {
    by::<Neighbours>(features, columns, labels, outputs)
}

/// Ridge regression.
pub fn ridge(features: &[f32], columns: usize, labels: &[f32], outputs: usize) -> Vec<f32> {
    by::<Ridge>(features, columns, labels, outputs)
}

/// A random forest.
pub(crate) fn random_forest(
    features: &[f32],
    columns: usize,
    labels: &[f32],
    outputs: usize,
) -> Vec<f32> {
    by::<RandomForest>(features, columns, labels, outputs)
}

/// The median of the labels for every row: the constant with the smallest mean absolute error.
pub fn median(features: &[f32], columns: usize, labels: &[f32], outputs: usize) -> Vec<f32> {
    let known = labels.len() / outputs.max(1);
    let of_output = |output: usize| {
        let values = labels.iter().skip(output).step_by(outputs);
        let mut values: Vec<f32> = values.copied().collect();
        values.sort_by(f32::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or(0.0)
    };
    let medians: Vec<f32> = (0..outputs).map(of_output).collect();
    medians.repeat(features.len() / columns.max(1) - known)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// y = (3 x0 - x1 + 2, 7) at x = (0, 0) ... (9, 4); the last row is not labelled.
    fn plane() -> (Vec<f32>, Vec<f32>) {
        let row = |i: usize| [i as f32, (i * i % 5) as f32];
        let features = (0..11).flat_map(row).collect();
        let label = |i: usize| [3.0 * row(i)[0] - row(i)[1] + 2.0, 7.0];
        (features, (0..10).flat_map(label).collect())
    }

    #[test]
    fn a_plane_is_found_but_for_the_penalty() {
        let (features, labels) = plane();
        let found = ridge(&features, 2, &labels, 2);
        // Row 10 is (10, 0): 32.
        assert!(
            (found[0] - 32.0).abs() < 1.0 && (found[1] - 7.0).abs() < 1e-5,
            "{found:?}"
        );
    }

    #[test]
    fn the_others_stay_among_the_labels() {
        let (features, labels) = plane();
        for predict in [neighbours, random_forest] {
            let near = predict(&features, 2, &labels, 2);
            assert!(
                near[0] > 18.0 && near[0] < 29.0 && (near[1] - 7.0).abs() < 1e-4,
                "{near:?}"
            );
        }
        let mut sorted: Vec<f32> = labels.iter().step_by(2).copied().collect();
        sorted.sort_by(f32::total_cmp);
        assert_eq!(median(&features, 2, &labels, 2), [sorted[5], 7.0]);
    }
}
