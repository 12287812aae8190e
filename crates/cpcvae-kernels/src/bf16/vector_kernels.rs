//! The same products with the AVX-512 instruction for pairs of bfloat16 numbers, for processors
//! that have it and no tiles in hardware (AMD since Zen 4).

use super::packing::{SIDE, Tile};
use super::tile_kernels::Block;
use std::arch::x86_64::{
    __m512bh, __m512i, _mm512_dpbf16_ps, _mm512_load_si512, _mm512_loadu_ps, _mm512_set1_epi32,
    _mm512_setzero_ps, _mm512_storeu_ps,
};
use std::mem::transmute;

/// Rows whose sums stay in registers: with two vectors of columns they take 16 of 32, enough to
/// hide the latency of the instruction, and a broadcast word is used twice.
const ROWS: usize = 8;

/// `c [16, 32]` is (or, if `accumulate`, is increased by) the product of one row tile
/// `left [k tile]` and two column tiles `right [k tile][2]`, of which the first `pairs` words along
/// `k` are not zero.
///
/// # Safety
/// The AVX-512 F and BF16 instructions must work on this thread. There are as many tiles as `pairs`
/// need, which can be read; all elements of `c` can be written and, if `accumulate`, read.
#[target_feature(enable = "avx512f,avx512bf16")]
pub(super) unsafe fn multiply_1x2(
    pairs: usize,
    left: *const Tile,
    right: *const Tile,
    c: Block,
    accumulate: bool,
) {
    for first_row in (0..SIDE).step_by(ROWS) {
        // SAFETY: `c` has 16 rows of 32 elements, and each of the tiles 16 rows of 16 words.
        unsafe {
            let c = Block {
                start: c.start.add(first_row * c.row_stride),
                row_stride: c.row_stride,
            };
            let left = left.cast::<i32>().add(first_row * SIDE);
            multiply_rows(pairs, left, right, c, accumulate);
        }
    }
}

/// [`ROWS`] rows of it; `left` is the first word of the first of them.
///
/// # Safety
/// As for [`multiply_1x2`].
#[inline]
#[target_feature(enable = "avx512f,avx512bf16")]
unsafe fn multiply_rows(
    pairs: usize,
    left: *const i32,
    right: *const Tile,
    c: Block,
    accumulate: bool,
) {
    let mut sums = [[_mm512_setzero_ps(); 2]; ROWS];
    if accumulate {
        for (row, sums) in sums.iter_mut().enumerate() {
            for (half, sum) in sums.iter_mut().enumerate() {
                // SAFETY: by the condition of this function.
                *sum = unsafe { _mm512_loadu_ps(c.start.add(row * c.row_stride + half * SIDE)) };
            }
        }
    }
    const WORDS: usize = SIDE * SIDE;
    for k_tile in 0..pairs.div_ceil(SIDE) {
        for pair in 0..SIDE.min(pairs - k_tile * SIDE) {
            // SAFETY: `pair` is a row of the right tiles, which are aligned, and a word of the
            // rows of the left tile.
            unsafe {
                let right = right.add(2 * k_tile).cast::<i32>().add(pair * SIDE);
                let columns = [
                    numbers(_mm512_load_si512(right.cast())),
                    numbers(_mm512_load_si512(right.add(WORDS).cast())),
                ];
                let left = left.add(k_tile * WORDS + pair);
                for (row, sums) in sums.iter_mut().enumerate() {
                    let word = numbers(_mm512_set1_epi32(*left.add(row * SIDE)));
                    for (sum, columns) in sums.iter_mut().zip(columns) {
                        *sum = _mm512_dpbf16_ps(*sum, word, columns);
                    }
                }
            }
        }
    }
    for (row, sums) in sums.into_iter().enumerate() {
        for (half, sum) in sums.into_iter().enumerate() {
            // SAFETY: by the condition of this function.
            unsafe { _mm512_storeu_ps(c.start.add(row * c.row_stride + half * SIDE), sum) };
        }
    }
}

/// 16 words as 32 bfloat16 numbers.
#[inline(always)]
fn numbers(words: __m512i) -> __m512bh {
    // SAFETY: both are 64 bytes, and all of their values are valid.
    unsafe { transmute::<__m512i, __m512bh>(words) }
}
