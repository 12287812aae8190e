//! Histograms of oriented gradients as nodes of a graph: the same numbers as
//! [`hog`](crate::pseudo_label::hog).

use super::graph::{Graph, Setting, Value};
use crate::pseudo_label::{CELLS, DIRECTIONS, HOG_LENGTH, hog_votes};

/// `images [rows, channels * height * width]` to `[rows, HOG_LENGTH]`.
pub(super) fn hog(
    graph: &mut Graph,
    images: &Value,
    [height, width, channels]: [usize; 3],
) -> Value {
    let sides = [-1, channels as i64, height as i64, width as i64];
    let sides = graph.ints(&sides);
    let planes = graph.node("Reshape", &[images, &sides]);
    let across = difference(graph, &planes, 3, width);
    let down = difference(graph, &planes, 2, height);
    let strength = {
        let across = graph.node("Mul", &[&across, &across]);
        let down = graph.node("Mul", &[&down, &down]);
        let sum = graph.node("Add", &[&across, &down]);
        graph.node("Sqrt", &[&sum])
    };
    let turn = half_turns(graph, &across, &down);
    // A vote goes to the two nearest directions, which are periodic in half a turn.
    let (one, axis) = (graph.float(1.0), graph.ints(&[4]));
    let turn = graph.node("Unsqueeze", &[&turn, &axis]);
    let numbers: Vec<f32> = (0..DIRECTIONS).map(|direction| direction as f32).collect();
    let numbers = graph.floats(&[DIRECTIONS], &numbers);
    let apart = graph.node("Sub", &[&turn, &numbers]);
    let apart = graph.node("Abs", &[&apart]);
    let all = graph.float(DIRECTIONS as f32);
    let other_way = graph.node("Sub", &[&all, &apart]);
    let apart = graph.node("Min", &[&apart, &other_way]);
    let share = graph.node("Sub", &[&one, &apart]);
    let share = graph.node("Relu", &[&share]);
    let strength = graph.node("Unsqueeze", &[&strength, &axis]);
    let votes = graph.node("Mul", &[&share, &strength]);
    // Over all channels: [rows, height, width, directions], then the sums of cells along both
    // sides.
    let colours = graph.ints(&[1]);
    let apart = [("keepdims", Setting::Int(0))];
    let votes = graph.node_with("ReduceSum", &[&votes, &colours], &apart);
    let order = [("perm", Setting::Ints(vec![0, 3, 1, 2]))];
    let votes = graph.node_with("Transpose", &[&votes], &order);
    let rows = shares(graph, height);
    let columns = shares(graph, width);
    let turned = [("perm", Setting::Ints(vec![1, 0]))];
    let columns = graph.node_with("Transpose", &[&columns], &turned);
    let cells = graph.node("MatMul", &[&rows, &votes]);
    let cells = graph.node("MatMul", &[&cells, &columns]);
    let order = [("perm", Setting::Ints(vec![0, 2, 3, 1]))];
    let cells = graph.node_with("Transpose", &[&cells], &order);
    let sides = graph.ints(&[-1, HOG_LENGTH as i64]);
    let flat = graph.node("Reshape", &[&cells, &sides]);
    // An image without edges has a sum of zero.
    let sum = graph.row_sums(&flat);
    let least = graph.float(f32::MIN_POSITIVE);
    let sum = graph.node("Max", &[&sum, &least]);
    let shares = graph.node("Div", &[&flat, &sum]);
    graph.node("Sqrt", &[&shares])
}

/// Central differences along a side; border pixels are repeated.
fn difference(graph: &mut Graph, planes: &Value, axis: i64, side: usize) -> Value {
    let last = side as i64 - 1;
    let behind: Vec<i64> = (0..=last).map(|pixel| (pixel + 1).min(last)).collect();
    let before: Vec<i64> = (0..=last).map(|pixel| (pixel - 1).max(0)).collect();
    let [behind, before] = [behind, before].map(|places| {
        let places = graph.ints(&places);
        graph.node_with(
            "Gather",
            &[planes, &places],
            &[("axis", Setting::Int(axis))],
        )
    });
    graph.node("Sub", &[&behind, &before])
}

/// The direction of a gradient in units of half a turn / [`DIRECTIONS`]. Where there is no gradient
/// it is 0.
fn half_turns(graph: &mut Graph, across: &Value, down: &Value) -> Value {
    let zero = graph.float(0.0);
    let flat = graph.node("Equal", &[down, &zero]);
    let ratio = graph.node("Div", &[down, across]);
    let ratio = graph.node("Where", &[&flat, &zero, &ratio]);
    let angle = graph.node("Atan", &[&ratio]);
    let parts = graph.float(DIRECTIONS as f32 / std::f32::consts::PI);
    let turn = graph.node("Mul", &[&angle, &parts]);
    let whole = graph.float(DIRECTIONS as f32);
    let later = graph.node("Add", &[&turn, &whole]);
    let negative = graph.node("Less", &[&turn, &zero]);
    graph.node("Where", &[&negative, &later, &turn])
}

/// The weight of each pixel of a side in each cell, `[cells, side]`.
fn shares(graph: &mut Graph, side: usize) -> Value {
    let mut shares = vec![0.0; CELLS * side];
    for (pixel, votes) in hog_votes(side).into_iter().enumerate() {
        for (cell, share) in votes {
            shares[cell * side + pixel] += share;
        }
    }
    graph.floats(&[CELLS, side], &shares)
}
