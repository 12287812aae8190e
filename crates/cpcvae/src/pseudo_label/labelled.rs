//! Classifiers of the labelled rows alone, and their out-of-fold predictions.

use rayon::prelude::*;

/// Folds of the cross-validation.
pub(super) const FOLDS: usize = 5;

/// Labelled rows.
#[derive(Clone, Copy)]
pub(crate) struct Labelled<'a> {
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

/// A classifier that can be fitted to labelled rows.
pub(crate) trait Classifier: Sized + Sync {
    /// Fits it to the labels whose indices are in `used`.
    fn fit(data: Labelled<'_>, used: &[usize]) -> Self;

    /// Probabilities of the classes of a row.
    fn row_probs(&self, row: &[f32]) -> Vec<f32>;

    /// Columns of a row.
    fn columns(&self) -> usize;

    /// Fits it to all labels.
    fn fit_all(data: Labelled<'_>) -> Self {
        Self::fit(data, &(0..data.labels.len()).collect::<Vec<_>>())
    }

    /// Probabilities of the classes for `features [rows, columns]`: `[rows, classes]`.
    fn class_probs(&self, features: &[f32]) -> Vec<f32> {
        let rows = features.par_chunks_exact(self.columns());
        rows.flat_map_iter(|row| self.row_probs(row)).collect()
    }

    /// Out-of-fold predictions for the labelled rows: `[labels, classes]`.
    fn left_out(data: Labelled<'_>) -> Vec<f32> {
        let fold_of = folds(data.labels, data.classes);
        let mut class_probs = vec![1.0 / data.classes as f32; data.labels.len() * data.classes];
        for fold in 0..FOLDS {
            let (held, used): (Vec<usize>, Vec<usize>) =
                (0..data.labels.len()).partition(|place| fold_of[*place] == fold);
            if held.is_empty() || used.is_empty() {
                continue;
            }
            let fitted = Self::fit(data, &used);
            for place in held {
                let row_probs = fitted.row_probs(data.row(data.labels[place].0));
                class_probs[place * data.classes..][..data.classes].copy_from_slice(&row_probs);
            }
        }
        class_probs
    }
}

/// The fold of each label, stratified: labels of a class are dealt in turn.
pub(super) fn folds(labels: &[(u32, u32)], classes: usize) -> Vec<usize> {
    let mut dealt: Vec<usize> = (0..classes).collect();
    let fold = |(_, class): &(u32, u32)| {
        let next = &mut dealt[*class as usize];
        *next += 1;
        (*next - 1) % FOLDS
    };
    labels.iter().map(fold).collect()
}
