//! The innermost product: a block of sums that stays in registers.
//!
//! Factors are 32-bit words. In `f32` a word is a number; in bfloat16 it is two consecutive numbers
//! along the sum, and both products are added at once.

use crate::isa::Isa;
use crate::math::fma;
use crate::product::Precision;

/// Rows of a block: with two vectors each, 16 sums hide the latency of a multiply-add.
pub(super) const ROWS: usize = 8;
/// Numbers in a row.
pub(super) const LANES: usize = 32;

/// Words of a tile's row, and rows of a tile.
pub(super) const TILE: usize = 16;

/// The sums of a block.
pub(super) type Sums = [[f32; LANES]; ROWS];

/// The left factor of a block: the word of row `i` at position `k` of segment `s` is
/// `words[segments[s] + i * row_step + k * depth_step]`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Left<'a> {
    pub words: &'a [u32],
    pub segments: &'a [usize],
    /// Positions of each segment.
    pub depth: usize,
    pub row_step: usize,
    pub depth_step: usize,
}

/// The instructions for blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ConvEngine {
    pub precision: Precision,
    pub isa: Isa,
}

impl ConvEngine {
    /// For this precision and the current instruction set.
    pub(super) fn of(precision: Precision) -> Self {
        Self {
            precision,
            isa: Isa::current(),
        }
    }

    /// Whether products are made on AMX tiles (`tile_block.rs`).
    pub(super) fn uses_tiles(self) -> bool {
        self.isa == Isa::Amx && self.precision == Precision::Bf16
    }

    /// Whether the instructions of [`Isa::Avx512`] are there, and those for bfloat16.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn rounds_in_vectors(self) -> bool {
        !matches!(self.isa, Isa::Avx2 | Isa::Portable) && is_x86_feature_detected!("avx512bf16")
    }

    /// Words of `numbers` consecutive numbers along a sum.
    pub(super) fn words(self, numbers: usize) -> usize {
        match self.precision {
            Precision::F32 => numbers,
            Precision::Bf16 => numbers.div_ceil(2),
        }
    }

    /// [`ConvEngine::words`] of `numbers`, padded to complete tiles if tiles are used.
    pub(super) fn depth(self, numbers: usize) -> usize {
        let words = self.words(numbers);
        if self.uses_tiles() {
            words.next_multiple_of(TILE)
        } else {
            words
        }
    }

    /// How many of the operations that [`crate::parallel`] counts take as long as these
    /// floating-point operations.
    pub(super) fn operations(self, flop: f64) -> usize {
        (flop / if self.uses_tiles() { 512.0 } else { 8.0 }) as usize
    }

    /// `sums[i][j] = left[i] . right[j]` for the first `rows` rows, with `right [segments, depth,
    /// LANES]`.
    ///
    /// # Panics
    /// If the factors are shorter than that.
    pub(super) fn multiply(self, rows: usize, left: &Left, right: &[u32], sums: &mut Sums) {
        assert!((1..=ROWS).contains(&rows));
        assert!(right.len() >= left.segments.len() * left.depth * LANES);
        if left.depth == 0 {
            return sums.as_flattened_mut().fill(0.0);
        }
        let reach = (rows - 1) * left.row_step + (left.depth - 1) * left.depth_step;
        for segment in left.segments {
            assert!(segment + reach < left.words.len());
        }
        #[cfg(target_arch = "x86_64")]
        if !matches!(self.isa, Isa::Avx2 | Isa::Portable) {
            // SAFETY: an instruction set is only current where it was detected, bfloat16 is
            // detected here, and the lengths were checked above.
            unsafe {
                match self.precision {
                    Precision::F32 => {
                        return super::block_avx512::multiply_f32(rows, left, right, sums);
                    }
                    Precision::Bf16 if self.rounds_in_vectors() => {
                        return super::block_avx512::multiply_bf16(rows, left, right, sums);
                    }
                    Precision::Bf16 => {}
                }
            }
        }
        match self.precision {
            Precision::F32 => plain_f32(self.isa, rows, left, right, sums),
            Precision::Bf16 => plain_bf16(self.isa, rows, left, right, sums),
        }
    }
}

kernel! {
    fn plain_f32<FMA>(rows: usize, left: &Left, right: &[u32], sums: &mut Sums) {
        for (i, sums) in sums.iter_mut().take(rows).enumerate() {
            let mut row = [0.0; LANES];
            let mut right = right.chunks_exact(LANES);
            for segment in left.segments {
                let places = left.words[segment + i * left.row_step..].iter();
                let places = places.step_by(left.depth_step).take(left.depth);
                for (word, right) in places.zip(&mut right) {
                    let a = f32::from_bits(*word);
                    for (sum, b) in row.iter_mut().zip(right) {
                        *sum = fma::<FMA>(a, f32::from_bits(*b), *sum);
                    }
                }
            }
            *sums = row;
        }
    }
}

kernel! {
    fn plain_bf16<FMA>(rows: usize, left: &Left, right: &[u32], sums: &mut Sums) {
        for (i, sums) in sums.iter_mut().take(rows).enumerate() {
            let mut row = [0.0; LANES];
            let mut right = right.chunks_exact(LANES);
            for segment in left.segments {
                let places = left.words[segment + i * left.row_step..].iter();
                let places = places.step_by(left.depth_step).take(left.depth);
                for (word, right) in places.zip(&mut right) {
                    let (low, high) = (f32::from_bits(word << 16), f32::from_bits(word & 0xffff_0000));
                    for (sum, b) in row.iter_mut().zip(right) {
                        let first = fma::<FMA>(low, f32::from_bits(b << 16), *sum);
                        *sum = fma::<FMA>(high, f32::from_bits(b & 0xffff_0000), first);
                    }
                }
            }
            *sums = row;
        }
    }
}
