//! A classifier from the labelled rows alone: ridge regression of one-hot classes on a kernel.
//!
//! It is solved exactly, and what it would say of each labelled row without that row's label
//! comes with the solution, so kernel and penalty can be judged without training twice.

use super::cholesky::inverse;
use crate::probabilities::largest;
use rayon::prelude::*;

/// With more labels, this many of them are used: the cost grows with their cube.
const MOST_LABELS: usize = 500;
/// Penalties tried, as shares of the kernel's mean diagonal.
const PENALTIES: [f64; 4] = [1e-3, 1e-2, 1e-1, 1.0];
/// Widths of the RBF kernel tried, as multiples of the labelled rows' median squared distance.
const WIDTHS: [f64; 3] = [0.25, 1.0, 4.0];

/// How alike two rows are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kernel {
    /// `1 + a b / columns`
    Linear,
    /// `exp(-|a - b|^2 / width)`
    Rbf(f64),
}

/// A fitted classifier.
#[derive(Clone, Debug)]
pub(crate) struct Ridge {
    kernel: Kernel,
    columns: usize,
    classes: usize,
    /// The labelled rows, `[labels, columns]`.
    rows: Vec<f32>,
    /// `[labels, classes]`
    coefficients: Vec<f64>,
    /// What it says of each labelled row without that row's label, `[labels, classes]`.
    left_out: Vec<f64>,
    /// Places in the list of labels of the rows used.
    used: Vec<usize>,
}

impl Ridge {
    /// Where scores are held before they are taken for probabilities: they estimate these, but may
    /// lie a little outside of their range.
    pub(crate) const RANGE: (f64, f64) = (1e-3, 1.0);

    /// How alike rows are.
    pub(crate) fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// The labelled rows, `[labels, columns]`, and their coefficients, `[labels, classes]`.
    pub(crate) fn parts(&self) -> (&[f32], &[f64]) {
        (&self.rows, &self.coefficients)
    }

    /// The kernel and penalty under which most labelled rows are found again from the others.
    /// `None` without labels.
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
        let rbfs = WIDTHS.map(|width| Kernel::Rbf(width * median));
        let mut best: Option<(usize, Self)> = None;
        for kernel in [Kernel::Linear].into_iter().chain(rbfs) {
            let n = known.len();
            let alike = kernel.between(&rows, columns);
            let diagonal = (0..n).map(|i| alike[i * n + i]).sum::<f64>() / n as f64;
            for penalty in PENALTIES {
                let mut matrix = alike.clone();
                (0..n).for_each(|i| matrix[i * n + i] += penalty * diagonal);
                let Some(inverse) = inverse(matrix, n) else {
                    continue;
                };
                let (coefficients, left_out) = solve_classes(&inverse, &known, classes);
                let found = found(&left_out, &known, classes);
                if best.as_ref().is_none_or(|(most, _)| found > *most) {
                    let (rows, used) = (rows.clone(), used.clone());
                    let ridge = Self {
                        kernel,
                        columns,
                        classes,
                        rows,
                        coefficients,
                        left_out,
                        used,
                    };
                    best = Some((found, ridge));
                }
            }
        }
        best.map(|(_, ridge)| ridge)
    }

    /// What it says of each of `labels` labelled rows without that row's label, `[labels, classes]`;
    /// equal shares for those that it does not use.
    pub(super) fn left_out(&self, labels: usize) -> Vec<f32> {
        let mut beliefs = vec![1.0 / self.classes as f32; labels * self.classes];
        let rows = self.left_out.chunks_exact(self.classes);
        for (place, row) in self.used.iter().zip(rows) {
            // Targets are less equal shares.
            let scores = row.iter().map(|score| score + 1.0 / self.classes as f64);
            let belief = as_probabilities(scores.collect());
            beliefs[place * self.classes..][..self.classes].copy_from_slice(&belief);
        }
        beliefs
    }

    /// Probabilities of the classes for `features [rows, columns]`: `[rows, classes]`.
    pub(super) fn beliefs(&self, features: &[f32]) -> Vec<f32> {
        let rows = features.par_chunks_exact(self.columns);
        rows.flat_map_iter(|row| {
            let mut scores = vec![1.0 / self.classes as f64; self.classes];
            let known = self.rows.chunks_exact(self.columns);
            for (known, coefficients) in known.zip(self.coefficients.chunks_exact(self.classes)) {
                let alike = self.kernel.of(row, known);
                let sums = scores.iter_mut().zip(coefficients);
                sums.for_each(|(score, coefficient)| *score += alike * coefficient);
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

impl Kernel {
    pub(crate) fn of(self, a: &[f32], b: &[f32]) -> f64 {
        let pairs = a.iter().zip(b).map(|(a, b)| (f64::from(*a), f64::from(*b)));
        match self {
            Self::Linear => 1.0 + pairs.map(|(a, b)| a * b).sum::<f64>() / a.len() as f64,
            Self::Rbf(width) => (-pairs.map(|(a, b)| (a - b) * (a - b)).sum::<f64>() / width).exp(),
        }
    }

    /// Of each row `[rows, columns]` with each: `[rows, rows]`.
    pub(crate) fn between(self, rows: &[f32], columns: usize) -> Vec<f64> {
        let row = |at: usize| &rows[at * columns..][..columns];
        let n = rows.len() / columns.max(1);
        (0..n * n)
            .map(|i| self.of(row(i / n), row(i % n)))
            .collect()
    }
}

/// [`solve`] for one-hot classes less equal shares.
fn solve_classes(inverse: &[f64], known: &[u32], classes: usize) -> (Vec<f64>, Vec<f64>) {
    solve(inverse, [known.len(), classes], |i, k| {
        f64::from(u8::from(known[i] as usize == k)) - 1.0 / classes as f64
    })
}

/// Coefficients `G Y`, and `y_i - (G Y)_i / G_ii` for each row: what the others say of it; both
/// `[rows, outputs]`, for the inverse `G` of the kernel with its penalty, and targets `Y`.
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

fn found(left_out: &[f64], known: &[u32], classes: usize) -> usize {
    let rows = left_out.chunks_exact(classes).zip(known);
    rows.filter(|(row, class)| largest(row) == **class as usize)
        .count()
}

/// The median squared distance between rows, at least a little.
pub(crate) fn median_square(rows: &[f32], columns: usize) -> f64 {
    let n = rows.len() / columns;
    let row = |i: usize| &rows[i * columns..][..columns];
    let mut squares: Vec<f64> = (0..n)
        .flat_map(|i| (0..i).map(move |j| (i, j)))
        .map(|(i, j)| {
            let pairs = row(i).iter().zip(row(j));
            pairs.map(|(a, b)| f64::from(a - b).powi(2)).sum()
        })
        .collect();
    squares.sort_by(f64::total_cmp);
    squares
        .get(squares.len() / 2)
        .copied()
        .unwrap_or(1.0)
        .max(1e-12)
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
    fn two_clouds_are_told_apart() {
        let (features, labels) = clouds(1000);
        let ridge = Ridge::fit(&features, 3, &labels[..100], 2).unwrap();
        let beliefs = ridge.beliefs(&features[100 * 3..]);
        let right = beliefs
            .chunks_exact(2)
            .zip(&labels[100..])
            .filter(|(b, (_, class))| (b[1] > b[0]) == (*class == 1))
            .count();
        // The best any classifier can do is 84 %.
        assert!(right as f64 / 900.0 > 0.79, "{right}");
        assert!(
            beliefs
                .chunks_exact(2)
                .all(|b| (b[0] + b[1] - 1.0).abs() < 1e-5)
        );
    }
}
