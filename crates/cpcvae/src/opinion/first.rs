//! The first opinion about all rows, before any network is trained.

use super::forest::Forest;
use super::labelled::{Classifier, Labelled};
use super::logistic::Logistic;
use super::propagate::{Propagation, beliefs, links, propagate};
use super::ridge::Ridge;
use super::{reach, whole};

/// With fewer labels a class, what a forest or planes find again among them is chance.
const ENOUGH_FOR_ALL: usize = 5;

/// What can be said of all rows before any network is trained: probabilities of the classes,
/// `[rows, classes]`.
///
/// Four are asked: neighbours ([`propagate`]), and of the labelled rows alone a kernel ridge
/// classifier, logistic regression and a forest. How many of the labels each finds again from the
/// others decides who speaks: the forest where it finds most of all, since others blur its
/// thresholds; otherwise the mean of those that are as good as the best, up to what chance may do.
/// Who that is differs: neighbours on half-moon and handwritten digits, trees on letters described
/// by 16 numbers, all together on genes. With few labels only neighbours and the ridge are asked.
/// Where the reach is given, neighbours are asked without a contest.
pub fn first_opinion(
    features: &[f32],
    width: usize,
    labels: &[(u32, u32)],
    classes: usize,
    options: &Propagation,
) -> Vec<f32> {
    if options.reach.is_some() {
        return propagate(features, width, labels, classes, options);
    }
    let features = &whole(features)[..];
    let links = links(features, width, options);
    let judges = reach::judges(labels);
    let (reach, by_neighbours) = reach::choose(&links, labels, &judges, classes);
    let ridge = Ridge::fit(features, width, labels, classes);
    let by_ridge = ridge.as_ref().map_or(0, |r| r.finds_of(&judges, labels));
    let neighbours = || beliefs(&links, reach, labels, classes);
    if labels.len() < ENOUGH_FOR_ALL * classes {
        let ridge = ridge.filter(|_| by_ridge > by_neighbours);
        return ridge.map_or_else(neighbours, |ridge| ridge.beliefs(features));
    }
    let data = Labelled {
        features,
        columns: width,
        labels,
        classes,
    };
    let by_forest = Forest::found_again(data, &judges);
    let by_logistic = Logistic::found_again(data, &judges);
    let best_of_others = by_neighbours.max(by_ridge).max(by_logistic);
    if by_forest > best_of_others {
        return Forest::fit_all(data).beliefs(features);
    }
    let enough = best_of_others - chance(best_of_others, judges.len());
    let mut heard = Vec::new();
    if by_neighbours >= enough {
        heard.push(neighbours());
    }
    if let Some(ridge) = ridge.filter(|_| by_ridge >= enough) {
        heard.push(ridge.beliefs(features));
    }
    if by_forest >= enough {
        heard.push(Forest::fit_all(data).beliefs(features));
    }
    if by_logistic >= enough {
        heard.push(Logistic::fit_all(data).beliefs(features));
    }
    mean(&heard)
}

/// A standard deviation of a count of `found` among `asked`: who is behind by less may be as good.
fn chance(found: usize, asked: usize) -> usize {
    let share = found as f64 / asked.max(1) as f64;
    (asked as f64 * share * (1.0 - share)).sqrt() as usize
}

/// The mean of several opinions of the same rows, at least one.
fn mean(opinions: &[Vec<f32>]) -> Vec<f32> {
    let value = |i: usize| opinions.iter().map(|o| o[i]).sum::<f32>() / opinions.len() as f32;
    (0..opinions[0].len()).map(value).collect()
}
