//! Kernels and nearest neighbours as nodes of a graph.

use super::graph::{Graph, Setting, Value};
use crate::pseudo_label::Kernel;

/// The kernel of rows with `rows [labels, columns]`, times `coefficients [labels, outputs]`.
pub(super) fn kernel_sums(
    graph: &mut Graph,
    kernel: Kernel,
    wide: &Value,
    rows: &[f32],
    coefficients: &[f64],
    outputs: usize,
) -> Value {
    let labels = coefficients.len() / outputs;
    let columns = rows.len() / labels;
    let alike = match kernel {
        Kernel::Linear => {
            let product = products(graph, wide, rows, columns);
            let scale = graph.double(1.0 / columns as f64);
            let scaled = graph.node("Mul", &[&product, &scale]);
            let one = graph.double(1.0);
            graph.node("Add", &[&scaled, &one])
        }
        Kernel::Rbf(width) => {
            let squares = squared_distances(graph, wide, rows, columns);
            let scale = graph.double(-1.0 / width);
            let scaled = graph.node("Mul", &[&squares, &scale]);
            graph.node("Exp", &[&scaled])
        }
    };
    let coefficients = graph.doubles(&[labels, outputs], coefficients);
    graph.node("MatMul", &[&alike, &coefficients])
}

/// For the `most` nearest of `rows [count, columns]`: the sum of their `values [count, outputs]`,
/// weighted by one over the distance, which is at least `least`; and the sum of the weights.
pub(super) fn nearest_sums(
    graph: &mut Graph,
    (rows, values, outputs): (&[f32], &[f32], usize),
    wide: &Value,
    most: usize,
    least: f64,
) -> (Value, Value) {
    let count = values.len() / outputs;
    let columns = rows.len() / count;
    let squares = squared_distances(graph, wide, rows, columns);
    let wanted = graph.ints(&[most.min(count) as i64]);
    let [_, nearest] = graph.node_of(
        "",
        "TopK",
        &[&squares, &wanted],
        &[("axis", Setting::Int(1)), ("largest", Setting::Int(0))],
    );
    // Distances are computed directly: differences of squares lose precision for near rows.
    let all = graph.floats(&[count, columns], rows);
    let near = graph.node("Gather", &[&all, &nearest]);
    let near = graph.as_double(&near);
    let (first, second) = (graph.ints(&[1]), graph.ints(&[2]));
    let itself = graph.node("Unsqueeze", &[wide, &first]);
    let apart = graph.node("Sub", &[&near, &itself]);
    let squares = graph.node("Mul", &[&apart, &apart]);
    let keep = [("keepdims", Setting::Int(1))];
    let sum = graph.node_with("ReduceSum", &[&squares, &second], &keep);
    let distance = graph.node("Sqrt", &[&sum]);
    let least = graph.double(least);
    let distance = graph.node("Max", &[&distance, &least]);
    let values = graph.floats(&[count, outputs], values);
    let of_near = graph.node("Gather", &[&values, &nearest]);
    let of_near = graph.as_double(&of_near);
    let weighed = graph.node("Div", &[&of_near, &distance]);
    let one = graph.double(1.0);
    let weights = graph.node("Div", &[&one, &distance]);
    let mut over_rows = |value: &Value| {
        let apart = [("keepdims", Setting::Int(0))];
        graph.node_with("ReduceSum", &[value, &first], &apart)
    };
    (over_rows(&weighed), over_rows(&weights))
}

/// `wide [n, columns]` with `rows [m, columns]`: `[n, m]`.
fn products(graph: &mut Graph, wide: &Value, rows: &[f32], columns: usize) -> Value {
    let rows = graph.floats(&[rows.len() / columns, columns], rows);
    let turned = [("perm", Setting::Ints(vec![1, 0]))];
    let turned = graph.node_with("Transpose", &[&rows], &turned);
    let turned = graph.as_double(&turned);
    graph.node("MatMul", &[wide, &turned])
}

/// Between `wide [n, columns]` and `rows [m, columns]`: `[n, m]`.
fn squared_distances(graph: &mut Graph, wide: &Value, rows: &[f32], columns: usize) -> Value {
    let square = |value: &f32| f64::from(*value) * f64::from(*value);
    let of_row = |row: &[f32]| row.iter().map(square).sum();
    let norms: Vec<f64> = rows.chunks_exact(columns).map(of_row).collect();
    let norms = graph.doubles(&[norms.len()], &norms);
    let product = products(graph, wide, rows, columns);
    let two = graph.double(-2.0);
    let product = graph.node("Mul", &[&product, &two]);
    let own = graph.node("Mul", &[wide, wide]);
    let own = graph.row_sums(&own);
    let sum = graph.node("Sum", &[&product, &own, &norms]);
    let zero = graph.double(0.0);
    graph.node("Max", &[&sum, &zero])
}
