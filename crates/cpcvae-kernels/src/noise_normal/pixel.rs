//! The Noise-Normal distribution of one pixel, in `f64` and without branches.
//!
//! With mean m, variance v = sigma^2, a = (-1 - m) / sigma and b = (1 - m) / sigma the density on
//! [-1, 1] is `rho * phi((x - m) / sigma) / (sigma * (Phi(b) - Phi(a))) + (1 - rho) / 2`.
//!
//! Everything is reflected so that m >= 0; then the edge b is the nearer one. For m <= 1 the
//! mass Phi(b) - Phi(a) is one minus two tails. For m > 1 it may underflow, so all densities are
//! taken relative to the one at b, where the mass is a difference of Mills ratios. Both use
//! phi(a) = phi(b) e^(-2m/v). Double precision absorbs the cancellation for wide normals.

use crate::math::precise::{erfcx, exp, ln};
use std::f64::consts::FRAC_1_SQRT_2;

/// The truncated normal of one pixel, reflected to a mean >= 0.
#[derive(Clone, Copy)]
pub(super) struct TruncatedNormal {
    /// -1 if it was reflected, else 1.
    sign: f64,
    mean: f64,
    sigma: f64,
    inverse_sigma: f64,
    /// Whether the mean is beyond 1: then `mass` and `peak` are relative to phi(b) / phi(0).
    outside: bool,
    a: f64,
    b: f64,
    /// phi(b) / phi(0), or 1 if `outside`.
    edge: f64,
    /// Twice the normal tail beyond a and beyond b, both divided by phi(b) / phi(0).
    tail_a: f64,
    tail_b: f64,
    mass: f64,
    /// The density is `peak * e^exponent(x)`.
    peak: f64,
    /// The density at -1 and at 1.
    density_a: f64,
    density_b: f64,
}

impl TruncatedNormal {
    #[inline(always)]
    fn new<const FMA: bool>(mean: f32, variance: f32) -> Self {
        let sign = 1f64.copysign(f64::from(mean));
        let mean = f64::from(mean).abs();
        let sigma = f64::from(variance).sqrt();
        let inverse_sigma = 1.0 / sigma;
        let outside = mean > 1.0;
        let a = (-1.0 - mean) * inverse_sigma;
        let b = (1.0 - mean) * inverse_sigma;
        let gap = exp::<FMA>(-2.0 * mean * inverse_sigma * inverse_sigma);
        let tail_a = gap * erfcx::<FMA>(-a * FRAC_1_SQRT_2);
        let tail_b = erfcx::<FMA>(b.abs() * FRAC_1_SQRT_2);
        let inside_edge = exp::<FMA>(-0.5 * b * b);
        let edge = if outside { 1.0 } else { inside_edge };
        let inside_mass = 1.0 - 0.5 * inside_edge * (tail_b + tail_a);
        let mass = if outside {
            0.5 * (tail_b - tail_a)
        } else {
            inside_mass
        };
        let peak = 0.398_942_280_401_432_7 * inverse_sigma / mass; // 1 / sqrt(2 pi)
        let density_b = peak * edge;
        let density_a = density_b * gap;
        Self {
            sign,
            mean,
            sigma,
            inverse_sigma,
            outside,
            a,
            b,
            edge,
            tail_a,
            tail_b,
            mass,
            peak,
            density_a,
            density_b,
        }
    }

    /// `x` standardised, and the exponent of the density there.
    #[inline(always)]
    fn place(&self, x: f64) -> (f64, f64) {
        let t = (x - self.mean) * self.inverse_sigma;
        // (b^2 - t^2) / 2 without cancellation
        let above_edge = (1.0 - x) * (x + 1.0 - 2.0 * self.mean);
        let relative = 0.5 * above_edge * self.inverse_sigma * self.inverse_sigma;
        (t, if self.outside { relative } else { -0.5 * t * t })
    }
}

/// Rounds to a finite `f32`: a zero slope times infinity would be NaN further up.
#[inline(always)]
fn finite(value: f64) -> f32 {
    const MAX: f64 = f32::MAX as f64;
    let value = if value > MAX { MAX } else { value };
    (if value < -MAX { -MAX } else { value }) as f32
}

/// The density of one pixel.
#[derive(Clone, Copy)]
pub(super) struct Density {
    /// The log-density is `shift + ln(factor)`. The caller takes the logarithm, in a separate loop
    /// on `f32` vectors.
    pub(super) factor: f32,
    pub(super) shift: f32,
    /// Derivatives of the log-density with respect to (rho, mean, variance).
    pub(super) slopes: [f32; 3],
}

/// The density at `x`.
#[inline(always)]
pub(super) fn density<const FMA: bool>(rho: f32, mean: f32, variance: f32, x: f32) -> Density {
    let normal = TruncatedNormal::new::<FMA>(mean, variance);
    let rho = f64::from(rho);
    let (t, exponent) = normal.place(normal.sign * f64::from(x));
    let bump = normal.peak * exp::<FMA>(exponent);
    let density = rho * bump + (1.0 - rho) * 0.5;
    // With rho = 1 there is no uniform part: keep the exponent of the normal out of exp and ln.
    let pure = rho >= 1.0;
    let factor = if pure { normal.peak } else { density };
    let shift = if pure { exponent } else { 0.0 };

    let inverse_density = 1.0 / density;
    let d_rho = (bump - 0.5) * inverse_density;
    let share = if pure {
        1.0
    } else {
        rho * bump * inverse_density
    };
    let slope = normal.inverse_sigma * t + (normal.density_b - normal.density_a);
    let moment = normal.b * normal.density_b - normal.a * normal.density_a;
    let spread = t * t - 1.0 + normal.sigma * moment;
    let d_mean = normal.sign * share * slope;
    let d_variance = share * 0.5 * spread * normal.inverse_sigma * normal.inverse_sigma;
    Density {
        factor: factor as f32,
        shift: shift as f32,
        slopes: [finite(d_rho), finite(d_mean), finite(d_variance)],
    }
}

/// The position of the sample for a uniform number `u` < rho on the untruncated normal: the
/// logarithm of the smaller one of its two tails there (at most ln 1/2), and a number with the sign
/// of its side. Both for the reflected distribution.
#[inline(always)]
pub(super) fn sample_tail<const FMA: bool>(
    rho: f32,
    mean: f32,
    variance: f32,
    u: f32,
) -> (f64, f64) {
    let normal = TruncatedNormal::new::<FMA>(mean, variance);
    // The share of the truncated normal below the sample, as reflected.
    let below = 0.5 + normal.sign * (f64::from(u) / f64::from(rho) - 0.5);
    // Minimum and sign instead of a condition: LLVM would compute both branches.
    let lower = 0.5 * normal.edge * normal.tail_a + below * normal.mass;
    let upper = 0.5 * normal.edge * normal.tail_b + (1.0 - below) * normal.mass;
    let upper = if normal.outside { f64::INFINITY } else { upper };
    let tail = lower.min(upper).max(1e-300);
    let shift = if normal.outside {
        -0.5 * normal.b * normal.b
    } else {
        0.0
    };
    (shift + ln::<FMA>(tail), lower - upper)
}

/// The sample for `u` in [0, 1): the normal at `standard` (in standard deviations from the
/// reflected mean) if u < rho, else the noise.
#[inline(always)]
pub(super) fn sample_at(rho: f32, mean: f32, variance: f32, u: f32, standard: f64) -> f32 {
    let sign = 1f64.copysign(f64::from(mean));
    let bump = f64::from(mean) + sign * f64::from(variance).sqrt() * standard;
    let (rho, u) = (f64::from(rho), f64::from(u));
    let noise = 2.0 * ((u - rho) / (1.0 - rho)) - 1.0;
    let x = if u < rho { bump } else { noise };
    let x = if x < -1.0 { -1.0 } else { x };
    (if x > 1.0 { 1.0 } else { x }) as f32
}

/// Derivatives of a sample `x` with respect to (rho, mean, variance): minus those of the
/// distribution function, divided by the density.
#[inline(always)]
pub(super) fn sample_slopes<const FMA: bool>(
    rho: f32,
    mean: f32,
    variance: f32,
    x: f32,
) -> [f32; 3] {
    let normal = TruncatedNormal::new::<FMA>(mean, variance);
    let rho = f64::from(rho);
    let x = normal.sign * f64::from(x);
    let (t, exponent) = normal.place(x);
    let power = exp::<FMA>(exponent);
    let bump = normal.peak * power;
    // The truncated normal's distribution function at x.
    let tail_a = normal.edge * normal.tail_a;
    let tail_x = power * erfcx::<FMA>(t.abs() * FRAC_1_SQRT_2);
    let twice_mass = if t < 0.0 {
        tail_x - tail_a
    } else {
        2.0 - tail_x - tail_a
    };
    let below = 0.5 * twice_mass / normal.mass;

    let (at_a, at_b) = (normal.density_a, normal.density_b);
    // The tiny number avoids 0 / 0 where rho = 1 and x is outside of the range of samples.
    let inverse_density = 1.0 / (rho * bump + (1.0 - rho) * 0.5 + 1e-300);
    let share = rho * inverse_density;
    let d_rho = normal.sign * (0.5 * (x + 1.0) - below) * inverse_density;
    let d_mean = share * (bump - at_a - below * (at_b - at_a));
    let (first_a, first_b) = (normal.a * at_a, normal.b * at_b);
    let spread = t * bump - first_a - below * (first_b - first_a);
    let d_variance = normal.sign * share * 0.5 * normal.inverse_sigma * spread;
    [finite(d_rho), finite(d_mean), finite(d_variance)]
}
