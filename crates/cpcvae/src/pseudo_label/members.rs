//! Classifiers of the labelled rows alone, the other members of an ensemble.

use super::forest::{Forest, RandomForest};
use super::labelled::{Classifier, Labelled};
use super::logistic::Logistic;
use super::ridge::Ridge;
use super::trees::Trees;
use super::zero_filled;

/// Four classifiers fitted to the same labels.
#[derive(Clone, Debug)]
pub struct Members {
    columns: usize,
    classes: usize,
    extra_trees: Forest,
    random_forest: RandomForest,
    logistic: Logistic,
    ridge: Option<Ridge>,
}

impl Members {
    /// Their names, in the order of their predictions.
    pub const NAMES: [&str; 4] = [
        "extra-trees",
        "random-forest",
        "logistic-regression",
        "kernel-ridge",
    ];

    /// Prior weights, which sum to 1: trees are most often best with few labels.
    pub(crate) const PRIORS: [f64; 4] = [0.5, 0.2, 0.2, 0.1];

    /// Fits them to `labels` (row, class), at least one, of `features [rows, columns]`. A missing
    /// cell (NaN) counts as 0.
    ///
    /// # Panics
    /// If a row or class of a label is out of range.
    pub fn fit(features: &[f32], columns: usize, labels: &[(u32, u32)], classes: usize) -> Self {
        let features = &zero_filled(features)[..];
        let data = Labelled {
            features,
            columns,
            labels,
            classes,
        };
        Self {
            columns,
            classes,
            extra_trees: Forest::fit_all(data),
            random_forest: RandomForest::fit_all(data),
            logistic: Logistic::fit_all(data),
            ridge: Ridge::fit(features, columns, labels, classes),
        }
    }

    /// The forests: extremely randomised trees and a random forest.
    pub(crate) fn forests(&self) -> [&Trees; 2] {
        [&self.extra_trees.0, &self.random_forest.0]
    }

    /// The logistic regression.
    pub(crate) fn logistic(&self) -> &Logistic {
        &self.logistic
    }

    /// The kernel ridge regression, if it could be solved.
    pub(crate) fn ridge(&self) -> Option<&Ridge> {
        self.ridge.as_ref()
    }

    /// Columns of a row.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The predictions of each for rows `[rows, columns]`: `[rows, classes]`.
    pub fn class_probs(&self, features: &[f32]) -> Vec<Vec<f32>> {
        let features = &zero_filled(features)[..];
        let equal =
            || vec![1.0 / self.classes as f32; features.len() / self.columns * self.classes];
        vec![
            self.extra_trees.class_probs(features),
            self.random_forest.class_probs(features),
            self.logistic.class_probs(features),
            self.ridge
                .as_ref()
                .map_or_else(equal, |ridge| ridge.class_probs(features)),
        ]
    }

    /// Out-of-fold predictions of each for the labelled rows: `[labels, classes]`.
    pub fn left_out(&self, features: &[f32], labels: &[(u32, u32)]) -> Vec<Vec<f32>> {
        let features = &zero_filled(features)[..];
        let data = Labelled {
            features,
            columns: self.columns,
            labels,
            classes: self.classes,
        };
        let equal = || vec![1.0 / self.classes as f32; labels.len() * self.classes];
        vec![
            Forest::left_out(data),
            RandomForest::left_out(data),
            Logistic::left_out(data),
            self.ridge
                .as_ref()
                .map_or_else(equal, |ridge| ridge.left_out(labels.len())),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probabilities::largest;
    use cpcvae_kernels::random::{Stream, normal};

    #[test]
    fn all_four_find_a_shift_and_left_out_answers_do_not_know_the_label() {
        let (rows, columns) = (400, 4);
        let mut features = vec![0.0; rows * columns];
        let stream = Stream {
            seed: 11,
            step: 0,
            purpose: 0,
        };
        normal(stream, &mut features);
        let labels: Vec<(u32, u32)> = (0..rows as u32).map(|row| (row, row % 2)).collect();
        for (row, class) in &labels {
            features[*row as usize * columns] += 3.0 * *class as f32;
        }
        let known = &labels[..60];
        let members = Members::fit(&features, columns, known, 2);
        let right = |class_probs: &[f32], labels: &[(u32, u32)]| {
            let rows = class_probs.chunks_exact(2).zip(labels);
            let right = rows.filter(|(p, (_, class))| largest(p) == *class as usize);
            right.count() as f64 / labels.len() as f64
        };
        let new = members.class_probs(&features[60 * columns..]);
        let left_out = members.left_out(&features, known);
        for (name, (new, left_out)) in Members::NAMES.iter().zip(new.iter().zip(&left_out)) {
            // The best possible accuracy is 93 %.
            let (new, left_out) = (right(new, &labels[60..]), right(left_out, known));
            assert!(new > 0.85, "{name}: {new}");
            assert!((0.8..1.0).contains(&left_out), "{name}: {left_out}");
        }
        assert_eq!(members.class_probs(&features[..8])[0].len(), 4);
    }
}
