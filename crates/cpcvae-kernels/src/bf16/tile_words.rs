//! The words of one tile from the array that is packed.
//!
//! Plain loops without closures, which would be compiled without the caller's instruction set.

use super::packing::{DEPTH, SIDE};
use super::rounding::pair;

/// Rows of words, as in a tile.
pub(crate) type Words = [[u32; SIDE]; SIDE];

/// A factor in its original layout: `lines` that run along `k`, `depth` numbers each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'a> {
    pub lines: usize,
    pub depth: usize,
    /// `[lines, depth]` or `[depth, lines]`.
    pub values: &'a [f32],
}

impl Source<'_> {
    /// From `values [lines, depth]`: row `i` and word `p` are numbers `k + 2p` and `k + 2p + 1` of
    /// line `line + i`; words outside are unchanged.
    #[inline(always)]
    pub(super) fn words_from_rows(self, line: usize, k: usize, words: &mut Words) {
        let mut edge = [0.0; DEPTH];
        for (line, words) in (line..self.lines).zip(words) {
            let row = self.part_of_row(line, self.depth, k, &mut edge);
            for p in 0..SIDE {
                words[p] = pair(row[2 * p], row[2 * p + 1]);
            }
        }
    }

    /// From `values [depth, lines]`: row `p` and word `i` are numbers `k + 2p` and `k + 2p + 1` of
    /// line `line + i`; words outside are unchanged.
    #[inline(always)]
    pub(super) fn words_from_columns(self, line: usize, k: usize, words: &mut Words) {
        let (mut even_edge, mut odd_edge) = ([0.0; SIDE], [0.0; SIDE]);
        for (k, words) in (k..self.depth).step_by(2).zip(words) {
            let even = self.part_of_row(k, self.lines, line, &mut even_edge);
            let odd = if k + 1 < self.depth {
                self.part_of_row(k + 1, self.lines, line, &mut odd_edge)
            } else {
                &[0.0; SIDE]
            };
            for i in 0..SIDE {
                words[i] = pair(even[i], odd[i]);
            }
        }
    }

    /// `N` numbers from `start` on of a row of `width`: those of the source, or, if some do not
    /// exist, a copy in `edge` padded with zeros.
    #[inline(always)]
    fn part_of_row<'a, const N: usize>(
        &'a self,
        row: usize,
        width: usize,
        start: usize,
        edge: &'a mut [f32; N],
    ) -> &'a [f32; N] {
        let row = &self.values[row * width..(row + 1) * width];
        let part = &row[start.min(width)..(start + N).min(width)];
        match part.first_chunk() {
            Some(all) => all,
            None => {
                edge[part.len()..].fill(0.0);
                edge[..part.len()].copy_from_slice(part);
                edge
            }
        }
    }
}

/// Transposes the words.
#[inline(always)]
pub(crate) fn turn(words: &Words, turned: &mut Words) {
    for i in (0..SIDE).step_by(4) {
        for j in (0..SIDE).step_by(4) {
            let mut square = [[0; 4]; 4];
            for r in 0..4 {
                square[r].copy_from_slice(&words[i + r][j..j + 4]);
            }
            let square = turned_4x4(square);
            for r in 0..4 {
                turned[j + r][i..i + 4].copy_from_slice(&square[r]);
            }
        }
    }
}

/// Written by hand, because the compiler moves single elements, or worse, uses scatters.
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
