//! [`Simd`] with the vectors of AVX-512.

use super::{LANES, Lanes, Simd, Work};
use crate::conv::rounding::vectors::PAIRED;
use std::arch::x86_64::*;
use std::mem::transmute;
use std::ops::{Add, Mul, Sub};

/// Words are numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx512(());

impl Avx512 {
    /// # Safety
    /// The machine has the instructions.
    #[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,avx2,fma")]
    pub(super) unsafe fn run(work: impl Work) {
        work.run(Self(()));
    }
}

/// Words are pairs of bfloat16.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx512Bf16(Avx512);

impl Avx512Bf16 {
    /// # Safety
    /// The machine has the instructions.
    #[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,avx512bf16,avx2,fma")]
    pub(super) unsafe fn run(work: impl Work) {
        work.run(Self(Avx512(())));
    }
}

/// Only made by an [`Avx512`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Of512(__m512);

impl Simd for Avx512 {
    type Lanes = Of512;
    // 16 sums hide the latency of a multiply-add.
    const ROWS: usize = 8;
    const PAIRS: bool = false;

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

    #[inline(always)]
    fn pair(self, _: Of512, _: Of512) -> Of512 {
        unreachable!("words are numbers")
    }

    #[inline(always)]
    fn multiply_add(self, a: Of512, b: Of512, sum: Of512) -> Of512 {
        // SAFETY: `run` made this on a machine with AVX-512.
        Of512(unsafe { _mm512_fmadd_ps(a.0, b.0, sum.0) })
    }
}

impl Simd for Avx512Bf16 {
    type Lanes = Of512;
    const ROWS: usize = Avx512::ROWS;
    const PAIRS: bool = true;

    #[inline(always)]
    fn load(self, numbers: &[f32; LANES]) -> Of512 {
        self.0.load(numbers)
    }

    #[inline(always)]
    fn all(self, number: f32) -> Of512 {
        self.0.all(number)
    }

    #[inline(always)]
    fn pair(self, first: Of512, second: Of512) -> Of512 {
        // SAFETY: `run` made this on a machine with the instructions; all types are of 64 bytes,
        // whose values are all valid.
        unsafe {
            let one_behind_the_other = _mm512_cvtne2ps_pbh(second.0, first.0);
            let paired = _mm512_permutexvar_epi16(
                transmute::<[u16; 2 * LANES], __m512i>(PAIRED),
                transmute::<__m512bh, __m512i>(one_behind_the_other),
            );
            Of512(_mm512_castsi512_ps(paired))
        }
    }

    #[inline(always)]
    fn multiply_add(self, a: Of512, b: Of512, sum: Of512) -> Of512 {
        let (a, b) = (a.0, b.0);
        // SAFETY: as above.
        Of512(unsafe {
            _mm512_dpbf16_ps(
                sum.0,
                transmute::<__m512, __m512bh>(a),
                transmute::<__m512, __m512bh>(b),
            )
        })
    }
}

impl Lanes for Of512 {
    #[inline(always)]
    fn store(self, to: &mut [f32; LANES]) {
        // SAFETY: the machine has AVX-512, and the array is a vector long.
        unsafe { _mm512_storeu_ps(to.as_mut_ptr(), self.0) }
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
