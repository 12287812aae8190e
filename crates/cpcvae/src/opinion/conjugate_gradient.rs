//! Solves `(I - reach S) F = Y`, a symmetric positive definite system, for all classes at once.

use super::links::Links;

/// Residuals are made smaller by this factor.
pub(super) const TOLERANCE: f64 = 1e-6;
/// More than any graph should need: the condition number is at most 2 / (1 - reach).
const MOST_STEPS: usize = 1000;

/// F `[rows, columns]` for `right [rows, columns]`.
pub(super) fn solve(links: &Links, reach: f64, columns: usize, right: Vec<f64>) -> Vec<f64> {
    let mut solution = vec![0.0; right.len()];
    let mut residual = right;
    let mut direction = residual.clone();
    let mut image = vec![0.0; residual.len()];
    let mut squares = column_products(columns, &residual, &residual);
    let goals: Vec<f64> = squares.iter().map(|s| s * TOLERANCE * TOLERANCE).collect();
    for _ in 0..MOST_STEPS {
        if squares
            .iter()
            .zip(&goals)
            .all(|(square, goal)| square <= goal)
        {
            break;
        }
        links.apply(reach, columns, &direction, &mut image);
        let curvature = column_products(columns, &direction, &image);
        let step: Vec<f64> = ratio(&squares, &curvature);
        add(columns, &mut solution, &direction, &step, 1.0);
        add(columns, &mut residual, &image, &step, -1.0);
        let new_squares = column_products(columns, &residual, &residual);
        let turn = ratio(&new_squares, &squares);
        for (direction, residual) in direction
            .chunks_exact_mut(columns)
            .zip(residual.chunks_exact(columns))
        {
            for ((direction, residual), turn) in direction.iter_mut().zip(residual).zip(&turn) {
                *direction = residual + turn * *direction;
            }
        }
        squares = new_squares;
    }
    solution
}

/// The scalar product of each column of `a` with that of `b`.
fn column_products(columns: usize, a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0; columns];
    for (a, b) in a.chunks_exact(columns).zip(b.chunks_exact(columns)) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    sums
}

/// `a += sign * factor * b`, with a factor for each column.
fn add(columns: usize, a: &mut [f64], b: &[f64], factor: &[f64], sign: f64) {
    for (a, b) in a.chunks_exact_mut(columns).zip(b.chunks_exact(columns)) {
        for ((a, b), factor) in a.iter_mut().zip(b).zip(factor) {
            *a += sign * factor * b;
        }
    }
}

/// Column by column; a column that is already solved stays as it is.
fn ratio(a: &[f64], b: &[f64]) -> Vec<f64> {
    let of = |(a, b): (&f64, &f64)| if *b > 0.0 { a / b } else { 0.0 };
    a.iter().zip(b).map(of).collect()
}
