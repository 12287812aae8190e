//! The words of one tile with the AVX-512 instruction that rounds 32 numbers to bfloat16 at once.
//!
//! The same words as those of [`super::tile_words`], except that numbers below 2^-126 become zero,
//! as they do in the products anyway.

use super::packing::{DEPTH, SIDE};
use super::tile_words::{Source, Words};
use std::arch::x86_64::*;
use std::mem::transmute;

/// Whether [`words`] can be called on this machine.
pub(super) fn is_supported() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512bf16")
}

/// The words of the tile of line `line` and step `k` of the source, transposed if the layout needs
/// it; padded with zeros.
///
/// # Safety
/// [`is_supported`] must hold, and `line` and `k` must lie within the source.
#[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
pub(super) unsafe fn words(
    source: Source,
    k_runs_down_source: bool,
    turn: bool,
    [line, k]: [usize; 2],
    words: &mut Words,
) {
    let mut rows = [_mm512_setzero_si512(); SIDE];
    // SAFETY: by the condition of this function.
    unsafe {
        if k_runs_down_source {
            from_columns(source, line, k, &mut rows);
        } else {
            from_rows(source, line, k, &mut rows);
        }
    }
    if turn {
        rows = turned(rows);
    }
    for (words, row) in words.iter_mut().zip(rows) {
        // SAFETY: 16 words are 64 bytes; the store is unaligned.
        unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), row) };
    }
}

/// As [`Source::words_from_rows`].
///
/// # Safety
/// As for [`words`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
unsafe fn from_rows(source: Source, line: usize, k: usize, rows: &mut [__m512i; SIDE]) {
    let here = (source.depth - k).min(DEPTH);
    let (first, second) = (mask(here), mask(here.saturating_sub(SIDE)));
    for (line, row) in (line..source.lines).zip(rows) {
        // SAFETY: the masks only let through what lies within the row.
        unsafe {
            let from = source.values.as_ptr().add(line * source.depth + k);
            let low = _mm512_maskz_loadu_ps(first, from);
            let high = _mm512_maskz_loadu_ps(second, from.wrapping_add(SIDE));
            *row = transmute::<__m512bh, __m512i>(_mm512_cvtne2ps_pbh(high, low));
        }
    }
}

/// As [`Source::words_from_columns`].
///
/// # Safety
/// As for [`words`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
unsafe fn from_columns(source: Source, line: usize, k: usize, rows: &mut [__m512i; SIDE]) {
    // Two concatenated vectors become pairs: 0, 16, 1, 17, ...
    const PAIRED: [u16; DEPTH] = {
        let mut places = [0; DEPTH];
        let mut j = 0;
        while j < SIDE {
            (places[2 * j], places[2 * j + 1]) = (j as u16, (SIDE + j) as u16);
            j += 1;
        }
        places
    };
    // SAFETY: both are 64 bytes, and all of their values are valid.
    let paired = unsafe { transmute::<[u16; DEPTH], __m512i>(PAIRED) };
    let here = mask(source.lines - line);
    for (k, row) in (k..source.depth).step_by(2).zip(rows) {
        // SAFETY: the mask only lets through what lies within the row; a row that does not exist is
        // not read.
        unsafe {
            let from = source.values.as_ptr().add(k * source.lines + line);
            let even = _mm512_maskz_loadu_ps(here, from);
            let has_odd = if k + 1 < source.depth { here } else { 0 };
            let odd = _mm512_maskz_loadu_ps(has_odd, from.wrapping_add(source.lines));
            let both = transmute::<__m512bh, __m512i>(_mm512_cvtne2ps_pbh(odd, even));
            *row = _mm512_permutexvar_epi16(paired, both);
        }
    }
}

/// The first `count` of 16.
fn mask(count: usize) -> __mmask16 {
    match count {
        0..SIDE => (1 << count) - 1,
        _ => !0,
    }
}

/// Transposes the words: pairs of rows exchange words, then pairs of those exchange two, then
/// quarters of vectors are swapped twice.
#[inline]
#[target_feature(enable = "avx512f")]
fn turned(rows: [__m512i; SIDE]) -> [__m512i; SIDE] {
    let mut pairs = [_mm512_setzero_si512(); SIDE];
    for i in (0..SIDE).step_by(2) {
        pairs[i] = _mm512_unpacklo_epi32(rows[i], rows[i + 1]);
        pairs[i + 1] = _mm512_unpackhi_epi32(rows[i], rows[i + 1]);
    }
    // Vector 4 q + c: in each quarter p, word 4 p + c of rows 4 q to 4 q + 3.
    let mut fours = [_mm512_setzero_si512(); SIDE];
    for q in (0..SIDE).step_by(4) {
        for half in 0..2 {
            let (upper, lower) = (pairs[q + half], pairs[q + 2 + half]);
            fours[q + 2 * half] = _mm512_unpacklo_epi64(upper, lower);
            fours[q + 2 * half + 1] = _mm512_unpackhi_epi64(upper, lower);
        }
    }
    let mut turned = [_mm512_setzero_si512(); SIDE];
    for c in 0..4 {
        // Quarters 0 and 1, then 2 and 3, of rows 0 to 7 and of rows 8 to 15.
        let first = _mm512_shuffle_i32x4::<0b01_00_01_00>(fours[c], fours[4 + c]);
        let second = _mm512_shuffle_i32x4::<0b11_10_11_10>(fours[c], fours[4 + c]);
        let third = _mm512_shuffle_i32x4::<0b01_00_01_00>(fours[8 + c], fours[12 + c]);
        let fourth = _mm512_shuffle_i32x4::<0b11_10_11_10>(fours[8 + c], fours[12 + c]);
        turned[c] = _mm512_shuffle_i32x4::<0b10_00_10_00>(first, third);
        turned[4 + c] = _mm512_shuffle_i32x4::<0b11_01_11_01>(first, third);
        turned[8 + c] = _mm512_shuffle_i32x4::<0b10_00_10_00>(second, fourth);
        turned[12 + c] = _mm512_shuffle_i32x4::<0b11_01_11_01>(second, fourth);
    }
    turned
}

#[cfg(test)]
mod tests {
    use super::super::tile_words::turn;
    use super::*;

    /// The same by the plain loops.
    fn plain(source: Source, down: bool, turned: bool, [line, k]: [usize; 2]) -> Words {
        let (mut words, mut other) = ([[0; SIDE]; SIDE], [[0; SIDE]; SIDE]);
        if down {
            source.words_from_columns(line, k, &mut words);
        } else {
            source.words_from_rows(line, k, &mut words);
        }
        turn(&words, &mut other);
        if turned { other } else { words }
    }

    #[test]
    fn the_same_words_as_plain_loops_at_all_edges() {
        if !is_supported() {
            eprintln!("skipped: this machine has no AVX-512 BF16");
            return;
        }
        let value = |i: usize| ((i * 7919 % 10007) as f32 - 5000.0) * 1.7e-3;
        for lines in [1, 15, 16, 17, 31, 32, 33] {
            for depth in [1, 2, 15, 16, 17, 31, 32, 33, 64, 65] {
                let values: Vec<f32> = (0..lines * depth).map(value).collect();
                let source = Source {
                    lines,
                    depth,
                    values: &values,
                };
                for place in (0..lines)
                    .step_by(SIDE)
                    .flat_map(|line| (0..depth).step_by(DEPTH).map(move |k| [line, k]))
                {
                    for (down, turned) in
                        [(false, false), (false, true), (true, false), (true, true)]
                    {
                        let mut found = [[1; SIDE]; SIDE];
                        // SAFETY: asked above; the place lies within the source.
                        unsafe { words(source, down, turned, place, &mut found) };
                        assert_eq!(
                            found,
                            plain(source, down, turned, place),
                            "{lines} x {depth} at {place:?}, {down} {turned}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_no_number_stays_none() {
        if !is_supported() {
            eprintln!("skipped: this machine has no AVX-512 BF16");
            return;
        }
        let values = [f32::NAN, f32::INFINITY, -f32::INFINITY, 1e-44];
        let source = Source {
            lines: 1,
            depth: 4,
            values: &values,
        };
        let mut found = [[0; SIDE]; SIDE];
        // SAFETY: asked above; the place lies within the source.
        unsafe { words(source, false, false, [0, 0], &mut found) };
        let [first, second] = super::super::rounding::unpair(found[0][0]);
        assert!(first.is_nan() && second == f32::INFINITY);
        let pair = super::super::rounding::unpair(found[0][1]);
        assert_eq!(pair, [-f32::INFINITY, 0.0]);
    }
}
