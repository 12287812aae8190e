//! Sixteen numbers at once in vector registers. The compiler does not vectorise the loops of
//! [`super::lines`] by itself.
//!
//! A [`Simd`] can only be obtained from [`run`], so having one, or [`Lanes`] made with it, proves
//! that the machine has its instructions.

mod avx2;
mod avx512;

use crate::conv::block::ConvEngine;
use crate::isa::Isa;
use crate::product::Precision;
use avx2::Avx2;
use avx512::{Avx512, Avx512Bf16};
use std::ops::{Add, Mul, Sub};

/// Numbers of [`Lanes`].
pub(super) const LANES: usize = 16;

/// A vector instruction set with the format of words in products: numbers, or pairs of numbers
/// rounded to bfloat16.
pub(super) trait Simd: Copy {
    type Lanes: Lanes;
    /// Rows of a product that fit into the registers, of two [`Lanes`] each.
    const ROWS: usize;
    /// Whether a word is two numbers.
    const PAIRS: bool;

    fn load(self, numbers: &[f32; LANES]) -> Self::Lanes;
    /// The same number in all lanes.
    fn all(self, number: f32) -> Self::Lanes;
    /// Words with a number of each argument, if words are pairs.
    fn pair(self, first: Self::Lanes, second: Self::Lanes) -> Self::Lanes;
    /// `sum` plus the products of words.
    fn multiply_add(self, a: Self::Lanes, b: Self::Lanes, sum: Self::Lanes) -> Self::Lanes;
}

/// [`LANES`] numbers.
pub(super) trait Lanes:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<f32, Output = Self>
{
    fn store(self, to: &mut [f32; LANES]);
    /// `factor * self + added`.
    fn scaled_plus(self, factor: f32, added: Self) -> Self;
}

/// Work that is generic over instruction sets. `run` has to be `#[inline(always)]`.
pub(super) trait Work {
    fn run<S: Simd>(self, simd: S);
}

/// Whether there is an implementation for this instruction set.
pub(super) fn are_there(engine: ConvEngine) -> bool {
    engine.isa != Isa::Portable
}

/// Whether words are pairs of numbers.
pub(super) fn pairs(engine: ConvEngine) -> bool {
    engine.precision == Precision::Bf16 && engine.rounds_in_vectors()
}

/// Does the work with the instruction set.
///
/// # Panics
/// If there is no implementation for it.
pub(super) fn run(engine: ConvEngine, work: impl Work) {
    match engine.isa {
        // SAFETY: an instruction set is only current where it was detected; those for bfloat16
        // are detected here.
        Isa::Amx | Isa::Avx512Bf16 | Isa::Avx512 if pairs(engine) => unsafe {
            Avx512Bf16::run(work);
        },
        // SAFETY: as above.
        Isa::Amx | Isa::Avx512Bf16 | Isa::Avx512 => unsafe { Avx512::run(work) },
        // SAFETY: as above.
        Isa::Avx2 => unsafe { Avx2::run(work) },
        Isa::Portable => panic!("no vectors"),
    }
}

/// The numbers from `place` on.
#[inline(always)]
pub(super) fn at(numbers: &[f32], place: usize) -> &[f32; LANES] {
    numbers[place..].first_chunk().expect("whole lanes")
}

/// The numbers from `place` on, to be written.
#[inline(always)]
pub(super) fn at_mut(numbers: &mut [f32], place: usize) -> &mut [f32; LANES] {
    numbers[place..].first_chunk_mut().expect("whole lanes")
}

/// Lanes at the start and every `step` numbers further.
///
/// # Panics
/// If there are too few numbers.
#[inline(always)]
pub(super) fn gather<S: Simd, const N: usize>(
    simd: S,
    numbers: &[f32],
    step: usize,
) -> [S::Lanes; N] {
    assert!(numbers.len() >= (N - 1) * step + LANES);
    let mut all = [simd.all(0.0); N];
    for (k, lanes) in all.iter_mut().enumerate() {
        // SAFETY: `k` is at most N - 1, and the length was checked for that.
        *lanes = simd.load(unsafe { &*numbers.as_ptr().add(k * step).cast() });
    }
    all
}

/// The opposite of [`gather`].
///
/// # Panics
/// If there are too few numbers.
#[inline(always)]
pub(super) fn scatter<L: Lanes, const N: usize>(all: [L; N], numbers: &mut [f32], step: usize) {
    assert!(numbers.len() >= (N - 1) * step + LANES);
    for (k, lanes) in all.into_iter().enumerate() {
        // SAFETY: `k` is at most N - 1, and the length was checked for that.
        lanes.store(unsafe { &mut *numbers.as_mut_ptr().add(k * step).cast() });
    }
}

/// Column `k` of a matrix.
#[inline(always)]
pub(super) fn column<L: Lanes, const N: usize, const M: usize>(
    matrix: &[[L; M]; N],
    k: usize,
) -> [L; N] {
    let mut column = [matrix[0][k]; N];
    for (to, row) in column.iter_mut().zip(matrix) {
        *to = row[k];
    }
    column
}
