//! [`Simd`] with the vectors of AVX2, two by two.

use super::{LANES, Lanes, Simd, Work};
use std::arch::x86_64::*;
use std::ops::{Add, Mul, Sub};

/// Words are numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx2(());

impl Avx2 {
    /// # Safety
    /// The machine has the instructions.
    #[target_feature(enable = "avx2,fma")]
    pub(super) unsafe fn run(work: impl Work) {
        work.run(Self(()));
    }
}

/// Only made by an [`Avx2`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Of256([__m256; 2]);

impl Of256 {
    #[inline(always)]
    fn each(self, other: Self, of_half: impl Fn(__m256, __m256) -> __m256) -> Self {
        let ([a, b], [c, d]) = (self.0, other.0);
        Self([of_half(a, c), of_half(b, d)])
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
}

impl Simd for Avx2 {
    type Lanes = Of256;
    // 8 of 16 vectors are sums.
    const ROWS: usize = 2;
    const PAIRS: bool = false;

    #[inline(always)]
    fn load(self, numbers: &[f32; LANES]) -> Of256 {
        let start = numbers.as_ptr();
        // SAFETY: `run` made this on a machine with AVX; the array is two vectors long.
        Of256(unsafe {
            [
                _mm256_loadu_ps(start),
                _mm256_loadu_ps(start.add(LANES / 2)),
            ]
        })
    }

    #[inline(always)]
    fn all(self, number: f32) -> Of256 {
        // SAFETY: `run` made this on a machine with AVX.
        Of256([unsafe { _mm256_set1_ps(number) }; 2])
    }

    #[inline(always)]
    fn pair(self, _: Of256, _: Of256) -> Of256 {
        unreachable!("words are numbers")
    }

    #[inline(always)]
    fn multiply_add(self, a: Of256, b: Of256, sum: Of256) -> Of256 {
        a.times_plus(b, sum)
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
        self.each(self, |a, _| unsafe {
            _mm256_mul_ps(a, _mm256_set1_ps(factor))
        })
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
