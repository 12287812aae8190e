//! The ensemble of a network and its members as nodes of a graph: the same predictions as
//! [`Ensemble`](crate::ensemble::Ensemble), in 64 bits except for the trees.

use super::compared::{kernel_sums, nearest_sums};
use super::graph::{Graph, Setting, Value};
use super::hog::hog;
use super::input::Row;
use crate::ensemble::{Classifiers, Ensemble, EnsembleParts, Fitted};
use crate::pseudo_label::trees::{Node, Trees};
use crate::pseudo_label::{ComparedFeatures, Logistic, Ridge, Spread, Vote};
use crate::pseudo_label::{NEAREST_DISTANCE, NEIGHBOURS, uniform_mix};
use crate::regressors::Regressors;
use cpcvae_data::Layout;

/// The ensemble's prediction, `[rows, outputs]` in 32 bits, given the network's, of the same shape:
/// class probabilities, or continuous labels in the network's units.
pub(super) fn vote(
    graph: &mut Graph,
    ensemble: &Ensemble,
    network: &Value,
    row: &Row,
    layout: &Layout,
    outputs: usize,
) -> Value {
    let EnsembleParts {
        compared,
        fitted,
        votes,
        succession,
    } = ensemble.parts();
    let features = match (compared, layout) {
        (
            ComparedFeatures::Hog,
            Layout::Image {
                height,
                width,
                channels,
            },
        ) => hog(graph, &row.features, [*height, *width, *channels]),
        _ => row.features.clone(),
    };
    let mut predictions = vec![Some(graph.as_double(network))];
    let scores: Vec<Value> = match fitted {
        Fitted::Classes(fitted) => {
            predictions.extend(classifiers(
                graph,
                fitted,
                &row.features,
                &features,
                outputs,
            ));
            let voters = predictions.into_iter().zip(votes);
            voters
                .filter_map(|(predictions, vote)| Some(score(graph, &predictions?, vote, outputs)))
                .collect()
        }
        Fitted::Values(fitted) => {
            predictions.extend(regressors(graph, fitted, &features, outputs));
            let voters = predictions.into_iter().zip(votes);
            let share = |(predictions, vote): (Option<Value>, &Vote)| {
                let weight = graph.double(vote.weight);
                Some(graph.node("Mul", &[&predictions?, &weight]))
            };
            voters.filter_map(share).collect()
        }
    };
    let scores: Vec<&Value> = scores.iter().collect();
    let mut sum = graph.node("Sum", &scores);
    if let Fitted::Classes(..) = fitted {
        let (factor, offset) = (graph.double(succession.0), graph.double(succession.1));
        sum = graph.softmax(&sum);
        sum = graph.node("Mul", &[&sum, &factor]);
        sum = graph.node("Add", &[&sum, &offset]);
    }
    graph.as_float(&sum)
}

/// Predictions of classifiers, `[rows, classes]`. One without a solution predicts uniform
/// probabilities, which change nothing in a vote.
fn classifiers(
    graph: &mut Graph,
    fitted: &Classifiers,
    prepared: &Value,
    features: &Value,
    classes: usize,
) -> Vec<Option<Value>> {
    let Classifiers {
        members,
        spread,
        of_pixels,
    } = fitted;
    let wide = graph.as_double(features);
    let forests = members.forests();
    let mut predictions: Vec<Option<Value>> = Vec::new();
    for forest in forests {
        predictions.push(Some(trees(graph, forest, features, classes)));
    }
    predictions.push(Some(logistic(graph, members.logistic(), &wide, classes)));
    let of_ridge = members.ridge();
    predictions.push(of_ridge.map(|fitted| ridge(graph, fitted, &wide, classes)));
    let spread = spread.as_ref();
    predictions.push(spread.map(|spread| neighbours(graph, spread, &wide, classes)));
    predictions.push(of_pixels.as_ref().map(|fitted| {
        let pixels = graph.as_double(prepared);
        logistic(graph, fitted, &pixels, classes)
    }));
    predictions
}

/// Predictions of regressors, `[rows, outputs]`.
fn regressors(
    graph: &mut Graph,
    fitted: &Regressors,
    features: &Value,
    outputs: usize,
) -> Vec<Option<Value>> {
    let wide = graph.as_double(features);
    let mut predictions = Vec::new();
    for forest in fitted.forests() {
        predictions.push(Some(trees(graph, forest, features, outputs)));
    }
    for fit in fitted.ridges() {
        let mean = graph.doubles(&[outputs], &fit.mean);
        let sum = match fit.coefficients.is_empty() {
            // Without a solution it predicts the mean: shaped like the network's output.
            true => {
                let columns = graph.row_sums(&wide);
                let zero = graph.double(0.0);
                graph.node("Mul", &[&columns, &zero])
            }
            false => kernel_sums(
                graph,
                fit.kernel,
                &wide,
                &fit.rows,
                &fit.coefficients,
                outputs,
            ),
        };
        predictions.push(Some(graph.node("Add", &[&sum, &mean])));
    }
    let (rows, values, count, least) = fitted.nearest();
    let near = (rows, values, outputs);
    let (sums, weights) = nearest_sums(graph, near, &wide, count, least);
    predictions.push(Some(graph.node("Div", &[&sums, &weights])));
    predictions
}

/// A voter's weighted log-probabilities.
fn score(graph: &mut Graph, predictions: &Value, vote: &Vote, classes: usize) -> Value {
    let (share, rest) = uniform_mix(classes);
    let (share, rest) = (graph.double(share), graph.double(rest));
    let held = graph.node("Mul", &[predictions, &share]);
    let held = graph.node("Add", &[&held, &rest]);
    let log = graph.node("Log", &[&held]);
    let weight = graph.double(vote.weight * vote.sharpness);
    graph.node("Mul", &[&log, &weight])
}

fn trees(graph: &mut Graph, forest: &Trees, features: &Value, outputs: usize) -> Value {
    let mut nodes = Nodes::default();
    for (tree, of_tree) in (0..).zip(forest.trees()) {
        // The root is last in a tree, and first in the file.
        let number = |at: usize| (of_tree.len() - 1 - at) as i64;
        for (at, node) in of_tree.iter().enumerate().rev() {
            nodes.push(tree, number(at), node, number, forest.share());
        }
    }
    let [predictions] = graph.node_of(
        "ai.onnx.ml",
        "TreeEnsembleRegressor",
        &[features],
        &[
            ("n_targets", Setting::Int(outputs as i64)),
            ("aggregate_function", Setting::Text("SUM")),
            ("post_transform", Setting::Text("NONE")),
            ("nodes_treeids", Setting::Ints(nodes.trees)),
            ("nodes_nodeids", Setting::Ints(nodes.numbers)),
            ("nodes_featureids", Setting::Ints(nodes.columns)),
            ("nodes_values", Setting::Floats(nodes.thresholds)),
            ("nodes_modes", Setting::Texts(nodes.modes)),
            ("nodes_truenodeids", Setting::Ints(nodes.above)),
            ("nodes_falsenodeids", Setting::Ints(nodes.below)),
            ("target_treeids", Setting::Ints(nodes.leaf_trees)),
            ("target_nodeids", Setting::Ints(nodes.leaves)),
            ("target_ids", Setting::Ints(nodes.classes)),
            ("target_weights", Setting::Floats(nodes.weights)),
        ],
    );
    graph.as_double(&predictions)
}

/// Nodes of trees in the layout of the operator.
#[derive(Default)]
struct Nodes {
    trees: Vec<i64>,
    numbers: Vec<i64>,
    columns: Vec<i64>,
    thresholds: Vec<f32>,
    modes: Vec<&'static str>,
    above: Vec<i64>,
    below: Vec<i64>,
    leaf_trees: Vec<i64>,
    leaves: Vec<i64>,
    classes: Vec<i64>,
    weights: Vec<f32>,
}

impl Nodes {
    fn push(
        &mut self,
        tree: i64,
        number: i64,
        node: &Node,
        number_of: impl Fn(usize) -> i64,
        share: f32,
    ) {
        let (mode, column, threshold, to) = match node {
            Node::Split {
                column,
                threshold,
                to,
            } => ("BRANCH_GTE", *column as i64, *threshold, to.map(number_of)),
            Node::Leaf(_) => ("LEAF", 0, 0.0, [0, 0]),
        };
        self.trees.push(tree);
        self.numbers.push(number);
        self.modes.push(mode);
        self.columns.push(column);
        self.thresholds.push(threshold);
        self.below.push(to[0]);
        self.above.push(to[1]);
        if let Node::Leaf(shares) = node {
            let known = (0..).zip(shares).filter(|(_, of_class)| **of_class != 0.0);
            for (class, of_class) in known {
                self.leaf_trees.push(tree);
                self.leaves.push(number);
                self.classes.push(class);
                self.weights.push(of_class * share);
            }
        }
    }
}

fn logistic(graph: &mut Graph, fitted: &Logistic, wide: &Value, classes: usize) -> Value {
    let weights = fitted.weights();
    let columns = weights.len() / classes - 1;
    let (slopes, offsets) = weights.split_at(columns * classes);
    let slopes = graph.doubles(&[columns, classes], slopes);
    let offsets = graph.doubles(&[classes], offsets);
    let product = graph.node("MatMul", &[wide, &slopes]);
    let scores = graph.node("Add", &[&product, &offsets]);
    graph.softmax(&scores)
}

fn ridge(graph: &mut Graph, fitted: &Ridge, wide: &Value, classes: usize) -> Value {
    let (rows, kernels) = fitted.parts();
    let mut scores = graph.double(1.0 / classes as f64);
    for part in kernels {
        let sums = kernel_sums(graph, part.kernel, wide, rows, &part.coefficients, classes);
        scores = graph.node("Add", &[&scores, &sums]);
    }
    let (low, high) = Ridge::RANGE;
    let (low, high) = (graph.double(low), graph.double(high));
    let held = graph.node("Clip", &[&scores, &low, &high]);
    let sum = graph.row_sums(&held);
    graph.node("Div", &[&held, &sum])
}

/// Mean class probabilities of the rows nearest to each, weighted by one over their distances.
fn neighbours(graph: &mut Graph, spread: &Spread, wide: &Value, classes: usize) -> Value {
    let (rows, class_probs) = spread.parts();
    let near = (rows, class_probs, classes);
    let (sums, _) = nearest_sums(graph, near, wide, NEIGHBOURS, NEAREST_DISTANCE);
    let total = graph.row_sums(&sums);
    let shares = graph.node("Div", &[&sums, &total]);
    let zero = graph.double(0.0);
    let reached = graph.node("Greater", &[&total, &zero]);
    let equal = graph.double(1.0 / classes as f64);
    graph.node("Where", &[&reached, &shares, &equal])
}
