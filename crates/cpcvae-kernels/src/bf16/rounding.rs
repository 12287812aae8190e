//! Rounding to bfloat16, the upper half of an `f32`.

use crate::isa::Isa;
use crate::parallel;

/// The bits of `value` rounded to the nearest bfloat16 (ties to even), in the upper half; the lower
/// half is left over from rounding and must be masked or shifted away.
///
/// NaN stays NaN: the addition could carry into a number, so NaN gets its quiet bit instead.
#[inline(always)]
pub(super) fn rounded_bits(value: f32) -> u32 {
    let bits = value.to_bits();
    let rounded = bits.wrapping_add(0x7fff + ((bits >> 16) & 1));
    if value.is_nan() {
        bits | 0x0040_0000
    } else {
        rounded
    }
}

/// The word of two bfloat16: `first` in the lower half, which comes first in memory.
#[inline(always)]
pub(crate) fn pair(first: f32, second: f32) -> u32 {
    rounded_bits(first) >> 16 | rounded_bits(second) & 0xffff_0000
}

/// Both numbers of a [`pair`].
#[inline(always)]
pub(super) fn unpair(word: u32) -> [f32; 2] {
    [
        f32::from_bits(word << 16),
        f32::from_bits(word & 0xffff_0000),
    ]
}

/// Rounds every element to the nearest bfloat16 (ties to even): an `f32` product of numbers rounded
/// like this is a bfloat16 product. NaN and infinity are kept.
///
/// # Panics
/// If the slices have different lengths.
pub fn round_to_bf16(source: &[f32], rounded: &mut [f32]) {
    assert_eq!(source.len(), rounded.len());
    let isa = Isa::current();
    let piece = parallel::rows_per_piece(1);
    let pieces = source.chunks(piece).zip(rounded.chunks_mut(piece));
    parallel::for_each(source.len(), pieces, |(source, rounded)| {
        round_piece(isa, source, rounded);
    });
}

kernel! {
    fn round_piece<FMA>(source: &[f32], rounded: &mut [f32]) {
        for (source, rounded) in source.iter().zip(rounded) {
            *rounded = f32::from_bits(rounded_bits(*source) & 0xffff_0000);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The nearest bfloat16 by its definition: the closer one of the two around `value`, or the one
    /// whose last bit is zero.
    fn nearest_bf16(value: f32) -> f32 {
        if !value.is_finite() {
            return value;
        }
        let below = value.to_bits() & 0xffff_0000;
        // The next one away from zero. Past the largest finite one it counts as 2^128.
        let above = below + 0x1_0000;
        let wide = |bits: u32| match f64::from(f32::from_bits(bits)) {
            infinite if infinite.is_infinite() => 2f64.powi(128).copysign(infinite),
            finite => finite,
        };
        let (to_below, to_above) = (
            (f64::from(value) - wide(below)).abs(),
            (wide(above) - f64::from(value)).abs(),
        );
        let below_is_even = below & 0x1_0000 == 0;
        f32::from_bits(
            if to_below < to_above || (to_below == to_above && below_is_even) {
                below
            } else {
                above
            },
        )
    }

    fn rounded(values: &[f32]) -> Vec<f32> {
        let mut rounded = vec![0.0; values.len()];
        round_to_bf16(values, &mut rounded);
        rounded
    }

    #[test]
    fn to_the_nearest() {
        let mut bits = vec![0u32];
        for exponent in [0, 1, 2, 100, 127, 128, 200, 253, 254] {
            for upper in [0, 1, 2, 0x3e, 0x3f, 0x40, 0x7e, 0x7f] {
                for lower in [0, 1, 0x7fff, 0x8000, 0x8001, 0xffff] {
                    bits.push(exponent << 23 | upper << 16 | lower);
                }
            }
        }
        bits.extend((1..1000).map(|i: u32| i.wrapping_mul(0x9e37_79b9) & 0x7f7f_ffff));
        bits.extend(bits.clone().iter().map(|bits| bits ^ 1 << 31));
        let values: Vec<f32> = bits.into_iter().map(f32::from_bits).collect();
        for isa in Isa::supported() {
            for (value, rounded) in values.iter().zip(isa.run(|| rounded(&values))) {
                let expected = nearest_bf16(*value);
                assert_eq!(rounded.to_bits(), expected.to_bits(), "{value:e}");
            }
            let specials = [f32::INFINITY, f32::NEG_INFINITY];
            assert_eq!(isa.run(|| rounded(&specials)), specials);
            // Rounding would make the first a number, cutting off the second infinity.
            for nan in [0x7fff_ffff, 0x7f80_0001, 0xffff_ffff, 0xff80_0001] {
                assert!(isa.run(|| rounded(&[f32::from_bits(nan)]))[0].is_nan());
            }
        }
    }
}
