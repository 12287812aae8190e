//! A method compared with its baselines on held-out rows.

use super::paired::Paired;
use serde::{Deserialize, Serialize};

/// A method and its baselines on the same held-out rows.
///
/// ```
/// use cpcvae::compare::{MethodScores, ScoreKind};
/// use cpcvae::prelude::*;
///
/// let scores = |name: &str, right: usize| MethodScores {
///     name: name.into(),
///     scores: (0..100).map(|row| f64::from(u8::from(row < right))).collect(),
/// };
/// let comparison = Comparison {
///     measure: ScoreKind::Accuracy,
///     folds: 5,
///     never_held_out: 0,
///     unlabelled: Some(1000),
///     ours: scores("cpc", 90),
///     labels_only: Some(scores("labels-only", 70)),
///     others: Vec::new(),
///     classes: vec![("low".into(), 50), ("high".into(), 50)],
///     class_weights: Vec::new(),
/// };
/// assert_eq!(comparison.ours.mean(), 0.9);
/// println!("{}", comparison.verdict().answer);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The kind of scores.
    pub measure: ScoreKind,
    /// Folds that labels were held out in.
    pub folds: usize,
    /// Labelled rows that were never held out, being the only ones of their class.
    pub never_held_out: usize,
    /// Rows without a label that methods could learn from; `None` in comparisons of earlier
    /// versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unlabelled: Option<usize>,
    /// The method that learns from unlabelled rows too.
    pub ours: MethodScores,
    /// The same network and steps on the labels alone.
    pub labels_only: Option<MethodScores>,
    /// Other baselines.
    pub others: Vec<MethodScores>,
    /// Names of the classes, and how many labels each has; empty for continuous labels.
    pub classes: Vec<(String, usize)>,
    /// Estimated frequency of each class among rows without a label, relative to labels; empty if
    /// unknown.
    pub class_weights: Vec<f64>,
}

/// The kind of scores of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScoreKind {
    /// 1 for a correct prediction, 0 for a wrong one, or the share of correct ones over repeats.
    Accuracy,
    /// Minus the absolute error of a continuous label.
    Error,
}

/// A method's scores on held-out rows: the same rows in the same order for all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MethodScores {
    /// Its name.
    pub name: String,
    /// One score a row; more is better.
    pub scores: Vec<f64>,
}

impl MethodScores {
    /// Mean score.
    pub fn mean(&self) -> f64 {
        self.scores.iter().sum::<f64>() / self.scores.len().max(1) as f64
    }
}

impl Comparison {
    /// All methods: ours, labels-only, the others.
    pub fn methods(&self) -> impl Iterator<Item = &MethodScores> {
        let first = std::iter::once(&self.ours);
        first.chain(&self.labels_only).chain(&self.others)
    }

    /// The best of the methods that learn from the labels alone: the network `labels-only` and the
    /// classifiers or regressors of labelled rows. `None` if that network was not trained.
    pub fn best_of_labels_alone(&self) -> Option<&MethodScores> {
        let network = self.labels_only.as_ref()?;
        let others = self.others.iter();
        let others = others.filter(|other| super::baselines::is_of_labels_alone(&other.name));
        Some(
            others.fold(network, |best, other| match other.mean() > best.mean() {
                true => other,
                false => best,
            }),
        )
    }

    /// Ours compared with another on the same rows.
    pub fn paired(&self, other: &MethodScores) -> Option<Paired> {
        match self.measure {
            ScoreKind::Accuracy => Paired::of_shares(&self.ours.scores, &other.scores),
            ScoreKind::Error => Paired::of_scores(&self.ours.scores, &other.scores),
        }
    }
}
