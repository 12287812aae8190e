//! The Noise-Normal likelihood of images in [-1, 1]: a truncated normal plus uniform noise.
//!
//! `params [n, 3, p]` holds the maps (rho, mean, variance) of every row, `x [n, p]` its pixels.
//! The density is `rho * phi((x - m) / sigma) / (sigma * (Phi(b) - Phi(a))) + (1 - rho) / 2` with
//! a = (-1 - m) / sigma, b = (1 - m) / sigma. rho may be anything in [0, 1], the mean also outside
//! [-1, 1], sigma from 1e-3 to 1e3.

mod pixel;

use crate::density::{self, Density, DensityShape};
use crate::isa::Isa;
use crate::math::precise::normal_tail_inverse;
use crate::math::{ln, sum};
use crate::parallel;

/// The cost of one pixel, relative to the cheapest operations.
pub(crate) const COST: usize = 16;

/// `out [n]`: the log-density of each row, summed over its `p` pixels.
///
/// # Panics
/// If a slice's length does not fit the shape.
pub fn log_prob(n: usize, p: usize, params: &[f32], x: &[f32], out: &mut [f32]) {
    density::log_prob(
        DensityShape::plain(n, p),
        Density::NoiseNormal,
        params,
        x,
        out,
    );
}

/// As [`log_prob`], and `d_params [n, 3, p]`: the derivatives of `out[row]` with respect to that
/// row's parameters.
///
/// # Panics
/// If a slice's length does not fit the shape.
pub fn log_prob_with_gradient(
    n: usize,
    p: usize,
    params: &[f32],
    x: &[f32],
    out: &mut [f32],
    d_params: &mut [f32],
) {
    let shape = DensityShape::plain(n, p);
    density::log_prob_with_gradient(shape, Density::NoiseNormal, params, x, out, d_params);
}

/// Draws `x [n, p]` from `u [n, p]`, uniform numbers in [0, 1).
///
/// Where `u < rho`, the truncated normal's inverse distribution function at `u / rho`, otherwise
/// the noise at `(u - rho) / (1 - rho)`.
///
/// # Panics
/// If a slice's length does not fit the shape.
pub fn sample(n: usize, p: usize, params: &[f32], u: &[f32], x: &mut [f32]) {
    check(n, p, params, u);
    assert_eq!(x.len(), n * p);
    if p == 0 {
        return;
    }
    let isa = Isa::current();
    let rows = params.chunks(3 * p).zip(u.chunks(p)).zip(x.chunks_mut(p));
    parallel::timed_for_each(
        "Noise-Normal: sample",
        COST * n * p,
        rows,
        |((params, u), x)| sample_row(isa, p, params, u, x),
    );
}

/// `d_params [n, 3, p]`: the gradient of samples `x` (of [`sample`]) with gradient `gx [n, p]`,
/// by implicit reparameterisation: dx/dparameter = -(dF/dparameter) / f, with F and f the
/// distribution function and density of the whole mixture.
///
/// # Panics
/// If a slice's length does not fit the shape.
pub fn sample_backward(
    n: usize,
    p: usize,
    params: &[f32],
    x: &[f32],
    gx: &[f32],
    d_params: &mut [f32],
) {
    check(n, p, params, x);
    assert_eq!(gx.len(), n * p);
    assert_eq!(d_params.len(), n * 3 * p);
    if p == 0 {
        return;
    }
    let isa = Isa::current();
    let rows = params.chunks(3 * p).zip(x.chunks(p)).zip(gx.chunks(p));
    let rows = rows.zip(d_params.chunks_mut(3 * p));
    parallel::timed_for_each(
        "Noise-Normal: sample gradient",
        COST * n * p,
        rows,
        |(((params, x), gx), d_params)| {
            sample_backward_row(isa, p, params, x, gx, d_params);
        },
    );
}

fn check(n: usize, p: usize, params: &[f32], x: &[f32]) {
    assert_eq!(params.len(), n * 3 * p);
    assert_eq!(x.len(), n * p);
}

/// The three maps of one row, each with exactly `p` elements so that loops need no bounds checks.
#[inline(always)]
fn maps(p: usize, params: &[f32]) -> [&[f32]; 3] {
    [&params[..p], &params[p..][..p], &params[2 * p..][..p]]
}

/// As [`maps`].
#[inline(always)]
fn maps_mut(p: usize, params: &mut [f32]) -> [&mut [f32]; 3] {
    let (rho, rest) = params.split_at_mut(p);
    let (mean, variance) = rest.split_at_mut(p);
    [rho, mean, &mut variance[..p]]
}

/// Pixels whose densities are stored before their logarithms are taken and summed: a running sum
/// would prevent vectorisation.
const BLOCK: usize = 256;

kernel! {
    pub(crate) fn log_prob_row<FMA>(p: usize, params: &[f32], x: &[f32]) -> f32 {
        let [rho, mean, variance] = maps(p, params);
        let (mut factors, mut shifts) = ([0.0; BLOCK], [0.0; BLOCK]);
        let mut total = 0.0;
        for start in (0..p).step_by(BLOCK) {
            let block = start..(start + BLOCK).min(p);
            let inputs = rho[block.clone()].iter().zip(&mean[block.clone()]);
            let inputs = inputs.zip(&variance[block.clone()]).zip(&x[block.clone()]);
            let outputs = factors.iter_mut().zip(&mut shifts);
            for ((((rho, mean), variance), x), (factor, shift)) in inputs.zip(outputs) {
                let density = pixel::density::<FMA>(*rho, *mean, *variance, *x);
                *factor = density.factor;
                *shift = density.shift;
            }
            total += sum_of_logs::<FMA>(&mut factors[..block.len()], &shifts);
        }
        total as f32
    }
}

kernel! {
    pub(crate) fn gradient_row<FMA>(p: usize, params: &[f32], x: &[f32], d_params: &mut [f32]) -> f32 {
        let [rho, mean, variance] = maps(p, params);
        let [d_rho, d_mean, d_variance] = maps_mut(p, d_params);
        let (mut factors, mut shifts) = ([0.0; BLOCK], [0.0; BLOCK]);
        let mut total = 0.0;
        for start in (0..p).step_by(BLOCK) {
            let block = start..(start + BLOCK).min(p);
            let inputs = rho[block.clone()].iter().zip(&mean[block.clone()]);
            let inputs = inputs.zip(&variance[block.clone()]).zip(&x[block.clone()]);
            let slopes = d_rho[block.clone()].iter_mut().zip(&mut d_mean[block.clone()]);
            let slopes = slopes.zip(&mut d_variance[block.clone()]);
            let outputs = slopes.zip(factors.iter_mut().zip(&mut shifts));
            for ((((rho, mean), variance), x), (((d_rho, d_mean), d_variance), (factor, shift))) in
                inputs.zip(outputs)
            {
                let density = pixel::density::<FMA>(*rho, *mean, *variance, *x);
                [*d_rho, *d_mean, *d_variance] = density.slopes;
                *factor = density.factor;
                *shift = density.shift;
            }
            total += sum_of_logs::<FMA>(&mut factors[..block.len()], &shifts);
        }
        total as f32
    }
}

/// Sum of `shift + ln(factor)`; overwrites the factors.
#[inline(always)]
fn sum_of_logs<const FMA: bool>(factors: &mut [f32], shifts: &[f32]) -> f64 {
    for (factor, shift) in factors.iter_mut().zip(shifts) {
        *factor = shift + ln::<FMA>(*factor);
    }
    f64::from(sum(factors))
}

kernel! {
    /// In three loops, because one would be a single chain of dependent operations.
    fn sample_row<FMA>(p: usize, params: &[f32], u: &[f32], x: &mut [f32]) {
        let [rho, mean, variance] = maps(p, params);
        let (mut points, mut sides) = ([0.0; BLOCK], [0.0; BLOCK]);
        for start in (0..p).step_by(BLOCK) {
            let block = start..(start + BLOCK).min(p);
            let inputs = rho[block.clone()].iter().zip(&mean[block.clone()]);
            let inputs = inputs.zip(&variance[block.clone()]).zip(&u[block.clone()]);
            let tails = points.iter_mut().zip(&mut sides);
            for ((((rho, mean), variance), u), (ln_tail, side)) in inputs.clone().zip(tails) {
                (*ln_tail, *side) = pixel::sample_tail::<FMA>(*rho, *mean, *variance, *u);
            }
            for (point, side) in points[..block.len()].iter_mut().zip(&sides) {
                *point = normal_tail_inverse::<FMA>(*point).copysign(*side);
            }
            let outputs = points.iter().zip(&mut x[block]);
            for ((((rho, mean), variance), u), (point, x)) in inputs.zip(outputs) {
                *x = pixel::sample_at(*rho, *mean, *variance, *u, *point);
            }
        }
    }
}

kernel! {
    fn sample_backward_row<FMA>(
        p: usize, params: &[f32], x: &[f32], gx: &[f32], d_params: &mut [f32],
    ) {
        let [rho, mean, variance] = maps(p, params);
        let [d_rho, d_mean, d_variance] = maps_mut(p, d_params);
        let inputs = rho.iter().zip(mean).zip(variance).zip(x).zip(gx);
        let outputs = d_rho.iter_mut().zip(d_mean).zip(d_variance);
        for (((((rho, mean), variance), x), gx), ((d_rho, d_mean), d_variance)) in
            inputs.zip(outputs)
        {
            let slopes = pixel::sample_slopes::<FMA>(*rho, *mean, *variance, *x);
            [*d_rho, *d_mean, *d_variance] = slopes.map(|slope| slope * gx);
        }
    }
}
