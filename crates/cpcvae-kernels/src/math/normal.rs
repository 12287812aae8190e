//! The error function's family and the normal distribution function, in `f32`.

use super::{at_most, exp, fma, ln, log1p, polynomial};
use std::f32::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI};

/// e^(x^2) erfc(x) for x >= 0. Error below 6 units.
#[inline(always)]
pub fn erfcx<const FMA: bool>(x: f32) -> f32 {
    // (1 + 2x) erfcx(x) is smooth in t = (x - 3) / (x + 3) on the whole half-line.
    let t = 1.0 - 6.0 / (x + 3.0);
    let p = polynomial::<FMA, 12>(
        t,
        [
            7.600_604e-5,
            -9.306_67e-5,
            -7.230_473e-4,
            1.876_321_2e-3,
            2.495_914_5e-3,
            -2.376_460_1e-2,
            6.831_787e-2,
            -1.192_749_4e-1,
            1.296_439_1e-1,
            -4.756_219_6e-2,
            -1.356_210_6e-1,
            1.253_008,
        ],
    );
    p / (1.0 + 2.0 * x)
}

/// e^(-scale x^2) for x >= 0 and a scale of 1 or 1/2. The rounding error of the square is computed
/// and corrected, because exp would amplify it by x^2.
#[inline(always)]
fn exp_minus_square<const FMA: bool>(scale: f32, x: f32) -> f32 {
    let x = at_most(x, 16.0); // the result is 0 long before; keeps infinity - infinity away
    let square = x * x;
    let error = if FMA {
        x.mul_add(x, -square)
    } else {
        let high = f32::from_bits(x.to_bits() & 0xffff_f000); // high * high is exact
        let low = x - high;
        ((high * high - square) + 2.0 * high * low) + low * low
    };
    let power = exp::<FMA>(-scale * square);
    fma::<FMA>(power, -scale * error, power)
}

/// The error function. Error below 4 units.
#[inline(always)]
pub fn erf<const FMA: bool>(x: f32) -> f32 {
    let size = x.abs();
    let s = x * x;
    let near = size
        * polynomial::<FMA, 8>(
            s,
            [
                -9.680_139e-6,
                1.127_054_6e-4,
                -8.484_712e-4,
                5.221_075e-3,
                -2.686_544_6e-2,
                1.128_378_3e-1,
                -3.761_263_8e-1,
                FRAC_2_SQRT_PI,
            ],
        );
    let far = 1.0 - exp_minus_square::<FMA>(1.0, size) * erfcx::<FMA>(size);
    (if size < 1.0 { near } else { far }).copysign(x)
}

/// 1 - erf(x), accurate in the tail until it underflows. Error below 6 units.
#[inline(always)]
pub fn erfc<const FMA: bool>(x: f32) -> f32 {
    let size = x.abs();
    let tail = exp_minus_square::<FMA>(1.0, size) * erfcx::<FMA>(size);
    if x < 0.0 { 2.0 - tail } else { tail }
}

/// Logarithm of the normal distribution function, accurate in both tails. Error below 10 units.
#[inline(always)]
pub fn log_ndtr<const FMA: bool>(x: f32) -> f32 {
    let size = x.abs();
    let scaled = 0.5 * erfcx::<FMA>(size * FRAC_1_SQRT_2);
    let below = fma::<FMA>(-0.5 * x, x, ln::<FMA>(scaled));
    let above = log1p::<FMA>(-scaled * exp_minus_square::<FMA>(0.5, size));
    if x < 0.0 { below } else { above }
}

/// The inverse of the normal distribution function, for a probability 0 < p < 1.
/// Error below 5 units.
#[inline(always)]
pub fn ndtri<const FMA: bool>(p: f32) -> f32 {
    // After Giles: in the middle, ndtri(p) / (2p - 1) is smooth in w = -ln(4 p (1 - p)).
    let x = 2.0 * p - 1.0;
    let w = -ln::<FMA>(4.0 * p * (1.0 - p));
    let middle = x.abs()
        * polynomial::<FMA, 10>(
            w,
            [
                -8.240_36e-9,
                2.163_592_5e-7,
                -1.878_453_2e-6,
                9.478_604e-7,
                7.689_065e-5,
                -2.041_909_8e-4,
                -3.278_290_4e-3,
                1.632_142_3e-2,
                3.281_190_3e-1,
                1.253_314_1,
            ],
        );
    // In the tails, one step of Halley's method from Abramowitz and Stegun 26.2.23.
    let ln_tail = ln::<FMA>(if p < 0.5 { p } else { 1.0 - p });
    let s = (-2.0 * ln_tail).sqrt();
    let numerator = polynomial::<FMA, 3>(s, [0.010_328, 0.802_853, 2.515_517]);
    let denominator = polynomial::<FMA, 4>(s, [0.001_308, 0.189_269, 1.432_788, 1.0]);
    let t = s - numerator / denominator;
    let scaled = erfcx::<FMA>(t * FRAC_1_SQRT_2);
    let hazard = 0.797_884_6 / scaled; // sqrt(2 / pi)
    let newton = (fma::<FMA>(0.5 * t, t, ln_tail) - ln::<FMA>(0.5 * scaled)) / hazard;
    let far = t - newton / (1.0 - 0.5 * newton * (hazard - t));
    (if w < 6.0 { middle } else { far }).copysign(x)
}
