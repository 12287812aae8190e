//! The words of one tile from the array that is packed.

use super::packing::{DEPTH, SIDE};
use super::rounding::pair;
use std::ops::Range;

/// Rows of words, as in a tile.
pub(super) type Words = [[u32; SIDE]; SIDE];

/// A factor as it is given: `lines` that run along `k`, `depth` numbers each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'a> {
    pub lines: usize,
    pub depth: usize,
    /// `[lines, depth]` or `[depth, lines]`.
    pub values: &'a [f32],
}

impl Source<'_> {
    /// From `values [lines, depth]`: row `i` and word `p` are numbers `k + 2p` and `k + 2p + 1` of
    /// line `line + i`; what lies outside is left as it is.
    #[inline(always)]
    pub(super) fn words_from_rows(self, line: usize, k: usize, words: &mut Words) {
        for (line, words) in (line..self.lines).zip(words) {
            let row: [f32; DEPTH] = self.part_of_row(line, self.depth, k..k + DEPTH);
            *words = std::array::from_fn(|p| pair(row[2 * p], row[2 * p + 1]));
        }
    }

    /// From `values [depth, lines]`: row `p` and word `i` are numbers `k + 2p` and `k + 2p + 1` of
    /// line `line + i`; what lies outside is left as it is.
    #[inline(always)]
    pub(super) fn words_from_columns(self, line: usize, k: usize, words: &mut Words) {
        for (k, words) in (k..self.depth).step_by(2).zip(words) {
            let even: [f32; SIDE] = self.part_of_row(k, self.lines, line..line + SIDE);
            let odd = if k + 1 < self.depth {
                self.part_of_row(k + 1, self.lines, line..line + SIDE)
            } else {
                [0.0; SIDE]
            };
            *words = std::array::from_fn(|i| pair(even[i], odd[i]));
        }
    }

    /// Some columns of a row of `width`, zero where they do not exist.
    #[inline(always)]
    fn part_of_row<const N: usize>(
        self,
        row: usize,
        width: usize,
        columns: Range<usize>,
    ) -> [f32; N] {
        let row = &self.values[row * width..(row + 1) * width];
        let part = &row[columns.start.min(width)..columns.end.min(width)];
        match part.first_chunk() {
            Some(all) => *all,
            None => {
                let mut padded = [0.0; N];
                padded[..part.len()].copy_from_slice(part);
                padded
            }
        }
    }
}

/// Rows become columns.
#[inline(always)]
pub(super) fn turn(words: &Words, turned: &mut Words) {
    for i in (0..SIDE).step_by(4) {
        for j in (0..SIDE).step_by(4) {
            let square = std::array::from_fn(|r| std::array::from_fn(|c| words[i + r][j + c]));
            for (r, row) in turned_4x4(square).into_iter().enumerate() {
                turned[j + r][i..i + 4].copy_from_slice(&row);
            }
        }
    }
}

/// By hand, because the compiler moves element by element, or worse, scatters.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn turned_4x4(words: [[u32; 4]; 4]) -> [[u32; 4]; 4] {
    use std::arch::x86_64::*;
    // SAFETY: vectors and arrays of the same size, for which all bits are valid. Every x86-64
    // processor has these instructions.
    unsafe {
        let [a, b, c, d]: [__m128i; 4] = std::mem::transmute(words);
        let (low_ab, high_ab) = (_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b));
        let (low_cd, high_cd) = (_mm_unpacklo_epi32(c, d), _mm_unpackhi_epi32(c, d));
        std::mem::transmute([
            _mm_unpacklo_epi64(low_ab, low_cd),
            _mm_unpackhi_epi64(low_ab, low_cd),
            _mm_unpacklo_epi64(high_ab, high_cd),
            _mm_unpackhi_epi64(high_ab, high_cd),
        ])
    }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn turned_4x4(words: [[u32; 4]; 4]) -> [[u32; 4]; 4] {
    std::array::from_fn(|i| std::array::from_fn(|j| words[j][i]))
}
