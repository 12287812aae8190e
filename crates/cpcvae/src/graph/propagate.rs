//! Class probabilities for all rows from the labels of some.

use super::conjugate_gradient::solve;
use super::links::Links;
use cpcvae_kernels::neighbours::nearest_others;
use serde::{Deserialize, Serialize};

/// How labels spread.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Propagation {
    /// Neighbours of a row.
    pub neighbours: usize,
    /// How far labels reach, below 1: the share of its neighbours' beliefs that a row takes over.
    pub reach: f64,
}

impl Default for Propagation {
    fn default() -> Self {
        Self {
            neighbours: 15,
            reach: 0.99,
        }
    }
}

/// Probabilities of the classes, `[rows, classes]`, for `features [rows, width]` of which some
/// rows have the class given in `labels` (row, class).
///
/// The classes share all rows as they share the labels (class masses). A row that no label
/// reaches gets these shares as its probabilities.
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
    let neighbours = nearest_others(width, features, options.neighbours);
    let rows = features.len() / width;
    let mut right = vec![0.0; rows * classes];
    let mut shares = vec![0.0; classes];
    for (row, class) in labels {
        right[*row as usize * classes + *class as usize] = 1.0;
        shares[*class as usize] += 1.0 / labels.len() as f64;
    }
    if neighbours.count == 0 {
        return normalised(&mut right, &shares);
    }
    let links = Links::between(&neighbours);
    debug_assert_eq!(links.rows(), rows);
    let mut beliefs = solve(&links, options.reach, classes, right);
    for (beliefs, degree) in beliefs.chunks_exact_mut(classes).zip(&links.degrees) {
        // Rounding may leave a hair below zero where nothing arrives.
        beliefs
            .iter_mut()
            .for_each(|b| *b = b.max(0.0) / degree.sqrt());
    }
    let mut masses = vec![0.0; classes];
    for beliefs in beliefs.chunks_exact(classes) {
        masses
            .iter_mut()
            .zip(beliefs)
            .for_each(|(mass, b)| *mass += b);
    }
    for beliefs in beliefs.chunks_exact_mut(classes) {
        for ((belief, mass), share) in beliefs.iter_mut().zip(&masses).zip(&shares) {
            *belief *= if *mass > 0.0 { share / mass } else { 0.0 };
        }
    }
    normalised(&mut beliefs, &shares)
}

/// Rows that add up to 1; those of zeros become the shares.
fn normalised(beliefs: &mut [f64], shares: &[f64]) -> Vec<f32> {
    for row in beliefs.chunks_exact_mut(shares.len()) {
        let sum: f64 = row.iter().sum();
        if sum > 0.0 {
            row.iter_mut().for_each(|belief| *belief /= sum);
        } else {
            row.copy_from_slice(shares);
        }
    }
    beliefs.iter().map(|belief| *belief as f32).collect()
}
