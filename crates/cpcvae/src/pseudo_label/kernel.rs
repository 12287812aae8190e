//! Kernel functions.

/// A kernel function of two rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kernel {
    /// `1 + a b / columns`
    Linear,
    /// `exp(-|a - b|^2 / width)`
    Rbf(f64),
}

impl Kernel {
    pub(crate) fn of(self, a: &[f32], b: &[f32]) -> f64 {
        let pairs = a.iter().zip(b).map(|(a, b)| (f64::from(*a), f64::from(*b)));
        match self {
            Self::Linear => 1.0 + pairs.map(|(a, b)| a * b).sum::<f64>() / a.len() as f64,
            Self::Rbf(width) => (-pairs.map(|(a, b)| (a - b) * (a - b)).sum::<f64>() / width).exp(),
        }
    }

    /// The kernel matrix of rows `[rows, columns]`: `[rows, rows]`.
    pub(crate) fn between(self, rows: &[f32], columns: usize) -> Vec<f64> {
        let row = |at: usize| &rows[at * columns..][..columns];
        let n = rows.len() / columns.max(1);
        (0..n * n)
            .map(|i| self.of(row(i / n), row(i % n)))
            .collect()
    }
}

/// The median squared distance between rows, bounded away from zero.
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
