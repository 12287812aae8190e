//! The first opinion about all rows, before any network is trained.

use super::forest::{Forest, Labelled};
use super::propagate::{Propagation, beliefs, links, propagate};
use super::ridge::Ridge;
use super::{reach, whole};

/// With fewer labels a class, what a forest finds again among them is chance.
const ENOUGH_FOR_A_FOREST: usize = 5;

/// What can be said of all rows before any network is trained: probabilities of the classes,
/// `[rows, classes]`.
///
/// Three are asked: neighbours ([`propagate`]), a kernel ridge classifier and a forest, the last
/// two of the labelled rows alone. The one that finds most of the labels again, each from the
/// others, speaks; neighbours where two do equally well. Which one that is differs: neighbours on
/// half-moon and handwritten digits, trees on genes and on letters described by 16 numbers.
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
    let data = Labelled {
        features,
        columns: width,
        labels,
        classes,
    };
    let by_forest = match labels.len() >= ENOUGH_FOR_A_FOREST * classes {
        true => Forest::found_again(data, &judges),
        false => 0,
    };
    match ridge {
        _ if by_forest > by_neighbours.max(by_ridge) => Forest::grow_all(data).beliefs(features),
        Some(ridge) if by_ridge > by_neighbours => ridge.beliefs(features),
        _ => beliefs(&links, reach, labels, classes),
    }
}
