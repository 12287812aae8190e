//! `f64` functions for the truncated normal, whose gradients lose half of all digits to
//! cancellation for wide or distant distributions. Branch-free like their `f32` counterparts.

use std::f64::consts::{FRAC_1_SQRT_2, LOG2_E};

/// `a * b + c`, fused where that is one instruction.
#[inline(always)]
fn fma<const FMA: bool>(a: f64, b: f64, c: f64) -> f64 {
    if FMA { a.mul_add(b, c) } else { a * b + c }
}

/// A polynomial, coefficients from the highest power down. Even and odd powers are two independent
/// chains: Horner's rule alone would be bound by latency.
#[inline(always)]
fn polynomial<const FMA: bool, const N: usize>(x: f64, coefficients: [f64; N]) -> f64 {
    let square = x * x;
    let mut same = coefficients[0];
    let mut other = coefficients[1];
    let mut i = 2;
    while i + 1 < N {
        same = fma::<FMA>(same, square, coefficients[i]);
        other = fma::<FMA>(other, square, coefficients[i + 1]);
        i += 2;
    }
    if i < N {
        fma::<FMA>(other, x, fma::<FMA>(same, square, coefficients[i]))
    } else {
        fma::<FMA>(same, x, other)
    }
}

/// e^x for x < 709; 0 below -708. Relative error below 1e-15.
#[inline(always)]
pub(crate) fn exp<const FMA: bool>(x: f64) -> f64 {
    // Adding 1.5 * 2^52 rounds to an integer, which is then in the low bits.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    let clamped = if x < -708.0 { -708.0 } else { x };
    let clamped = if clamped > 709.0 { 709.0 } else { clamped };
    let shifted = fma::<FMA>(clamped, LOG2_E, ROUND);
    let n = shifted - ROUND;
    let r = fma::<FMA>(n, -6.931_471_803_691_238e-1, clamped); // exact
    let r = fma::<FMA>(n, -1.908_214_929_270_587_7e-10, r);
    // The Taylor series: |r| < 0.347, so the first term left out is below 2e-16.
    let p = polynomial::<FMA, 12>(
        r,
        [
            1.0 / 479_001_600.0,
            1.0 / 39_916_800.0,
            1.0 / 3_628_800.0,
            1.0 / 362_880.0,
            1.0 / 40_320.0,
            1.0 / 5_040.0,
            1.0 / 720.0,
            1.0 / 120.0,
            1.0 / 24.0,
            1.0 / 6.0,
            0.5,
            1.0,
        ],
    );
    let power = f64::from_bits((shifted.to_bits() << 52).wrapping_add(1023 << 52));
    let result = fma::<FMA>(p, r, 1.0) * power;
    if x < -708.0 { 0.0 } else { result }
}

/// Natural logarithm of a positive normal number. Relative error below 1e-15.
#[inline(always)]
pub(crate) fn ln<const FMA: bool>(x: f64) -> f64 {
    const LOW: u64 = 0x3fe6_a09e_667f_3bcd; // sqrt(1/2)
    const MANTISSA: u64 = 0x000f_ffff_ffff_ffff;
    // x = 2^e (1 + f), sqrt(1/2) <= 1 + f < sqrt(2)
    let bits = x.to_bits().wrapping_add(0x3ff0_0000_0000_0000 - LOW);
    // The biased exponent as a number, without a 64-bit integer conversion: AVX2 has none.
    let e =
        f64::from_bits((bits >> 52) | 0x4330_0000_0000_0000) - (4_503_599_627_370_496.0 + 1023.0);
    let f = f64::from_bits((bits & MANTISSA) + LOW) - 1.0;
    let z = f / (2.0 + f);
    let s = z * z;
    let p = polynomial::<FMA, 10>(
        s,
        [
            1.0 / 21.0,
            1.0 / 19.0,
            1.0 / 17.0,
            1.0 / 15.0,
            1.0 / 13.0,
            1.0 / 11.0,
            1.0 / 9.0,
            1.0 / 7.0,
            1.0 / 5.0,
            1.0 / 3.0,
        ],
    );
    let low = fma::<FMA>(e, 1.908_214_929_270_587_7e-10, 2.0 * z * s * p);
    fma::<FMA>(e, 6.931_471_803_691_238e-1, low + 2.0 * z)
}

/// e^(x^2) erfc(x) for x >= 0. Relative error below 2e-14.
#[inline(always)]
pub(crate) fn erfcx<const FMA: bool>(x: f64) -> f64 {
    // (1 + 2x) erfcx(x) is smooth in t = (x - 4) / (x + 4) on the whole half-line.
    let (shifted, doubled) = (x + 4.0, 1.0 + 2.0 * x);
    let inverse = 1.0 / (shifted * doubled); // one division for two quotients
    let t = 1.0 - 8.0 * doubled * inverse;
    let p = polynomial::<FMA, 21>(
        t,
        [
            -8.109_180_782_116_146e-9,
            5.618_350_779_659_161e-8,
            5.256_668_592_210_469_6e-8,
            -7.191_421_599_510_17e-7,
            3.214_054_940_057_646_7e-7,
            5.584_967_446_155_539_6e-6,
            -0.000_011_243_141_084_157_668,
            -0.000_024_306_876_339_027_035,
            0.000_150_631_872_767_998_55,
            -0.000_199_300_499_027_495_02,
            -0.000_757_776_378_283_440_5,
            0.005031983120919141,
            -0.016_197_733_494_282_45,
            0.037_167_513_152_984_36,
            -0.066_330_365_868_804_72,
            0.093_732_835_237_154_31,
            -0.101_039_066_033_694_28,
            0.068_097_054_243_690_02,
            0.015379652102584254,
            -0.13962111684041278,
            1.232_995_118_625_552_6,
        ],
    );
    p * shifted * inverse
}

/// The point t >= 0 whose upper tail under the standard normal has this logarithm (at most ln 1/2,
/// without a lower limit). Absolute error below 1e-9.
#[inline(always)]
pub(crate) fn normal_tail_inverse<const FMA: bool>(ln_tail: f64) -> f64 {
    // Abramowitz and Stegun 26.2.23, good to 4.5e-4 ...
    let s = (-2.0 * ln_tail).sqrt();
    let numerator = polynomial::<FMA, 3>(s, [0.010_328, 0.802_853, 2.515_517]);
    let denominator = polynomial::<FMA, 4>(s, [0.001_308, 0.189_269, 1.432_788, 1.0]);
    let t = s - numerator / denominator;
    // ... and one step of Halley's method on the logarithm, which cubes the error.
    let scaled = erfcx::<FMA>(t * FRAC_1_SQRT_2);
    let hazard = 0.797_884_560_802_865_4 / scaled; // sqrt(2 / pi)
    let newton = (ln_tail + 0.5 * t * t - ln::<FMA>(0.5 * scaled)) * scaled;
    let newton = newton * 1.253_314_137_315_500_3; // sqrt(pi / 2)
    t - newton * (1.0 + 0.5 * newton * (hazard - t))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FMA: bool = crate::isa::PORTABLE_FMA;

    /// The largest relative error over `count` steps.
    fn worst(points: impl Iterator<Item = f64>, f: fn(f64) -> f64, exact: fn(f64) -> f64) -> f64 {
        points.fold(0.0, |worst, x| {
            worst.max(((f(x) - exact(x)) / exact(x)).abs())
        })
    }

    fn steps(low: f64, high: f64) -> impl Iterator<Item = f64> {
        (0..=100_000).map(move |i| low + (high - low) * f64::from(i) / 100_000.0)
    }

    #[test]
    fn errors_are_as_documented() {
        assert!(worst(steps(-708.0, 708.0), exp::<FMA>, f64::exp) < 1e-15);
        assert!(worst(steps(-2.0, 2.0), exp::<FMA>, f64::exp) < 1e-15);
        assert_eq!(exp::<FMA>(-1e9), 0.0);
        assert!(worst(steps(1e-3, 0.99), ln::<FMA>, f64::ln) < 1e-15);
        assert!(worst(steps(1.01, 1e9), ln::<FMA>, f64::ln) < 1e-15);
        assert!((ln::<FMA>(1e-300) / 1e-300f64.ln() - 1.0).abs() < 1e-15);
        let exact = |x: f64| libm::erfc(x) * (x * x).exp();
        assert!(worst(steps(0.0, 5.0), erfcx::<FMA>, exact) < 2e-14);
        let asymptote = |x: f64| (1.0 - 0.5 / (x * x)) / (x * std::f64::consts::PI.sqrt());
        assert!(worst(steps(1e4, 1e9), erfcx::<FMA>, asymptote) < 2e-14);
    }

    #[test]
    fn tail_inverse() {
        for t in steps(0.0, 37.0) {
            let tail = 0.5 * libm::erfc(t * FRAC_1_SQRT_2);
            assert!(
                (normal_tail_inverse::<FMA>(tail.ln()) - t).abs() < 1e-9,
                "{t}"
            );
        }
    }
}
