//! Classifiers from the labelled rows alone: extremely randomised trees (Geurts et al. 2006) and a
//! random forest (Breiman 2001).
//!
//! A split uses one column at a time, so uninformative columns and different scales do no harm:
//! trees often work where distances between rows do not.

use super::labelled::{Classifier, Labelled};
use super::trees::{ClassTargets, Growth, Known, Splits, Trees};
use super::zero_filled;

/// Probabilities of the classes, `[rows, classes]`, for `features [rows, width]` of which some
/// rows have the class given in `labels` (row, class), by a forest grown on these. A missing cell
/// (NaN) counts as 0.
///
/// # Panics
/// If a row or class of a label is out of range.
pub fn forest(features: &[f32], width: usize, labels: &[(u32, u32)], classes: usize) -> Vec<f32> {
    let features = &zero_filled(features)[..];
    let data = Labelled {
        features,
        columns: width,
        labels,
        classes,
    };
    Forest::fit_all(data).class_probs(features)
}

/// Extremely randomised trees.
#[derive(Clone, Debug)]
pub(super) struct Forest(pub(super) Trees);

/// A random forest.
#[derive(Clone, Debug)]
pub(super) struct RandomForest(pub(super) Trees);

/// Each split considers the square root of the number of columns.
fn grow(data: Labelled<'_>, used: &[usize], splits: Splits) -> Trees {
    let rows: Vec<u32> = data.labels.iter().map(|(row, _)| *row).collect();
    let known = Known {
        features: data.features,
        columns: data.columns,
        rows: &rows,
        targets: ClassTargets {
            labels: data.labels,
            classes: data.classes,
        },
    };
    let growth = Growth {
        splits,
        asked: (data.columns as f64).sqrt().ceil() as usize,
    };
    Trees::grow(known, used, growth)
}

impl Classifier for RandomForest {
    fn fit(data: Labelled<'_>, used: &[usize]) -> Self {
        Self(grow(data, used, Splits::Best))
    }

    fn row_probs(&self, row: &[f32]) -> Vec<f32> {
        self.0.mean(row)
    }

    fn columns(&self) -> usize {
        self.0.columns()
    }
}

impl Classifier for Forest {
    fn fit(data: Labelled<'_>, used: &[usize]) -> Self {
        Self(grow(data, used, Splits::Random))
    }

    fn row_probs(&self, row: &[f32]) -> Vec<f32> {
        self.0.mean(row)
    }

    fn columns(&self) -> usize {
        self.0.columns()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probabilities::largest;
    use cpcvae_kernels::random::{Stream, uniform};

    /// The class depends on the half of column 0 that a row is in; nine more columns are noise.
    fn rows(rows: usize) -> (Vec<f32>, Vec<(u32, u32)>) {
        let mut features = vec![0.0; rows * 10];
        let stream = Stream {
            seed: 3,
            step: 0,
            purpose: 0,
        };
        uniform(stream, &mut features);
        let class = |row: u32| (row, u32::from(features[row as usize * 10] > 0.5));
        let labels = (0..rows as u32).map(class).collect();
        (features, labels)
    }

    fn labelled<'a>(features: &'a [f32], labels: &'a [(u32, u32)]) -> Labelled<'a> {
        Labelled {
            features,
            columns: 10,
            labels,
            classes: 2,
        }
    }

    #[test]
    fn labels_are_known_by_heart_and_new_rows_mostly() {
        let (features, labels) = rows(500);
        let data = labelled(&features, &labels[..100]);
        let forest = Forest::fit_all(data);
        let class_probs = forest.class_probs(&features);
        let is_right =
            |row: &usize| largest(&class_probs[row * 2..][..2]) == labels[*row].1 as usize;
        assert!((0..100).all(|row| is_right(&row)));
        let right = (100..500).filter(is_right).count();
        assert!(right > 360, "{right} of 400");
        let sums = class_probs.chunks_exact(2).map(|b| b[0] + b[1]);
        assert!(sums.into_iter().all(|sum| (sum - 1.0).abs() < 1e-4));
    }

    #[test]
    fn labels_are_found_again_only_where_columns_tell() {
        let (features, labels) = rows(100);
        let found = |labels: &[(u32, u32)]| {
            let left_out = Forest::left_out(labelled(&features, labels));
            let rows = left_out.chunks_exact(2).zip(labels);
            rows.filter(|(row_probs, (_, class))| largest(row_probs) == *class as usize)
                .count()
        };
        assert!(found(&labels) > 80);
        let at_random: Vec<(u32, u32)> = (0..100).map(|row| (row, row / 3 % 2)).collect();
        let found = found(&at_random);
        assert!((25..75).contains(&found), "{found}");
    }

    #[test]
    fn rows_that_are_all_alike_share_a_leaf() {
        let features = vec![1.0; 40];
        let labels = [(0, 0), (1, 1), (2, 1), (3, 1)];
        let forest = Forest::fit_all(labelled(&features, &labels));
        let row_probs = forest.row_probs(&features[..10]);
        assert!((row_probs[0] - 0.25).abs() < 1e-3 && (row_probs[1] - 0.75).abs() < 1e-3);
    }
}
