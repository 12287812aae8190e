//! [`super::block`] written by hand for AVX-512: the compiler does not keep 16 vectors of sums in
//! registers.

use super::block::{LANES, Left, ROWS, Sums};
use std::arch::x86_64::*;

/// A function for up to [`ROWS`] rows, and the loop for each number of them.
macro_rules! block {
    ($name:ident, $of_rows:ident, $features:literal, |$a:ident, $b:ident, $sum:ident| $multiply_add:expr) => {
        /// # Safety
        /// The machine has the instructions, and the factors have the lengths that
        /// `ConvEngine::multiply` asserts.
        pub(super) unsafe fn $name(rows: usize, left: &Left, right: &[u32], sums: &mut Sums) {
            // SAFETY: passed on to the caller.
            unsafe {
                match rows {
                    1 => $of_rows::<1>(left, right, sums),
                    2 => $of_rows::<2>(left, right, sums),
                    3 => $of_rows::<3>(left, right, sums),
                    4 => $of_rows::<4>(left, right, sums),
                    5 => $of_rows::<5>(left, right, sums),
                    6 => $of_rows::<6>(left, right, sums),
                    7 => $of_rows::<7>(left, right, sums),
                    _ => $of_rows::<ROWS>(left, right, sums),
                }
            }
        }

        #[target_feature(enable = $features)]
        unsafe fn $of_rows<const N: usize>(left: &Left, right: &[u32], sums: &mut Sums) {
            const VECTOR: usize = LANES / 2;
            let mut right = right.as_ptr().cast::<f32>();
            let mut block = [[_mm512_setzero_ps(); 2]; N];
            // SAFETY: a row of sums is two vectors. `right` advances by a row of it for each place
            // of each segment, and the caller has checked that so many are there, and that the
            // words of the last row at the last place of each segment exist.
            unsafe {
                for segment in left.segments {
                    // Wrapping: the step past the last place may lead out of the words.
                    let mut words = left.words.as_ptr().wrapping_add(*segment);
                    for _ in 0..left.depth {
                        let first = _mm512_loadu_ps(right);
                        let second = _mm512_loadu_ps(right.add(VECTOR));
                        for (i, block) in block.iter_mut().enumerate() {
                            let word = *words.add(i * left.row_step);
                            let $a = _mm512_castsi512_ps(_mm512_set1_epi32(word as i32));
                            let ($b, $sum) = (first, block[0]);
                            block[0] = $multiply_add;
                            let ($b, $sum) = (second, block[1]);
                            block[1] = $multiply_add;
                        }
                        words = words.wrapping_add(left.depth_step);
                        right = right.add(LANES);
                    }
                }
                for (block, sums) in block.iter().zip(sums.iter_mut()) {
                    _mm512_storeu_ps(sums.as_mut_ptr(), block[0]);
                    _mm512_storeu_ps(sums.as_mut_ptr().add(VECTOR), block[1]);
                }
            }
        }
    };
}

block!(multiply_f32, f32_rows, "avx512f", |a, b, sum| {
    _mm512_fmadd_ps(a, b, sum)
});

block!(
    multiply_bf16,
    bf16_rows,
    "avx512f,avx512bf16",
    |a, b, sum| {
        let (a, b) = (_mm512_castps_si512(a), _mm512_castps_si512(b));
        // Vectors of 32 bfloat16 have the bits of 16 words.
        _mm512_dpbf16_ps(
            sum,
            std::mem::transmute::<__m512i, __m512bh>(a),
            std::mem::transmute::<__m512i, __m512bh>(b),
        )
    }
);
