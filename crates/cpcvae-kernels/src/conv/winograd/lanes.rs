//! Sixteen numbers at once, in the vectors of the machine. The compiler does not find them in the
//! loops of [`super::lines`] by itself.
//!
//! A [`Simd`] can only be had from [`run`], so whoever has one is on a machine with its
//! instructions, and so is whoever has [`Lanes`] from it.

use crate::isa::Isa;
use std::arch::x86_64::*;
use std::ops::{Add, Mul, Sub};

/// Numbers of [`Lanes`].
pub(super) const LANES: usize = 16;

/// A kind of vectors.
pub(super) trait Simd: Copy {
    type Lanes: Lanes;
    /// Rows of a product that fit the registers, of two [`Lanes`] each.
    const ROWS: usize;

    fn load(self, numbers: &[f32; LANES]) -> Self::Lanes;
    /// The same number in all lanes.
    fn all(self, number: f32) -> Self::Lanes;
}

/// [`LANES`] numbers.
pub(super) trait Lanes:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<f32, Output = Self>
{
    fn store(self, to: &mut [f32; LANES]);
    /// `self * factor + added`.
    fn times_plus(self, factor: Self, added: Self) -> Self;
    /// `factor * self + added`.
    fn scaled_plus(self, factor: f32, added: Self) -> Self;
}

/// What can be done with any vectors. `run` has to be `#[inline(always)]`.
pub(super) trait Work {
    fn run<S: Simd>(self, simd: S);
}

/// Whether there are vectors for this instruction set.
pub(super) fn are_there(isa: Isa) -> bool {
    isa != Isa::Portable
}

/// Does the work with the vectors of the instruction set.
///
/// # Panics
/// If it has none.
pub(super) fn run(isa: Isa, work: impl Work) {
    #[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,avx2,fma")]
    fn avx512(work: impl Work) {
        work.run(Avx512(()));
    }
    #[target_feature(enable = "avx2,fma")]
    fn avx2(work: impl Work) {
        work.run(Avx2(()));
    }
    match isa {
        // SAFETY: an instruction set is only current where it was detected.
        Isa::Amx | Isa::Avx512Bf16 | Isa::Avx512 => unsafe { avx512(work) },
        // SAFETY: as above.
        Isa::Avx2 => unsafe { avx2(work) },
        Isa::Portable => panic!("no vectors"),
    }
}

#[derive(Clone, Copy, Debug)]
struct Avx512(());

/// Whoever has one got it from an [`Avx512`].
#[derive(Clone, Copy, Debug)]
struct Of512(__m512);

impl Simd for Avx512 {
    type Lanes = Of512;
    const ROWS: usize = 8;

    #[inline(always)]
    fn load(self, numbers: &[f32; LANES]) -> Of512 {
        // SAFETY: `run` made this on a machine with AVX-512; the array is a vector long.
        Of512(unsafe { _mm512_loadu_ps(numbers.as_ptr()) })
    }

    #[inline(always)]
    fn all(self, number: f32) -> Of512 {
        // SAFETY: `run` made this on a machine with AVX-512.
        Of512(unsafe { _mm512_set1_ps(number) })
    }
}

impl Lanes for Of512 {
    #[inline(always)]
    fn store(self, to: &mut [f32; LANES]) {
        // SAFETY: the machine has AVX-512, and the array is a vector long.
        unsafe { _mm512_storeu_ps(to.as_mut_ptr(), self.0) }
    }

    #[inline(always)]
    fn times_plus(self, factor: Self, added: Self) -> Self {
        // SAFETY: the machine has AVX-512.
        Self(unsafe { _mm512_fmadd_ps(self.0, factor.0, added.0) })
    }

    #[inline(always)]
    fn scaled_plus(self, factor: f32, added: Self) -> Self {
        // SAFETY: the machine has AVX-512.
        Self(unsafe { _mm512_fmadd_ps(self.0, _mm512_set1_ps(factor), added.0) })
    }
}

impl Add for Of512 {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: the machine has AVX-512.
        Self(unsafe { _mm512_add_ps(self.0, other.0) })
    }
}

impl Mul<f32> for Of512 {
    type Output = Self;
    #[inline(always)]
    fn mul(self, factor: f32) -> Self {
        // SAFETY: the machine has AVX-512.
        Self(unsafe { _mm512_mul_ps(self.0, _mm512_set1_ps(factor)) })
    }
}

impl Sub for Of512 {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        // SAFETY: the machine has AVX-512.
        Self(unsafe { _mm512_sub_ps(self.0, other.0) })
    }
}

#[derive(Clone, Copy, Debug)]
struct Avx2(());

/// Whoever has one got it from an [`Avx2`].
#[derive(Clone, Copy, Debug)]
struct Of256([__m256; 2]);

impl Of256 {
    #[inline(always)]
    fn each(self, other: Self, of_half: impl Fn(__m256, __m256) -> __m256) -> Self {
        let ([a, b], [c, d]) = (self.0, other.0);
        Self([of_half(a, c), of_half(b, d)])
    }
}

impl Simd for Avx2 {
    type Lanes = Of256;
    const ROWS: usize = 2;

    #[inline(always)]
    fn load(self, numbers: &[f32; LANES]) -> Of256 {
        let start = numbers.as_ptr();
        // SAFETY: `run` made this on a machine with AVX; the array is two vectors long.
        Of256(unsafe { [_mm256_loadu_ps(start), _mm256_loadu_ps(start.add(LANES / 2))] })
    }

    #[inline(always)]
    fn all(self, number: f32) -> Of256 {
        // SAFETY: `run` made this on a machine with AVX.
        Of256([unsafe { _mm256_set1_ps(number) }; 2])
    }
}

impl Lanes for Of256 {
    #[inline(always)]
    fn store(self, to: &mut [f32; LANES]) {
        let start = to.as_mut_ptr();
        // SAFETY: the machine has AVX, and the array is two vectors long.
        unsafe {
            _mm256_storeu_ps(start, self.0[0]);
            _mm256_storeu_ps(start.add(LANES / 2), self.0[1]);
        }
    }

    #[inline(always)]
    fn times_plus(self, factor: Self, added: Self) -> Self {
        let ([a, b], [c, d]) = (self.0, factor.0);
        // SAFETY: the machine has FMA.
        Self(unsafe {
            [
                _mm256_fmadd_ps(a, c, added.0[0]),
                _mm256_fmadd_ps(b, d, added.0[1]),
            ]
        })
    }

    #[inline(always)]
    fn scaled_plus(self, factor: f32, added: Self) -> Self {
        // SAFETY: the machine has AVX.
        let factor = unsafe { _mm256_set1_ps(factor) };
        self.times_plus(Self([factor; 2]), added)
    }
}

impl Add for Of256 {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: the machine has AVX.
        self.each(other, |a, b| unsafe { _mm256_add_ps(a, b) })
    }
}

impl Mul<f32> for Of256 {
    type Output = Self;
    #[inline(always)]
    fn mul(self, factor: f32) -> Self {
        // SAFETY: the machine has AVX.
        self.each(self, |a, _| unsafe { _mm256_mul_ps(a, _mm256_set1_ps(factor)) })
    }
}

impl Sub for Of256 {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        // SAFETY: the machine has AVX.
        self.each(other, |a, b| unsafe { _mm256_sub_ps(a, b) })
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

/// Lanes from the start and every `step` numbers further on.
#[inline(always)]
pub(super) fn gather<S: Simd, const N: usize>(
    simd: S,
    numbers: &[f32],
    step: usize,
) -> [S::Lanes; N] {
    let mut all = [simd.all(0.0); N];
    for (k, lanes) in all.iter_mut().enumerate() {
        *lanes = simd.load(at(numbers, k * step));
    }
    all
}

/// The opposite of [`gather`].
#[inline(always)]
pub(super) fn scatter<L: Lanes, const N: usize>(all: [L; N], numbers: &mut [f32], step: usize) {
    for (k, lanes) in all.into_iter().enumerate() {
        lanes.store(at_mut(numbers, k * step));
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
