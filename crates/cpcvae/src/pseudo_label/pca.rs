//! PCA: rows of many columns projected to few, nearly keeping distances.

use cpcvae_kernels::product::product_f32;
use cpcvae_kernels::random::{Stream, normal};

/// Subspace iterations; the search for neighbours needs the subspace, not single components.
const ITERATIONS: usize = 20;
/// The most columns for which the covariance matrix is computed.
const WIDEST: usize = 2000;

/// The coordinates of rows `[n, width]` along their `count` leading principal components,
/// `[n, count]`.
pub(crate) fn principal_components(rows: &[f32], width: usize, count: usize) -> Vec<f32> {
    Components::fit(rows, width, count).coordinates(rows)
}

/// The subspace of the leading principal components of some rows.
pub(crate) struct Components {
    /// The mean row, `[width]`.
    pub(crate) mean: Vec<f32>,
    /// Orthonormal rows `[count, width]`.
    pub(crate) directions: Vec<f32>,
}

impl Components {
    /// The `count` leading ones of rows `[n, width]`.
    pub(crate) fn fit(rows: &[f32], width: usize, count: usize) -> Self {
        let n = rows.len() / width;
        let mut mean = vec![0.0f64; width];
        for row in rows.chunks_exact(width) {
            let sums = mean.iter_mut().zip(row);
            sums.for_each(|(sum, value)| *sum += f64::from(*value) / n as f64);
        }
        let mean: Vec<f32> = mean.into_iter().map(|mean| mean as f32).collect();
        let directions = leading_directions(&centred(rows, &mean), width, count);
        Self { mean, directions }
    }

    /// The coordinates of rows `[n, width]` in it, `[n, count]`.
    pub(crate) fn coordinates(&self, rows: &[f32]) -> Vec<f32> {
        let width = self.mean.len();
        let (n, count) = (rows.len() / width, self.directions.len() / width);
        let mut coordinates = vec![0.0; n * count];
        product_f32(
            [n, width, count],
            (&centred(rows, &self.mean), false),
            (&self.directions, true),
            &mut coordinates,
        );
        coordinates
    }
}

/// Rows less their mean.
fn centred(rows: &[f32], mean: &[f32]) -> Vec<f32> {
    let row = |row: &[f32]| -> Vec<f32> {
        let pairs = row.iter().zip(mean);
        pairs.map(|(value, mean)| value - mean).collect()
    };
    rows.chunks_exact(mean.len()).flat_map(row).collect()
}

/// Orthonormal rows `[count, width]` that span the leading components of `centred [n, width]`, by
/// subspace iteration.
fn leading_directions(centred: &[f32], width: usize, count: usize) -> Vec<f32> {
    let n = centred.len() / width;
    // For wide rows the covariance would be larger than the rows, and slower than multiplying by
    // the rows in each iteration.
    let covariance = (width <= WIDEST).then(|| {
        let mut covariance = vec![0.0; width * width];
        let shape = [width, n, width];
        product_f32(shape, (centred, true), (centred, false), &mut covariance);
        covariance
    });

    // [count, width]: a row for each direction.
    let mut directions = vec![0.0; count * width];
    let stream = Stream {
        seed: 0,
        step: 0,
        purpose: 0,
    };
    normal(stream, &mut directions);
    orthonormalise(&mut directions, width);
    let mut image = vec![0.0; count * width];
    let mut along = vec![0.0; if covariance.is_none() { count * n } else { 0 }];
    for _ in 0..ITERATIONS {
        match &covariance {
            Some(covariance) => {
                let shape = [count, width, width];
                product_f32(shape, (&directions, false), (covariance, false), &mut image);
            }
            None => {
                let shape = [count, width, n];
                product_f32(shape, (&directions, false), (centred, true), &mut along);
                let shape = [count, n, width];
                product_f32(shape, (&along, false), (centred, false), &mut image);
            }
        }
        std::mem::swap(&mut directions, &mut image);
        orthonormalise(&mut directions, width);
    }
    directions
}

/// Gram-Schmidt over the rows, twice against rounding errors. A linearly dependent direction
/// becomes zero.
fn orthonormalise(directions: &mut [f32], width: usize) {
    for place in 0..directions.len() / width {
        let (before, rest) = directions.split_at_mut(place * width);
        let direction = &mut rest[..width];
        for _ in 0..2 {
            for other in before.chunks_exact(width) {
                let along = dot(direction, other) as f32;
                let pairs = direction.iter_mut().zip(other);
                pairs.for_each(|(value, other)| *value -= along * other);
            }
        }
        let length = dot(direction, direction).sqrt();
        let factor = if length > 1e-20 {
            (1.0 / length) as f32
        } else {
            0.0
        };
        direction.iter_mut().for_each(|value| *value *= factor);
    }
}

fn dot(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(a, b)| f64::from(a * b)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_among_many_columns() {
        let width = WIDEST + 1;
        let mut places = vec![0.0; 12];
        let stream = Stream {
            seed: 2,
            step: 0,
            purpose: 0,
        };
        normal(stream, &mut places);
        let rows: Vec<f32> = places
            .iter()
            .flat_map(|place| (0..width).map(move |i| 3.0 + place * (i % 5) as f32))
            .collect();
        let found = principal_components(&rows, width, 1);
        let length = (0..width)
            .map(|i| ((i % 5) * (i % 5)) as f32)
            .sum::<f32>()
            .sqrt();
        let (expected, actual) = (
            (places[3] - places[7]).abs() * length,
            (found[3] - found[7]).abs(),
        );
        assert!(
            (expected - actual).abs() < 1e-3 * expected,
            "{expected} {actual}"
        );
    }

    #[test]
    fn distances_within_a_plane_are_kept() {
        // Rows in a plane of a space of 6 dimensions, far from the origin.
        let [u, v] = [
            [1.0, 0.0, 2.0, 0.0, 1.0, 0.0f32],
            [0.0, 3.0, 0.0, 1.0, 0.0, 1.0],
        ];
        let mut places = vec![0.0; 40];
        normal(
            Stream {
                seed: 1,
                step: 0,
                purpose: 0,
            },
            &mut places,
        );
        let rows: Vec<f32> = places
            .chunks_exact(2)
            .flat_map(|p| {
                (0..6)
                    .map(|i| 20.0 + p[0] * u[i] + p[1] * v[i])
                    .collect::<Vec<_>>()
            })
            .collect();
        let found = principal_components(&rows, 6, 2);
        let distance = |rows: &[f32], width: usize, a: usize, b: usize| {
            let (a, b) = (&rows[a * width..][..width], &rows[b * width..][..width]);
            a.iter()
                .zip(b)
                .map(|(a, b)| (a - b).powi(2))
                .sum::<f32>()
                .sqrt()
        };
        for (a, b) in [(0, 1), (3, 19), (7, 8)] {
            let (before, after) = (distance(&rows, 6, a, b), distance(&found, 2, a, b));
            assert!((before - after).abs() < 1e-3 * before, "{before} {after}");
        }
    }
}
