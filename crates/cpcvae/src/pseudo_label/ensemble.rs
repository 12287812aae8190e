//! Pseudo-labels of an ensemble of classifiers with weighted votes.

use super::labelled::Classifier;
use super::members::Members;
use super::pca_logistic::PcaLogistic;
use super::propagate::{class_probs, knn_graph};
use super::vote::{Vote, log_mean};
use super::{alpha, zero_filled};
use cpcvae_data::Matrix;

/// The prior weight of label propagation, relative to 1 for all members together.
pub const PROPAGATION_PRIOR: f64 = 0.6;

/// The prior weight of logistic regression on principal components of pixels: that of the other
/// logistic regression.
pub(crate) const PCA_LOGISTIC_PRIOR: f64 = 0.2;

/// Class probabilities of all rows from a few labels, before any network is trained:
/// `[rows, classes]`.
///
/// Label propagation over `neighbours` a row, with the alpha that leave-one-out chooses, and the
/// [`Members`], which learn from the labelled rows alone. Their probabilities are averaged in log
/// space, with weights by their log-loss on held-out labels ([`Vote`]). Which is best differs from
/// table to table, trees most often with few labels, and a handful of labels cannot decide: so no
/// classifier loses its weight before many labels speak against it. `pixels [rows, pixels]` are those
/// of images: a logistic regression on their principal components votes, too.
pub fn ensemble(
    features: &[f32],
    width: usize,
    labels: &[(u32, u32)],
    classes: usize,
    neighbours: usize,
    pixels: Option<&Matrix>,
) -> Vec<f32> {
    let features = &zero_filled(features)[..];
    let graph = knn_graph(features, width, neighbours);
    let held_out = alpha::held_out(labels);
    let (alpha, by_propagation) = alpha::choose(&graph, labels, &held_out, classes);
    let members = Members::fit(features, width, labels, classes);
    let of_left_out = |all: Vec<f32>| -> Vec<f32> {
        let row = |judge: &usize| all[judge * classes..][..classes].to_vec();
        held_out.iter().flat_map(row).collect()
    };
    let known: Vec<u32> = held_out.iter().map(|label| labels[*label].1).collect();
    let mut left_out = vec![normalised(&by_propagation, classes)];
    left_out.extend(
        members
            .left_out(features, labels)
            .into_iter()
            .map(of_left_out),
    );
    let mut priors: Vec<f64> = std::iter::once(PROPAGATION_PRIOR)
        .chain(Members::PRIORS)
        .collect();
    let of_pixels = pixels.and_then(|pixels| {
        let fitted = PcaLogistic::fit(&pixels.values, pixels.columns, labels, classes)?;
        priors.push(PCA_LOGISTIC_PRIOR);
        left_out.push(of_left_out(fitted.left_out));
        Some(fitted.of_pixels.class_probs(&pixels.values))
    });
    let votes = Vote::by_left_out(&left_out, &priors, &known, classes);
    let mut all = vec![class_probs(&graph, alpha, labels, classes)];
    all.extend(members.class_probs(features));
    all.extend(of_pixels);
    log_mean(&votes, &all, classes)
}

/// Rows normalised to sum 1; uniform where all are zero.
fn normalised(class_probs: &[f64], classes: usize) -> Vec<f32> {
    let row = |row: &[f64]| -> Vec<f32> {
        let sum: f64 = row.iter().sum();
        let share = |row_probs: &f64| match sum > 0.0 {
            true => (row_probs / sum) as f32,
            false => 1.0 / classes as f32,
        };
        row.iter().map(share).collect()
    };
    class_probs.chunks_exact(classes).flat_map(row).collect()
}
