//! Elementwise non-linearities of the fully connected layers.

use crate::isa::Isa;
use crate::math::{at_least, expm1, softplus};
use crate::parallel;

/// An activation function. Its derivative is a function of its output, so the input need not be
/// kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// `v`
    Identity,
    /// `ln(1 + e^v)`
    Softplus,
    /// `v` above 0, `0.01 v` below
    LeakyRelu,
    /// `v` above 0, `e^v - 1` below
    Elu,
    /// `v` above 0, else 0
    Relu,
}

const LEAK: f32 = 0.01;

impl Activation {
    /// Its slope below zero if it is piecewise linear with `v` above zero.
    pub fn slope_below_zero(self) -> Option<f32> {
        match self {
            Self::Identity => Some(1.0),
            Self::LeakyRelu => Some(LEAK),
            Self::Relu => Some(0.0),
            Self::Softplus | Self::Elu => None,
        }
    }
}

kernel! {
    /// `y = act(y + b)` for every row of `y [rows, n]`, `b [n]`.
    pub(crate) fn add_bias_activate<FMA>(b: &[f32], act: Activation, y: &mut [f32]) {
        macro_rules! rows {
            (|$v:ident| $value:expr) => {
                for row in y.chunks_exact_mut(b.len()) {
                    for (y, b) in row.iter_mut().zip(b) {
                        let $v = *y + *b;
                        *y = $value;
                    }
                }
            };
        }
        match act {
            Activation::Identity => rows!(|v| v),
            Activation::Softplus => rows!(|v| softplus::<FMA>(v)),
            Activation::LeakyRelu => rows!(|v| if v > 0.0 { v } else { LEAK * v }),
            Activation::Elu => rows!(|v| if v > 0.0 { v } else { expm1::<FMA>(v) }),
            Activation::Relu => rows!(|v| at_least(v, 0.0)),
        }
    }
}

kernel! {
    /// Adds the rows of `g [rows, n]` to `sums [n]`.
    fn sum_rows<FMA>(g: &[f32], sums: &mut [f32]) {
        for row in g.chunks_exact(sums.len()) {
            for (sum, g) in sums.iter_mut().zip(row) {
                *sum += g;
            }
        }
    }
}

kernel! {
    /// `gz = gy * act'`, with the derivative computed from the output `y`; adds the rows of `gz` to
    /// `sums [n]`. All others are `[rows, n]`.
    pub(crate) fn slope_rows<FMA>(act: Activation, y: &[f32], gy: &[f32], gz: &mut [f32], sums: &mut [f32]) {
        macro_rules! rows {
            (|$v:ident| $slope:expr) => {{
                let n = sums.len();
                let rows = y.chunks_exact(n).zip(gy.chunks_exact(n)).zip(gz.chunks_exact_mut(n));
                for ((y, gy), gz) in rows {
                    for (((y, gy), gz), sum) in y.iter().zip(gy).zip(gz).zip(&mut *sums) {
                        let $v = *y;
                        *gz = *gy * $slope;
                        *sum += *gz;
                    }
                }
            }};
        }
        match act {
            Activation::Identity => rows!(|_v| 1.0),
            // 1 - e^-y, relative-accurate also where the output is nearly 0
            Activation::Softplus => rows!(|v| -expm1::<FMA>(-v)),
            Activation::LeakyRelu => rows!(|v| if v > 0.0 { 1.0 } else { LEAK }),
            Activation::Elu => rows!(|v| if v > 0.0 { 1.0 } else { v + 1.0 }),
            Activation::Relu => rows!(|v| if v > 0.0 { 1.0 } else { 0.0 }),
        }
    }
}

/// `y = act(y + b)`, `y [m, n]`, `b [n]`.
pub(crate) fn activate(n: usize, b: &[f32], act: Activation, y: &mut [f32]) {
    if n == 0 {
        return;
    }
    let isa = Isa::current();
    let piece = parallel::rows_per_piece(n) * n;
    parallel::for_each(y.len(), y.chunks_mut(piece), |y| {
        add_bias_activate(isa, b, act, y)
    });
}

/// `gz = gy * act'(y)`, all `[m, n]`, and the column sums of `gz` into `gb [n]`.
pub(crate) fn slope(
    n: usize,
    act: Activation,
    y: &[f32],
    gy: &[f32],
    gz: &mut [f32],
    gb: &mut [f32],
) {
    let isa = Isa::current();
    let piece = parallel::rows_per_piece(n) * n;
    let pieces = y.chunks(piece.max(1)).zip(gy.chunks(piece.max(1)));
    let pieces = pieces.zip(gz.chunks_mut(piece.max(1)));
    sum_pieces(y.len(), n, pieces, gb, |((y, gy), gz), sums| {
        slope_rows(isa, act, y, gy, gz, sums);
    });
}

/// The column sums of `g [m, n]` into `sums [n]`.
pub(crate) fn column_sums(n: usize, g: &[f32], sums: &mut [f32]) {
    let isa = Isa::current();
    let piece = parallel::rows_per_piece(n) * n;
    sum_pieces(g.len(), n, g.chunks(piece.max(1)), sums, |g, sums| {
        sum_rows(isa, g, sums)
    });
}

/// Computes column sums of each piece with `work` and adds them in order, so that the result is the
/// same for any number of threads.
fn sum_pieces<T: Send>(
    elements: usize,
    n: usize,
    pieces: impl ExactSizeIterator<Item = T>,
    sums: &mut [f32],
    work: impl Fn(T, &mut [f32]) + Sync,
) {
    if n == 0 {
        return;
    }
    let mut partial = vec![0.0; pieces.len() * n];
    parallel::for_each(
        elements,
        pieces.zip(partial.chunks_mut(n)),
        |(piece, sums)| {
            work(piece, sums);
        },
    );
    sums.fill(0.0);
    for partial in partial.chunks(n) {
        for (sum, value) in sums.iter_mut().zip(partial) {
            *sum += value;
        }
    }
}
