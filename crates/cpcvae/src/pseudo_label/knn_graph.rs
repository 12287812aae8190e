//! The k-nearest-neighbour graph: symmetric, normalised weights.

use super::conjugate_gradient::{BLOCK, Line};
use cpcvae_kernels::neighbours::Neighbours;
use rayon::prelude::*;

/// Larger numbers give near neighbours more weight. With 8, the farthest neighbour of a row hardly
/// counts; fewer of the edges between dense regions survive than with 1 or 4.
const SHARPNESS: f64 = 8.0;

/// S = D^(-1/2) W D^(-1/2) in CSR format, where W holds the weights between neighbours and D its
/// row sums.
#[derive(Clone, Debug)]
pub(super) struct KnnGraph {
    /// Where the edges of each row begin; one more than there are rows.
    starts: Vec<usize>,
    /// The other end of each edge.
    ends: Vec<u32>,
    /// Its normalised weight.
    weights: Vec<f64>,
    /// The sum of each row's weights before they were normalised.
    degrees: Vec<f64>,
}

impl KnnGraph {
    /// Two rows are connected if one is among the other's neighbours, with the weight `exp(-8 d^2 /
    /// (s_i s_j))`, where `s` is the distance to a row's farthest neighbour: the scale adapts to
    /// the density.
    pub(super) fn between(neighbours: &Neighbours, rows: usize) -> Self {
        if neighbours.count == 0 {
            return Self::from_pairs(rows, &[]);
        }
        let count = neighbours.count;
        let of_rows = neighbours.rows.chunks(count);
        let of_rows = of_rows.zip(neighbours.distances.chunks(count));
        let scales: Vec<f64> = neighbours
            .distances
            .chunks(count)
            .map(|distances| f64::from(distances[count - 1]))
            .collect();
        let mut pairs: Vec<(u32, u32, f64)> = Vec::with_capacity(2 * neighbours.rows.len());
        for (row, (others, distances)) in of_rows.enumerate() {
            for (other, distance) in others.iter().zip(distances) {
                let square = f64::from(*distance).powi(2);
                let scale = scales[row] * scales[*other as usize];
                // Duplicate rows have weight 1, whatever the scale.
                let weight = if square == 0.0 {
                    1.0
                } else {
                    (-SHARPNESS * square / scale).exp()
                };
                pairs.push((row as u32, *other, weight));
                pairs.push((*other, row as u32, weight));
            }
        }
        pairs.par_sort_unstable_by_key(|(row, other, _)| (*row, *other));
        pairs.dedup_by_key(|(row, other, _)| (*row, *other));
        Self::from_pairs(rows, &pairs)
    }

    /// From edges sorted by row.
    fn from_pairs(rows: usize, pairs: &[(u32, u32, f64)]) -> Self {
        let mut degrees = vec![0.0; rows];
        let mut starts = vec![0; rows + 1];
        for (row, _, weight) in pairs {
            degrees[*row as usize] += weight;
            starts[*row as usize + 1] += 1;
        }
        for row in 0..rows {
            starts[row + 1] += starts[row];
        }
        let normalised = |(row, other, weight): &(u32, u32, f64)| {
            weight / (degrees[*row as usize] * degrees[*other as usize]).sqrt()
        };
        Self {
            starts,
            ends: pairs.iter().map(|(_, other, _)| *other).collect(),
            weights: pairs.iter().map(normalised).collect(),
            degrees,
        }
    }

    /// Class scores D^(-1/2) F, `[rows, columns]`, from a solution F.
    pub(super) fn divide_by_degrees(&self, columns: usize, solution: &mut [f64]) {
        for (row, degree) in solution.chunks_exact_mut(columns).zip(&self.degrees) {
            // An isolated row keeps its value. Rounding may leave a tiny negative value where no
            // label arrives.
            let factor = if *degree > 0.0 {
                1.0 / degree.sqrt()
            } else {
                1.0
            };
            row.iter_mut()
                .for_each(|value| *value = value.max(0.0) * factor);
        }
    }

    /// Number of rows.
    pub(super) fn rows(&self) -> usize {
        self.degrees.len()
    }

    /// `out = x - alpha S x`, both with one block row per row.
    pub(super) fn apply(&self, alpha: f64, x: &[Line], out: &mut [Line]) {
        for (row, out) in out.iter_mut().enumerate() {
            let mut sum = x[row];
            let links = self.starts[row]..self.starts[row + 1];
            let ends = &self.ends[links.clone()];
            for (end, weight) in ends.iter().zip(&self.weights[links]) {
                let (factor, other) = (alpha * weight, &x[*end as usize]);
                for k in 0..BLOCK {
                    sum[k] -= factor * other[k];
                }
            }
            *out = sum;
        }
    }
}
