//! The product of packed factors without AMX.

use super::packing::{DEPTH, PackedLeft, PackedRight, RIGHT_PAIR, SIDE, Tile};
use super::rounding::unpair;
use crate::isa::Isa;
use crate::parallel;

/// The same as [`super::multiply`] in plain Rust, summed in the same order, except that numbers
/// below 2^-126 are kept. For comparison, not for speed.
///
/// # Panics
/// If the shapes do not fit.
pub fn multiply_portable(left: &PackedLeft, right: &PackedRight, c: &mut [f32], accumulate: bool) {
    super::assert_shapes(left, right, c);
    if c.is_empty() {
        return;
    }
    let isa = Isa::current();
    let (n, k_tiles) = (right.columns(), left.depth().div_ceil(DEPTH));
    let operations = left.rows() * left.depth() * n;
    let row_tiles = c.chunks_mut(SIDE * n).enumerate();
    parallel::for_each(operations, row_tiles, |(row_tile, c)| {
        if !accumulate {
            c.fill(0.0);
        }
        let left = &left.tiles()[row_tile * k_tiles..(row_tile + 1) * k_tiles];
        multiply_row_tile(isa, left, right.tiles(), n, c);
    });
}

kernel! {
    /// Adds the product of one row tile, `left [k tile]`, to its rows `c [up to 16, n]`.
    fn multiply_row_tile<FMA>(left: &[Tile], right: &[Tile], n: usize, c: &mut [f32]) {
        let k_tiles = left.len();
        for column_tile in 0..n.div_ceil(SIDE) {
            let (block, half) = (column_tile / RIGHT_PAIR, column_tile % RIGHT_PAIR);
            let columns = column_tile * SIDE..n.min((column_tile + 1) * SIDE);
            for (i, c) in c.chunks_mut(n).enumerate() {
                let c = &mut c[columns.clone()];
                for (k_tile, left) in left.iter().enumerate() {
                    let right = &right[(block * k_tiles + k_tile) * RIGHT_PAIR + half];
                    add_tile_row(&left.words[i], right, c);
                }
            }
        }
    }
}

/// Adds one row of a left tile times a right tile.
///
/// As in the instruction, the even and the odd steps of one tile are summed separately, and these
/// sums are first added to each other and then to `c`. Products of two bfloat16 are exact, fused or
/// not.
#[inline(always)]
fn add_tile_row(left: &[u32; SIDE], right: &Tile, c: &mut [f32]) {
    let (mut even, mut odd) = ([0.0; SIDE], [0.0; SIDE]);
    for (left, right) in left.iter().zip(&right.words) {
        let [left_even, left_odd] = unpair(*left);
        for j in 0..SIDE {
            let [right_even, right_odd] = unpair(right[j]);
            even[j] += left_even * right_even;
            odd[j] += left_odd * right_odd;
        }
    }
    for (c, (even, odd)) in c.iter_mut().zip(even.iter().zip(&odd)) {
        *c += even + odd;
    }
}
