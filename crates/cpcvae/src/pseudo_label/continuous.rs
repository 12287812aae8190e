//! Continuous labels of rows from a few labelled ones, without a network: what a model is compared
//! with.
//!
//! All functions take `features [rows, width]` of which the first rows are the labelled ones, with NaN
//! for missing cells (which count as 0), and `labels [labelled rows, outputs]`; they give
//! `[other rows, outputs]`.

use super::cholesky::inverse;
use super::whole;
use cpcvae_kernels::neighbours::nearest;

/// Neighbours whose labels are averaged.
const NEIGHBOURS: usize = 5;
/// The penalty on squared weights of the ridge regression, for columns of standard deviation 1.
const PENALTY: f64 = 1.0;
/// With more columns a regression would take longer than a network.
const MOST_COLUMNS: usize = 1000;

/// The median of the labels, whatever the row: of all constants it has the smallest mean error.
pub fn median(features: &[f32], width: usize, labels: &[f32], outputs: usize) -> Vec<f32> {
    let known = labels.len() / outputs.max(1);
    let of_output = |output: usize| {
        let mut values: Vec<f32> = labels
            .iter()
            .skip(output)
            .step_by(outputs)
            .copied()
            .collect();
        values.sort_by(f32::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or(0.0)
    };
    let medians: Vec<f32> = (0..outputs).map(of_output).collect();
    medians.repeat(features.len() / width.max(1) - known)
}

/// The mean label of the five nearest labelled rows, each weighted by one over its distance.
pub fn neighbours(features: &[f32], width: usize, labels: &[f32], outputs: usize) -> Vec<f32> {
    let known = labels.len() / outputs.max(1);
    let features = whole(features);
    let (labelled, others) = features.split_at(known * width);
    let near = nearest(width, others, labelled, NEIGHBOURS);
    let mut predicted = vec![0.0; others.len() / width.max(1) * outputs];
    for (place, predicted) in predicted.chunks_exact_mut(outputs.max(1)).enumerate() {
        let found = place * near.count..(place + 1) * near.count;
        let weights: Vec<f32> = near.distances[found.clone()]
            .iter()
            .map(|distance| 1.0 / distance.max(1e-6))
            .collect();
        let sum: f32 = weights.iter().sum();
        for (row, weight) in near.rows[found].iter().zip(weights) {
            let labels = &labels[*row as usize * outputs..][..outputs];
            let pairs = predicted.iter_mut().zip(labels);
            pairs.for_each(|(value, label)| *value += weight / sum * label);
        }
    }
    predicted
}

/// Ridge regression. The median where there are too many columns for it.
pub fn ridge(features: &[f32], width: usize, labels: &[f32], outputs: usize) -> Vec<f32> {
    let known = labels.len() / outputs.max(1);
    let features = whole(features);
    let (labelled, others) = features.split_at(known * width);
    let centre: Vec<f64> = means(labelled, width);
    let middle: Vec<f64> = means(labels, outputs);
    let mut products = vec![0.0; width * width];
    let mut right = vec![0.0; width * outputs];
    let from_centre = |row: &[f32]| -> Vec<f64> {
        let cells = row.iter().zip(&centre);
        cells
            .map(|(value, mean)| f64::from(*value) - mean)
            .collect()
    };
    if width > MOST_COLUMNS {
        return median(&features, width, labels, outputs);
    }
    for (row, label) in labelled
        .chunks_exact(width)
        .zip(labels.chunks_exact(outputs))
    {
        let row = from_centre(row);
        for (i, a) in row.iter().enumerate() {
            for (j, b) in row.iter().enumerate() {
                products[i * width + j] += a * b;
            }
            for (output, value) in label.iter().enumerate() {
                right[i * outputs + output] += a * (f64::from(*value) - middle[output]);
            }
        }
    }
    (0..width).for_each(|i| products[i * width + i] += PENALTY);
    let Some(inverse) = inverse(products, width) else {
        return median(&features, width, labels, outputs);
    };
    let weight = |column: usize, output: usize| -> f64 {
        let row = &inverse[column * width..][..width];
        let terms = row.iter().enumerate();
        terms
            .map(|(j, value)| value * right[j * outputs + output])
            .sum()
    };
    let weights: Vec<f64> = (0..width * outputs)
        .map(|at| weight(at / outputs, at % outputs))
        .collect();
    let of_row = |row: &[f32]| -> Vec<f32> {
        let row = from_centre(row);
        let value = |output: usize| {
            let terms = row.iter().enumerate();
            let sum: f64 = terms.map(|(i, a)| a * weights[i * outputs + output]).sum();
            (middle[output] + sum) as f32
        };
        (0..outputs).map(value).collect()
    };
    others.chunks_exact(width).flat_map(of_row).collect()
}

fn means(rows: &[f32], width: usize) -> Vec<f64> {
    let count = (rows.len() / width.max(1)).max(1) as f64;
    let mean = |column: usize| {
        let values = rows.iter().skip(column).step_by(width.max(1));
        values.map(|value| f64::from(*value)).sum::<f64>() / count
    };
    (0..width).map(mean).collect()
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
    fn neighbours_and_medians_are_among_the_labels() {
        let (features, labels) = plane();
        let near = neighbours(&features, 2, &labels, 2);
        assert!(
            near[0] > 20.0 && near[0] < 29.0 && (near[1] - 7.0).abs() < 1e-5,
            "{near:?}"
        );
        let mut sorted: Vec<f32> = labels.iter().step_by(2).copied().collect();
        sorted.sort_by(f32::total_cmp);
        assert_eq!(median(&features, 2, &labels, 2), [sorted[5], 7.0]);
    }
}
