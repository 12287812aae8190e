//! The mean of the nearest labelled rows, each weighted by one over its distance.

use super::{Continuous, Regressor};

const NEIGHBOURS: usize = 5;
/// Smaller distances count as this.
const NEAREST_DISTANCE: f64 = 1e-6;

/// The labelled rows of a nearest-neighbour regressor.
#[derive(Clone, Debug)]
pub(super) struct Neighbours {
    columns: usize,
    outputs: usize,
    /// `[labels, columns]`
    rows: Vec<f32>,
    /// `[labels, outputs]`
    values: Vec<f32>,
}

impl Neighbours {
    /// The rows, `[labels, columns]`, their values, `[labels, outputs]`, the number of neighbours,
    /// and the smallest distance.
    pub(super) fn parts(&self) -> (&[f32], &[f32], usize, f64) {
        (&self.rows, &self.values, NEIGHBOURS, NEAREST_DISTANCE)
    }
}

impl Regressor for Neighbours {
    fn fit(data: Continuous<'_>, used: &[usize]) -> Self {
        let rows = used.iter().flat_map(|at| data.row(*at));
        let values = used.iter().flat_map(|at| data.value(*at));
        Self {
            columns: data.columns,
            outputs: data.outputs,
            rows: rows.copied().collect(),
            values: values.copied().collect(),
        }
    }

    fn predict_row(&self, row: &[f32]) -> Vec<f32> {
        let squares = self.rows.chunks_exact(self.columns).map(|known| {
            let pairs = known.iter().zip(row);
            pairs.map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>()
        });
        let mut nearest: Vec<(f64, usize)> = squares.zip(0..).collect();
        nearest.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        nearest.truncate(NEIGHBOURS);
        let weight = |square: f64| 1.0 / square.sqrt().max(NEAREST_DISTANCE);
        let sum: f64 = nearest.iter().map(|(square, _)| weight(*square)).sum();
        let mut predictions = vec![0.0; self.outputs];
        for (square, at) in nearest {
            let share = (weight(square) / sum) as f32;
            let values = self.values[at * self.outputs..].iter();
            predictions
                .iter_mut()
                .zip(values)
                .for_each(|(mean, value)| *mean += share * value);
        }
        predictions
    }
}
