//! Pseudo-labels of an ensemble: those classifiers that find the labels best again from each other.

use super::forest::Forest;
use super::labelled::{Classifier, Labelled};
use super::logistic::Logistic;
use super::propagate::{beliefs, knn_graph};
use super::ridge::Ridge;
use super::{alpha, whole};

/// With fewer labels a class, what a forest or planes find again among them is chance.
const ENOUGH_FOR_ALL: usize = 5;

/// Class probabilities of all rows from a few labels, before any network is trained:
/// `[rows, classes]`.
///
/// Four classifiers are asked: label propagation over `neighbours` a row, with the alpha that
/// leave-one-out chooses, and of the labelled rows alone a kernel ridge classifier, logistic
/// regression and a forest. How many of the labels each finds again from the others decides: the
/// forest alone where it finds most of all, since the others blur its thresholds; otherwise the mean
/// of those that are as good as the best, up to what chance may do. Which these are differs: label
/// propagation on half-moon and handwritten digits, trees on letters described by 16 numbers, all
/// together on genes. With few labels only label propagation and the ridge classifier are asked.
pub fn ensemble(
    features: &[f32],
    width: usize,
    labels: &[(u32, u32)],
    classes: usize,
    neighbours: usize,
) -> Vec<f32> {
    let features = &whole(features)[..];
    let graph = knn_graph(features, width, neighbours);
    let judges = alpha::judges(labels);
    let (alpha, by_propagation) = alpha::choose(&graph, labels, &judges, classes);
    let ridge = Ridge::fit(features, width, labels, classes);
    let by_ridge = ridge.as_ref().map_or(0, |r| r.finds_of(&judges, labels));
    let propagation = || beliefs(&graph, alpha, labels, classes);
    if labels.len() < ENOUGH_FOR_ALL * classes {
        let ridge = ridge.filter(|_| by_ridge > by_propagation);
        return ridge.map_or_else(propagation, |ridge| ridge.beliefs(features));
    }
    let data = Labelled {
        features,
        columns: width,
        labels,
        classes,
    };
    let by_forest = Forest::found_again(data, &judges);
    let by_logistic = Logistic::found_again(data, &judges);
    let best_of_others = by_propagation.max(by_ridge).max(by_logistic);
    if by_forest > best_of_others {
        return Forest::fit_all(data).beliefs(features);
    }
    let enough = best_of_others - chance(best_of_others, judges.len());
    let mut members = Vec::new();
    if by_propagation >= enough {
        members.push(propagation());
    }
    if let Some(ridge) = ridge.filter(|_| by_ridge >= enough) {
        members.push(ridge.beliefs(features));
    }
    if by_forest >= enough {
        members.push(Forest::fit_all(data).beliefs(features));
    }
    if by_logistic >= enough {
        members.push(Logistic::fit_all(data).beliefs(features));
    }
    mean(&members)
}

/// A standard deviation of a count of `found` among `asked`: who is behind by less may be as good.
fn chance(found: usize, asked: usize) -> usize {
    let share = found as f64 / asked.max(1) as f64;
    (asked as f64 * share * (1.0 - share)).sqrt() as usize
}

/// The mean of the probabilities of several classifiers for the same rows, at least one.
fn mean(members: &[Vec<f32>]) -> Vec<f32> {
    let value = |i: usize| members.iter().map(|p| p[i]).sum::<f32>() / members.len() as f32;
    (0..members[0].len()).map(value).collect()
}
