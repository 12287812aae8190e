//! Offsets for numbers that are large against their spread, subtracted before they become 32 bits.

/// 32-bit floats have 24 binary digits. If the largest number exceeds the spread by this factor, at
/// most 14 of them are left for the spread.
const LARGE: f64 = 1024.0;

/// The offset for numbers in this range: 0 unless they are large against their spread.
pub(crate) fn offset_of(smallest: f64, largest: f64) -> f64 {
    let spread = largest - smallest;
    let size = smallest.abs().max(largest.abs());
    let is_exact = f64::from(largest as f32) == largest;
    if spread == 0.0 && !is_exact && largest.fract() == 0.0 && size < 9e15 {
        // A constant has no spread to keep, but must be written back exactly.
        return largest;
    }
    match spread > 0.0 && size.is_finite() && size > LARGE * spread {
        true => middle(smallest, largest),
        false => 0.0,
    }
}

/// The middle, rounded to a power of two below the spread: whole numbers stay whole, and the
/// subtraction is exact.
pub(crate) fn middle(smallest: f64, largest: f64) -> f64 {
    let unit = (largest - smallest).log2().floor().exp2();
    let middle = smallest + (largest - smallest) / 2.0;
    match unit > 0.0 {
        true => (middle / unit).round() * unit,
        false => middle,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_that_are_large_against_their_spread_have_an_offset() {
        for (smallest, largest) in [(0.0, 1.0), (-5.0, 1e30), (1990.0, 2020.0), (0.1, 0.1)] {
            assert_eq!(offset_of(smallest, largest), 0.0, "{smallest} {largest}");
        }
        assert_eq!(offset_of(f64::INFINITY, f64::NEG_INFINITY), 0.0);
        assert_eq!(offset_of(1.7e9 - 20.0, 1.7e9 + 20.0), 1.7e9);
        assert_eq!(offset_of(-1e9 - 3.0, -1e9 + 4.0), -1e9);
        assert_eq!(offset_of(1_700_000_003.0, 1_700_000_003.0), 1_700_000_003.0);
        // In f64 the subtraction is exact.
        let offset = offset_of(0.500_000_001, 0.500_000_003);
        assert_eq!(0.500_000_001 - offset + offset, 0.500_000_001);
        assert!((offset - 0.500_000_002).abs() < 1e-9);
    }
}
