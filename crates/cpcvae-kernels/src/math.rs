//! Branch-free `f32` functions that vectorise inside a loop.
//!
//! `FMA` must be true only where the processor has a fused multiply-add (the crate's kernels ensure
//! that; the `*_slice` functions choose at run time). Errors are relative to the exact result,
//! measured by `tests/math_accuracy.rs` over dense sweeps, in units of 2^-24 = 6e-8 (half a unit in
//! the last place, or less), with and without FMA.

mod normal;
pub(crate) mod precise;

pub use normal::{erf, erfc, erfcx, log_ndtr, ndtri};

use crate::isa::Isa;
use std::f32::consts::LOG2_E;

/// `a * b + c`, fused where that is one instruction.
#[inline(always)]
pub(crate) fn fma<const FMA: bool>(a: f32, b: f32, c: f32) -> f32 {
    if FMA { a.mul_add(b, c) } else { a * b + c }
}

/// A polynomial by Horner's rule, coefficients from the highest power down.
#[inline(always)]
pub(crate) fn polynomial<const FMA: bool, const N: usize>(x: f32, coefficients: [f32; N]) -> f32 {
    let mut sum = coefficients[0];
    let mut i = 1;
    while i < N {
        sum = fma::<FMA>(sum, x, coefficients[i]);
        i += 1;
    }
    sum
}

/// The larger one; `x` if it is NaN. One instruction, unlike `f32::max`.
#[inline(always)]
pub(crate) fn at_least(x: f32, low: f32) -> f32 {
    if x < low { low } else { x }
}

/// The smaller one; `x` if it is NaN.
#[inline(always)]
pub(crate) fn at_most(x: f32, high: f32) -> f32 {
    if x > high { high } else { x }
}

/// `(n, expm1(r), 2^(n-1))` with `x = n ln 2 + r`, `|r| <= ln 2 / 2`, `-126 <= n <= 128`.
/// The power is halved so that it exists for n = 128; it is 0 for n = -126.
#[inline(always)]
fn exp_parts<const FMA: bool>(x: f32) -> (f32, f32) {
    // Adding 1.5 * 2^23 rounds to an integer, which is then in the low bits.
    const ROUND: f32 = 12_582_912.0;
    let x = at_most(at_least(x, -87.3), 88.8);
    let shifted = fma::<FMA>(x, LOG2_E, ROUND);
    let n = shifted - ROUND;
    let r = fma::<FMA>(n, -0.693_359_4, x); // ln 2 in two pieces; the first product is exact
    let r = fma::<FMA>(n, 2.121_944_4e-4, r);
    let p = polynomial::<FMA, 6>(
        r,
        [
            1.987_569_1e-4,
            1.398_199_9e-3,
            8.333_452e-3,
            4.166_579_6e-2,
            1.666_666_5e-1,
            0.5,
        ],
    );
    let expm1 = fma::<FMA>(p * r, r, r);
    let half_power = f32::from_bits((shifted.to_bits() << 23).wrapping_add(126 << 23));
    (expm1, half_power)
}

/// e^x. Error below 2 units. Results under 2^-125.5 become 0.
#[inline(always)]
pub fn exp<const FMA: bool>(x: f32) -> f32 {
    let (expm1, half_power) = exp_parts::<FMA>(x);
    (expm1 + 1.0) * half_power * 2.0
}

/// e^x - 1, accurate for small x too. Error below 2 units.
#[inline(always)]
pub fn expm1<const FMA: bool>(x: f32) -> f32 {
    let (expm1, half_power) = exp_parts::<FMA>(x);
    fma::<FMA>(expm1, half_power, half_power - 0.5) * 2.0
}

/// Natural logarithm of a normal number; -infinity for 0 and subnormals, NaN below 0.
/// Error below 2 units.
#[inline(always)]
pub fn ln<const FMA: bool>(x: f32) -> f32 {
    // x = 2^e (1 + f), 2/3 <= 1 + f < 4/3
    let bits = x.to_bits();
    let e = (bits.wrapping_sub(0x3f2a_aaab) as i32) >> 23;
    let f = f32::from_bits(bits.wrapping_sub((e << 23) as u32)) - 1.0;
    let e = e as f32;
    let p = polynomial::<FMA, 9>(
        f,
        [
            -0.129_489_32,
            0.140_048_08,
            -0.121_671_66,
            0.140_011_5,
            -0.166_823_04,
            0.200_107_48,
            -0.249_997_18,
            0.333_332_1,
            -0.5,
        ],
    );
    let low = fma::<FMA>(e, -2.121_944_4e-4, p * f * f);
    let ln = fma::<FMA>(e, 0.693_359_4, low + f);
    let ln = if x < f32::MIN_POSITIVE {
        f32::NEG_INFINITY
    } else {
        ln
    };
    let ln = if x < 0.0 { f32::NAN } else { ln };
    if x < f32::INFINITY { ln } else { x }
}

/// ln(1 + x), accurate for small x too. Error below 3 units.
#[inline(always)]
pub fn log1p<const FMA: bool>(x: f32) -> f32 {
    let u = 1.0 + x;
    let lost = x - (u - 1.0);
    let correction = if u > 0.0 && u < f32::INFINITY {
        lost / u
    } else {
        0.0
    };
    ln::<FMA>(u) + correction
}

/// ln(1 + t) for 0 <= t <= 1, as 2 atanh(t / (2 + t)).
#[inline(always)]
fn log1p_unit<const FMA: bool>(t: f32) -> f32 {
    let z = t / (2.0 + t);
    let s = z * z;
    let p = polynomial::<FMA, 4>(s, [0.140_122_59, 0.139_995_68, 0.200_108_5, 0.333_332_07]);
    2.0 * fma::<FMA>(z * s, p, z)
}

/// Hyperbolic tangent. Error below 3 units.
#[inline(always)]
pub fn tanh<const FMA: bool>(x: f32) -> f32 {
    let e = expm1::<FMA>(-2.0 * x.abs());
    (-e / (2.0 + e)).copysign(x)
}

/// 1 / (1 + e^-x). Error below 3 units.
#[inline(always)]
pub fn sigmoid<const FMA: bool>(x: f32) -> f32 {
    1.0 / (1.0 + exp::<FMA>(-x))
}

/// ln(1 + e^x). Error below 4 units.
#[inline(always)]
pub fn softplus<const FMA: bool>(x: f32) -> f32 {
    at_least(x, 0.0) + log1p_unit::<FMA>(exp::<FMA>(-x.abs()))
}

/// sin(2 pi u) and cos(2 pi u) for 0 <= u < 1. Absolute error below 2 units.
#[inline(always)]
pub(crate) fn sin_cos_turns<const FMA: bool>(u: f32) -> (f32, f32) {
    const ROUND: f32 = 12_582_912.0;
    let shifted = u * 4.0 + ROUND;
    let quarter = shifted.to_bits();
    let r = (u * 4.0 - (shifted - ROUND)) * std::f32::consts::FRAC_PI_2;
    let s = r * r;
    let sin = polynomial::<FMA, 3>(s, [-1.951_529_6e-4, 8.332_161e-3, -1.666_665_5e-1]);
    let sin = fma::<FMA>(sin * s, r, r);
    let cos = polynomial::<FMA, 3>(s, [2.443_315_7e-5, -1.388_731_6e-3, 4.166_664_6e-2]);
    let cos = fma::<FMA>(cos * s, s, fma::<FMA>(-0.5, s, 1.0));
    let (first, second) = if quarter & 1 == 0 {
        (sin, cos)
    } else {
        (cos, sin)
    };
    let negate = |value: f32, bit: u32| f32::from_bits(value.to_bits() ^ ((bit & 2) << 30));
    (
        negate(first, quarter),
        negate(second, quarter.wrapping_add(1)),
    )
}

/// The sum in a fixed order that is suited to vectors of up to 16 lanes.
#[inline(always)]
pub(crate) fn sum(values: &[f32]) -> f32 {
    let mut lanes = [0.0f32; 16];
    let chunks = values.chunks_exact(16);
    let rest = chunks.remainder();
    for chunk in chunks {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane += value;
        }
    }
    for (lane, value) in lanes.iter_mut().zip(rest) {
        *lane += value;
    }
    let mut width = 8;
    while width > 0 {
        for i in 0..width {
            lanes[i] += lanes[i + width];
        }
        width /= 2;
    }
    lanes[0]
}

macro_rules! slices {
    ($($function:ident => $slice:ident),* $(,)?) => { $(
        #[doc = concat!("`out[i] = ", stringify!($function), "(x[i])`, both of one length.")]
        pub fn $slice(x: &[f32], out: &mut [f32]) {
            kernel! {
                fn run<FMA>(x: &[f32], out: &mut [f32]) {
                    for (x, out) in x.iter().zip(out) {
                        *out = $function::<FMA>(*x);
                    }
                }
            }
            assert_eq!(x.len(), out.len());
            run(Isa::current(), x, out);
        }
    )* };
}

slices! {
    exp => exp_slice, expm1 => expm1_slice, ln => ln_slice, log1p => log1p_slice,
    tanh => tanh_slice, sigmoid => sigmoid_slice, softplus => softplus_slice, erf => erf_slice,
    erfc => erfc_slice, erfcx => erfcx_slice, log_ndtr => log_ndtr_slice, ndtri => ndtri_slice,
}
