//! Classifiers of the labelled rows alone, and how well each finds labels again from the others.

use crate::probabilities::largest;
use rayon::prelude::*;

/// Parts into which labels are dealt to find each again from the others.
const FOLDS: usize = 10;

/// Labelled rows.
#[derive(Clone, Copy)]
pub(super) struct Labelled<'a> {
    /// `[rows, columns]`
    pub(super) features: &'a [f32],
    pub(super) columns: usize,
    /// (row, class)
    pub(super) labels: &'a [(u32, u32)],
    pub(super) classes: usize,
}

impl<'a> Labelled<'a> {
    pub(super) fn row(&self, row: u32) -> &'a [f32] {
        &self.features[row as usize * self.columns..][..self.columns]
    }
}

/// What can be fitted to labelled rows.
pub(super) trait Classifier: Sized + Sync {
    /// Learns the labels whose places are in `used`.
    fn fit(data: Labelled<'_>, used: &[usize]) -> Self;

    /// Probabilities of the classes of a row.
    fn belief(&self, row: &[f32]) -> Vec<f32>;

    /// Columns of a row.
    fn columns(&self) -> usize;

    /// Learns all labels.
    fn fit_all(data: Labelled<'_>) -> Self {
        Self::fit(data, &(0..data.labels.len()).collect::<Vec<_>>())
    }

    /// Probabilities of the classes for `features [rows, columns]`: `[rows, classes]`.
    fn beliefs(&self, features: &[f32]) -> Vec<f32> {
        let rows = features.par_chunks_exact(self.columns());
        rows.flat_map_iter(|row| self.belief(row)).collect()
    }

    /// How many of the `judges` (places in `labels`) are found again from the other parts.
    fn found_again(data: Labelled<'_>, judges: &[usize]) -> usize {
        let folds = FOLDS.min(data.labels.len());
        let of_fold = |fold: usize| {
            let (held, used): (Vec<usize>, Vec<usize>) =
                (0..data.labels.len()).partition(|place| place % folds == fold);
            let held: Vec<usize> = held.into_iter().filter(|p| judges.contains(p)).collect();
            if held.is_empty() || used.is_empty() {
                return 0;
            }
            let fitted = Self::fit(data, &used);
            let is_found = |place: &&usize| {
                let (row, class) = data.labels[**place];
                largest(&fitted.belief(data.row(row))) == class as usize
            };
            held.iter().filter(is_found).count()
        };
        (0..folds).map(of_fold).sum()
    }
}
