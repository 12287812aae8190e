//! Label propagation: class probabilities for all rows from the labels of some.

use super::conjugate_gradient::solve;
use super::knn_graph::KnnGraph;
use super::pca::principal_components;
use super::{alpha, zero_filled};
use cpcvae_kernels::neighbours::nearest_others;
use serde::{Deserialize, Serialize};

/// Rows of more columns than twice this many are projected to this many principal components before
/// the neighbour search: on MNIST 15 times faster.
const COMPONENTS: usize = 50;

/// How labels are propagated.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Propagation {
    /// Neighbours of a row.
    pub neighbours: usize,
    /// alpha of Zhou et al. 2004, below 1: the weight of the neighbours' scores in a row's. `None`
    /// chooses the one with the best leave-one-out predictions.
    pub alpha: Option<f64>,
}

impl Default for Propagation {
    fn default() -> Self {
        Self {
            neighbours: 30,
            alpha: None,
        }
    }
}

/// Probabilities of the classes, `[rows, classes]`, for `features [rows, width]` of which some
/// rows have the class given in `labels` (row, class).
///
/// A missing cell (NaN) counts as 0, which is the mean of a standardised column.
///
/// Class mass normalisation: the classes share all rows in proportion to the labels. A row that no
/// label reaches gets these shares as its probabilities.
///
/// # Panics
/// If a row or class of a label is out of range.
pub fn propagate(
    features: &[f32],
    width: usize,
    labels: &[(u32, u32)],
    classes: usize,
    options: &Propagation,
) -> Vec<f32> {
    let graph = knn_graph(&zero_filled(features), width, options.neighbours);
    let alpha = options.alpha.unwrap_or_else(|| {
        let held_out = alpha::held_out(labels);
        alpha::choose(&graph, labels, &held_out, classes).0
    });
    class_probs(&graph, alpha, labels, classes)
}

/// The graph of nearest neighbours, by at most [`COMPONENTS`] principal components.
pub(super) fn knn_graph(features: &[f32], width: usize, neighbours: usize) -> KnnGraph {
    let reduced =
        (width > 2 * COMPONENTS).then(|| principal_components(features, width, COMPONENTS));
    let nearest = match &reduced {
        Some(reduced) => nearest_others(COMPONENTS, reduced, neighbours),
        None => nearest_others(width, features, neighbours),
    };
    KnnGraph::between(&nearest, features.len() / width)
}

/// [`propagate`] over a graph.
pub(super) fn class_probs(
    graph: &KnnGraph,
    alpha: f64,
    labels: &[(u32, u32)],
    classes: usize,
) -> Vec<f32> {
    let mut right = vec![0.0; graph.rows() * classes];
    let mut shares = vec![0.0; classes];
    for (row, class) in labels {
        right[*row as usize * classes + *class as usize] = 1.0;
        shares[*class as usize] += 1.0 / labels.len() as f64;
    }
    let mut class_probs = solve(graph, alpha, classes, right);
    graph.divide_by_degrees(classes, &mut class_probs);
    let mut masses = vec![0.0; classes];
    for row in class_probs.chunks_exact(classes) {
        masses.iter_mut().zip(row).for_each(|(mass, b)| *mass += b);
    }
    for row in class_probs.chunks_exact_mut(classes) {
        for ((row_probs, mass), share) in row.iter_mut().zip(&masses).zip(&shares) {
            *row_probs *= if *mass > 0.0 { share / mass } else { 0.0 };
        }
    }
    normalised(&mut class_probs, &shares)
}

/// Rows normalised to sum 1; the class shares where all are zero.
fn normalised(class_probs: &mut [f64], shares: &[f64]) -> Vec<f32> {
    for row in class_probs.chunks_exact_mut(shares.len()) {
        let sum: f64 = row.iter().sum();
        if sum > 0.0 {
            row.iter_mut().for_each(|row_probs| *row_probs /= sum);
        } else {
            row.copy_from_slice(shares);
        }
    }
    class_probs
        .iter()
        .map(|row_probs| *row_probs as f32)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpcvae_data::{HalfMoon, HalfMoonLabels};

    fn accuracy(seed: u64) -> f64 {
        let moons = HalfMoon {
            setting: HalfMoonLabels::Random,
            seed,
            ..HalfMoon::default()
        };
        let source = moons.generate().unwrap();
        let (rows, split) = (source.rows, source.split.unwrap());
        let class = |row: &u32| rows.labels.class_of(*row).unwrap();
        let labels: Vec<(u32, u32)> = split.labelled.iter().map(|r| (*r, class(r))).collect();
        let options = Propagation::default();
        let class_probs = propagate(&rows.features.matrix().values, 2, &labels, 2, &options);
        let is_right = |row: &&u32| {
            let row_probs = &class_probs[**row as usize * 2..][..2];
            (row_probs[1] > row_probs[0]) == (class(row) == 1)
        };
        split.unlabelled.iter().filter(is_right).count() as f64 / split.unlabelled.len() as f64
    }

    #[test]
    fn three_labels_a_moon_say_nearly_everything() {
        let mean = (0..10).map(accuracy).sum::<f64>() / 10.0;
        assert!(mean > 0.97, "{mean}");
    }

    #[test]
    fn class_probs_are_probabilities_in_the_shares_of_the_labels() {
        // Two clusters, the second one twice as large but with a third of the labels.
        let points: Vec<f32> = (0..30)
            .map(|i| {
                if i < 10 {
                    i as f32 * 0.01
                } else {
                    5.0 + i as f32 * 0.01
                }
            })
            .collect();
        let labels = [(0, 0), (3, 0), (20, 1)];
        let options = Propagation {
            neighbours: 3,
            alpha: Some(0.9),
        };
        let class_probs = propagate(&points, 1, &labels, 2, &options);
        for (row, class_probs) in class_probs.chunks_exact(2).enumerate() {
            assert!((class_probs[0] + class_probs[1] - 1.0).abs() < 1e-5);
            assert_eq!(
                class_probs[1] > 0.5,
                row >= 10,
                "row {row}: {class_probs:?}"
            );
        }
    }

    #[test]
    fn missing_cells_count_as_zero() {
        let filled = [0.0, 0.1, 0.0, 5.0, 5.1, 5.3, 0.4, 4.7];
        let mut gaps = filled;
        gaps[2] = f32::NAN;
        let spread = |rows: &[f32]| {
            let options = Propagation {
                neighbours: 2,
                alpha: Some(0.9),
            };
            propagate(rows, 1, &[(0, 0), (3, 1)], 2, &options)
        };
        assert_eq!(spread(&gaps), spread(&filled));
        assert!(spread(&gaps).iter().all(|share| share.is_finite()));
    }

    #[test]
    fn a_row_that_no_label_reaches_gets_the_shares() {
        let points = [0.0, 0.1, 0.2, 50.0, 50.1, 50.2];
        let options = Propagation {
            neighbours: 2,
            alpha: Some(0.9),
        };
        let class_probs = propagate(&points, 1, &[(0, 0), (1, 0), (2, 1)], 2, &options);
        assert!(
            (class_probs[3 * 2] - 2.0 / 3.0).abs() < 1e-5,
            "{class_probs:?}"
        );
        let alone = propagate(&[1.0], 1, &[(0, 1)], 2, &options);
        assert_eq!(alone, [0.0, 1.0]);
    }
}
