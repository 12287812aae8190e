//! Conjugate gradients for `(I - alpha S) F = Y`, a symmetric positive definite system, for many
//! columns.

use super::knn_graph::KnnGraph;
use rayon::prelude::*;

/// Residuals are reduced by this factor.
pub(super) const TOLERANCE: f64 = 1e-6;
/// A limit that no graph should reach: the condition number is at most 2 / (1 - alpha).
const MOST_STEPS: usize = 1000;
/// Columns that are solved together. A row of a block is one cache line, so that accesses all over
/// the graph stay local, and finished blocks do not wait for others.
pub(super) const BLOCK: usize = 8;

/// A row of a block.
pub(super) type Line = [f64; BLOCK];

/// F `[rows, columns]` for `right [rows, columns]`.
pub(super) fn solve(graph: &KnnGraph, alpha: f64, columns: usize, right: Vec<f64>) -> Vec<f64> {
    let blocks: Vec<Vec<Line>> = (0..columns.div_ceil(BLOCK))
        .into_par_iter()
        .map(|block| {
            // Columns beyond the last are zeros, which are solved from the start.
            let line = |row: &[f64]| {
                let mut line = Line::default();
                let values = &row[block * BLOCK..columns.min((block + 1) * BLOCK)];
                line[..values.len()].copy_from_slice(values);
                line
            };
            solve_block(
                graph,
                alpha,
                right.chunks_exact(columns).map(line).collect(),
            )
        })
        .collect();
    let mut solution = right;
    for (row, values) in solution.chunks_exact_mut(columns).enumerate() {
        for (values, block) in values.chunks_mut(BLOCK).zip(&blocks) {
            values.copy_from_slice(&block[row][..values.len()]);
        }
    }
    solution
}

fn solve_block(graph: &KnnGraph, alpha: f64, right: Vec<Line>) -> Vec<Line> {
    let mut solution = vec![Line::default(); right.len()];
    let mut residual = right;
    let mut direction = residual.clone();
    let mut image = vec![Line::default(); residual.len()];
    let mut squares = products(&residual, &residual);
    let goals = squares.map(|square| square * TOLERANCE * TOLERANCE);
    for _ in 0..MOST_STEPS {
        if squares
            .iter()
            .zip(&goals)
            .all(|(square, goal)| square <= goal)
        {
            break;
        }
        graph.apply(alpha, &direction, &mut image);
        let step = ratio(&squares, &products(&direction, &image));
        add(&mut solution, &direction, &step);
        add(&mut residual, &image, &step.map(|step| -step));
        let new_squares = products(&residual, &residual);
        let turn = ratio(&new_squares, &squares);
        for (direction, residual) in direction.iter_mut().zip(&residual) {
            for k in 0..BLOCK {
                direction[k] = residual[k] + turn[k] * direction[k];
            }
        }
        squares = new_squares;
    }
    solution
}

/// The dot product of each column of `a` with that of `b`.
fn products(a: &[Line], b: &[Line]) -> Line {
    let mut sums = Line::default();
    for (a, b) in a.iter().zip(b) {
        for k in 0..BLOCK {
            sums[k] += a[k] * b[k];
        }
    }
    sums
}

/// `a += factor * b`, with a factor for each column.
fn add(a: &mut [Line], b: &[Line], factor: &Line) {
    for (a, b) in a.iter_mut().zip(b) {
        for k in 0..BLOCK {
            a[k] += factor[k] * b[k];
        }
    }
}

/// Column by column; 0 for a column that is already solved.
fn ratio(a: &Line, b: &Line) -> Line {
    std::array::from_fn(|k| if b[k] > 0.0 { a[k] / b[k] } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpcvae_kernels::neighbours::nearest_others;

    /// For more columns than a block has, and not a whole number of blocks: multiplying the
    /// solution by the matrix gives the right side.
    #[test]
    fn a_solution_solves_every_column() {
        let points: Vec<f32> = (0..60).map(|i| (i * i % 61) as f32).collect();
        let graph = KnnGraph::between(&nearest_others(1, &points, 4), 60);
        let columns = BLOCK + 3;
        let mut right = vec![0.0; 60 * columns];
        (0..columns).for_each(|k| right[5 * k * columns + k] = 1.0 + k as f64);
        let solution = solve(&graph, 0.99, columns, right.clone());
        for k in 0..columns {
            let column = |values: &[f64]| -> Vec<Line> {
                let rows = values.chunks_exact(columns);
                rows.map(|row| [row[k]; BLOCK]).collect()
            };
            let mut image = vec![Line::default(); 60];
            graph.apply(0.99, &column(&solution), &mut image);
            for (found, expected) in image.iter().zip(column(&right)) {
                assert!(
                    (found[0] - expected[0]).abs() < 1e-4,
                    "{found:?} {expected:?}"
                );
            }
        }
    }
}
