//! Converts numbers to words: unchanged, or rounded to bfloat16 and paired. Uses the instruction
//! that rounds 32 numbers at once, if there is one.

use super::block::ConvEngine;
use crate::bf16::pair;

kernel! {
    /// Each number a word.
    pub(super) fn bits<FMA>(values: &[f32], words: &mut [u32]) {
        for (value, word) in values.iter().zip(words) {
            *word = value.to_bits();
        }
    }
}

/// Words of adjacent numbers, `values [2 words]`.
///
/// # Panics
/// If there are too few numbers.
pub(super) fn neighbours(engine: ConvEngine, values: &[f32], words: &mut [u32]) {
    assert!(values.len() >= 2 * words.len());
    #[cfg(target_arch = "x86_64")]
    if engine.rounds_in_vectors() {
        // SAFETY: the machine has the instructions, and the length was checked.
        return unsafe { vectors::neighbours(values, words) };
    }
    plain_neighbours(engine.isa, values, words);
}

/// Words with a number of each array.
///
/// # Panics
/// If there are too few numbers.
pub(super) fn pairs(engine: ConvEngine, first: &[f32], second: &[f32], words: &mut [u32]) {
    assert!(first.len() >= words.len() && second.len() >= words.len());
    #[cfg(target_arch = "x86_64")]
    if engine.rounds_in_vectors() {
        // SAFETY: the machine has the instructions, and the lengths were checked.
        return unsafe { vectors::pairs(first, second, words) };
    }
    plain_pairs(engine.isa, first, second, words);
}

kernel! {
    fn plain_neighbours<FMA>(values: &[f32], words: &mut [u32]) {
        for (two, word) in values.chunks_exact(2).zip(words) {
            *word = pair(two[0], two[1]);
        }
    }
}

kernel! {
    fn plain_pairs<FMA>(first: &[f32], second: &[f32], words: &mut [u32]) {
        for ((first, second), word) in first.iter().zip(second).zip(words) {
            *word = pair(*first, *second);
        }
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) mod vectors {
    use std::arch::x86_64::*;
    use std::mem::transmute;

    /// Words in a vector.
    const WORDS: usize = 16;

    /// Two concatenated vectors become pairs: 0, 16, 1, 17, ...
    pub(in crate::conv) const PAIRED: [u16; 2 * WORDS] = {
        let mut places = [0; 2 * WORDS];
        let mut j = 0;
        while j < WORDS {
            (places[2 * j], places[2 * j + 1]) = (j as u16, (WORDS + j) as u16);
            j += 1;
        }
        places
    };

    /// # Safety
    /// The machine has the instructions, and there are two numbers for each word.
    #[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
    pub(super) unsafe fn neighbours(values: &[f32], words: &mut [u32]) {
        for (words, values) in words.chunks_mut(WORDS).zip(values.chunks(2 * WORDS)) {
            // SAFETY: masks only let through what exists.
            unsafe {
                let low = load(values);
                let high = load(&values[WORDS.min(values.len())..]);
                let both = _mm512_cvtne2ps_pbh(high, low);
                store(words, transmute::<__m512bh, __m512i>(both));
            }
        }
    }

    /// # Safety
    /// The machine has the instructions, and each array has a number for each word.
    #[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
    pub(super) unsafe fn pairs(first: &[f32], second: &[f32], words: &mut [u32]) {
        // SAFETY: both are 64 bytes, and all of their values are valid.
        let paired = unsafe { transmute::<[u16; 2 * WORDS], __m512i>(PAIRED) };
        let numbers = first.chunks(WORDS).zip(second.chunks(WORDS));
        for (words, (first, second)) in words.chunks_mut(WORDS).zip(numbers) {
            // SAFETY: masks only let through what exists.
            unsafe {
                let both = _mm512_cvtne2ps_pbh(load(second), load(first));
                let both = transmute::<__m512bh, __m512i>(both);
                store(words, _mm512_permutexvar_epi16(paired, both));
            }
        }
    }

    /// Up to 16 numbers, then zeros.
    ///
    /// # Safety
    /// The machine has the instructions.
    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn load(values: &[f32]) -> __m512 {
        // SAFETY: the mask only lets through what exists.
        unsafe { _mm512_maskz_loadu_ps(mask(values.len()), values.as_ptr()) }
    }

    /// As many of the words as there is room for.
    ///
    /// # Safety
    /// The machine has the instructions.
    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn store(to: &mut [u32], words: __m512i) {
        let to_start = to.as_mut_ptr();
        // SAFETY: the mask only lets through what exists. Masked stores are slow, so they are used
        // only at the end.
        unsafe {
            if to.len() >= WORDS {
                _mm512_storeu_si512(to_start.cast(), words);
            } else {
                _mm512_mask_storeu_epi32(to_start.cast(), mask(to.len()), words);
            }
        }
    }

    /// The first `count` of 16.
    #[inline(always)]
    fn mask(count: usize) -> __mmask16 {
        match count {
            0..WORDS => (1 << count) - 1,
            _ => !0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::Isa;
    use crate::product::Precision;

    #[test]
    fn all_instruction_sets_make_the_same_words() {
        let values: Vec<f32> = (0..200).map(|i| (i as f32 * 0.7).sin() * 1e3).collect();
        for isa in Isa::supported() {
            let engine = ConvEngine {
                precision: Precision::Bf16,
                isa,
            };
            for count in [0, 1, 2, 15, 16, 17, 33, 64, 100] {
                // One more: the word after the end must not change.
                let mut words = vec![7; count + 1];
                neighbours(engine, &values, &mut words[..count]);
                let expected = |i: usize| pair(values[2 * i], values[2 * i + 1]);
                assert!((0..count).all(|i| words[i] == expected(i)), "{isa:?}");
                assert_eq!(words[count], 7);
                pairs(engine, &values, &values[50..], &mut words[..count]);
                let expected = |i: usize| pair(values[i], values[50 + i]);
                assert!((0..count).all(|i| words[i] == expected(i)), "{isa:?}");
                assert_eq!(words[count], 7);
            }
        }
    }
}
