//! Label propagation with predictions for new rows.

use super::propagate::{Propagation, class_probs, knn_graph};
use super::{alpha, zero_filled};
use cpcvae_kernels::neighbours::nearest;

/// The number of neighbours that predict a new row.
pub(crate) const NEIGHBOURS: usize = 10;
/// Smaller distances count as this.
pub(crate) const NEAREST_DISTANCE: f64 = 1e-6;

/// Rows with and without a label, and the class probabilities propagated to them.
///
/// A new row gets the mean of its ten nearest rows, each weighted by one over its distance: so the
/// graph need not be solved again.
#[derive(Clone, Debug, PartialEq)]
pub struct Spread {
    columns: usize,
    classes: usize,
    /// `[rows, columns]`
    rows: Vec<f32>,
    /// `[rows, classes]`
    class_probs: Vec<f32>,
}

/// Leave-one-out predictions of label propagation for some labels.
#[derive(Clone, Debug, PartialEq)]
pub struct LeaveOneOut {
    /// Indices into the list of labels.
    pub labels: Vec<usize>,
    /// `[labels, classes]`, rows sum to 1.
    pub class_probs: Vec<f32>,
}

impl Spread {
    /// Propagates `labels` (row, class) over `rows [rows, columns]`. A missing cell (NaN) counts as
    /// 0.
    ///
    /// # Panics
    /// If a row or class of a label is out of range.
    pub fn fit(
        rows: Vec<f32>,
        columns: usize,
        labels: &[(u32, u32)],
        classes: usize,
    ) -> (Self, LeaveOneOut) {
        let rows = zero_filled(&rows).into_owned();
        let graph = knn_graph(&rows, columns, Propagation::default().neighbours);
        let held_out = alpha::held_out(labels);
        let (alpha, left_out) = alpha::choose(&graph, labels, &held_out, classes);
        let leave_one_out = LeaveOneOut {
            class_probs: left_out
                .chunks_exact(classes)
                .flat_map(|row| shares(row.iter().copied()))
                .collect(),
            labels: held_out,
        };
        let spread = Self {
            class_probs: class_probs(&graph, alpha, labels, classes),
            columns,
            classes,
            rows,
        };
        (spread, leave_one_out)
    }

    /// From stored parts; `None` where sizes do not match.
    pub fn kept(
        columns: usize,
        classes: usize,
        rows: Vec<f32>,
        class_probs: Vec<f32>,
    ) -> Option<Self> {
        let count = rows.len().checked_div(columns)?;
        let fits =
            count > 0 && count * columns == rows.len() && class_probs.len() == count * classes;
        fits.then_some(Self {
            columns,
            classes,
            rows,
            class_probs,
        })
    }

    /// The rows, `[rows, columns]`, and their class probabilities, `[rows, classes]`.
    pub fn parts(&self) -> (&[f32], &[f32]) {
        (&self.rows, &self.class_probs)
    }

    /// Class probabilities of new rows `[rows, columns]`: `[rows, classes]`.
    pub fn class_probs(&self, features: &[f32]) -> Vec<f32> {
        let features = &zero_filled(features)[..];
        let near = nearest(self.columns, features, &self.rows, NEIGHBOURS);
        let mut all = Vec::with_capacity(features.len() / self.columns * self.classes);
        for place in 0..features.len() / self.columns {
            let mut sums = vec![0.0f64; self.classes];
            for at in place * near.count..(place + 1) * near.count {
                let weight = 1.0 / f64::from(near.distances[at]).max(NEAREST_DISTANCE);
                let row =
                    &self.class_probs[near.rows[at] as usize * self.classes..][..self.classes];
                let pairs = sums.iter_mut().zip(row);
                pairs.for_each(|(sum, p)| *sum += weight * f64::from(*p));
            }
            all.extend(shares(sums.into_iter()));
        }
        all
    }
}

/// Values normalised to sum 1; uniform where the sum is zero.
fn shares(values: impl ExactSizeIterator<Item = f64> + Clone) -> Vec<f32> {
    let (count, sum) = (values.len(), values.clone().sum::<f64>());
    let share = |value: f64| match sum > 0.0 {
        true => (value / sum) as f32,
        false => 1.0 / count as f32,
    };
    values.map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_carries_its_label_to_new_rows() {
        // Two chains, farther apart than the neighbours of a row; each has one label, at its
        // beginning.
        let rows: Vec<f32> = (0..120)
            .flat_map(|i| [(i % 60) as f32, if i < 60 { 0.0 } else { 100.0 }])
            .collect();
        let labels = [(0, 0), (60, 1)];
        let (spread, leave_one_out) = Spread::fit(rows, 2, &labels, 2);
        let class_probs = spread.class_probs(&[58.5, 0.3, 58.5, 99.5]);
        assert!(
            class_probs[0] > 0.6 && class_probs[3] > 0.6,
            "{class_probs:?}"
        );
        assert!((class_probs[0] + class_probs[1] - 1.0).abs() < 1e-5);
        assert_eq!(
            (leave_one_out.labels, leave_one_out.class_probs.len()),
            (vec![0, 1], 4)
        );
        let (rows, class_probs) = spread.parts();
        let same = Spread::kept(2, 2, rows.to_vec(), class_probs.to_vec());
        assert_eq!(same, Some(spread.clone()));
        assert_eq!(
            Spread::kept(3, 2, rows.to_vec(), class_probs.to_vec()),
            None
        );
    }
}
