//! Largest errors of the `f32` functions over dense sweeps, against `f64` values from `libm`.
//!
//! One unit is 2^-24 of the exact result, so half a unit in the last place at least.

use cpcvae_kernels::isa::Isa;
use cpcvae_kernels::math;

const UNIT: f64 = 1.0 / 16_777_216.0;

/// `count` points from `low` to `high`.
fn linear(low: f32, high: f32, count: usize) -> Vec<f32> {
    (0..count)
        .map(|i| low + (high - low) * (i as f32 / (count - 1) as f32))
        .collect()
}

/// `count` points from `low` to `high` > 0 in geometric steps.
fn geometric(low: f64, high: f64, count: usize) -> Vec<f32> {
    let step = (high / low).ln() / (count - 1) as f64;
    (0..count)
        .map(|i| (low * (step * i as f64).exp()) as f32)
        .collect()
}

fn both_signs(points: Vec<f32>) -> Vec<f32> {
    points.iter().flat_map(|x| [*x, -*x]).collect()
}

/// Fails if the error is over `limit` units anywhere, on any instruction set; prints the largest.
fn check(
    name: &str,
    function: fn(&[f32], &mut [f32]),
    exact: fn(f64) -> f64,
    points: Vec<f32>,
    limit: f64,
) {
    for isa in Isa::supported() {
        let mut values = vec![0.0; points.len()];
        isa.run(|| function(&points, &mut values));
        let (mut worst, mut place) = (0.0, 0.0);
        for (x, value) in points.iter().zip(&values) {
            let exact = exact(f64::from(*x));
            if exact.abs() < f64::from(f32::MIN_POSITIVE) * 4.0 {
                assert!(f64::from(*value).abs() < 5e-38, "{name}({x}) = {value}");
                continue;
            }
            let error = (f64::from(*value) - exact).abs() / exact.abs() / UNIT;
            if error.is_nan() || error > worst {
                (worst, place) = (error, *x);
            }
        }
        println!("{name:<10} {isa:?}: {worst:6.2} units at {place:e}");
        assert!(worst <= limit, "{name} {isa:?}: {worst} units at {place:e}");
    }
}

const N: usize = 200_000;

#[test]
fn exponentials() {
    let wide = || both_signs(geometric(1e-10, 88.7, N));
    check("exp", math::exp_slice, f64::exp, wide(), 2.0);
    check(
        "exp",
        math::exp_slice,
        f64::exp,
        linear(-88.0, 88.7, N),
        2.0,
    );
    check("expm1", math::expm1_slice, f64::exp_m1, wide(), 2.0);
    check(
        "expm1",
        math::expm1_slice,
        f64::exp_m1,
        linear(-2.0, 2.0, N),
        2.0,
    );
    check("tanh", math::tanh_slice, f64::tanh, wide(), 3.0);
    check(
        "tanh",
        math::tanh_slice,
        f64::tanh,
        linear(-3.0, 3.0, N),
        3.0,
    );
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    check(
        "sigmoid",
        math::sigmoid_slice,
        sigmoid,
        linear(-86.0, 86.0, N),
        3.0,
    );
    let softplus = |x: f64| x.max(0.0) + (-x.abs()).exp().ln_1p();
    check(
        "softplus",
        math::softplus_slice,
        softplus,
        linear(-86.0, 86.0, N),
        4.0,
    );
    check(
        "softplus",
        math::softplus_slice,
        softplus,
        linear(-5.0, 5.0, N),
        4.0,
    );
}

#[test]
fn logarithms() {
    check(
        "ln",
        math::ln_slice,
        f64::ln,
        geometric(1.2e-38, 3e38, N),
        2.0,
    );
    check("ln", math::ln_slice, f64::ln, linear(0.4, 2.5, N), 2.0);
    check(
        "log1p",
        math::log1p_slice,
        f64::ln_1p,
        both_signs(geometric(1e-10, 0.999, N)),
        3.0,
    );
    check(
        "log1p",
        math::log1p_slice,
        f64::ln_1p,
        geometric(1e-10, 1e30, N),
        3.0,
    );
}

#[test]
fn error_functions() {
    check(
        "erf",
        math::erf_slice,
        libm::erf,
        both_signs(geometric(1e-10, 10.0, N)),
        4.0,
    );
    check("erf", math::erf_slice, libm::erf, linear(-4.0, 4.0, N), 4.0);
    check(
        "erfc",
        math::erfc_slice,
        libm::erfc,
        linear(-6.0, 9.3, N),
        6.0,
    );
    let erfcx = |x: f64| (x * x).exp() * libm::erfc(x);
    check("erfcx", math::erfcx_slice, erfcx, linear(0.0, 20.0, N), 6.0);
    let log_ndtr = |x: f64| {
        let tail = 0.5 * libm::erfc(x.abs() / 2f64.sqrt());
        if x < 0.0 { tail.ln() } else { (-tail).ln_1p() }
    };
    check(
        "log_ndtr",
        math::log_ndtr_slice,
        log_ndtr,
        linear(-35.0, 12.0, N),
        10.0,
    );
}

/// The inverse is exact if the distribution function of the result is the argument, up to
/// the result's own rounding.
#[test]
fn inverse_normal() {
    let mut points = geometric(2e-38, 0.5, N);
    points.extend(linear(0.4, 0.999_999, N));
    for isa in Isa::supported() {
        let mut values = vec![0.0; points.len()];
        isa.run(|| math::ndtri_slice(&points, &mut values));
        let mut worst = (0.0, 0.0);
        for (p, value) in points.iter().zip(&values) {
            let (p, x) = (f64::from(*p), f64::from(*value));
            let at = 0.5 * libm::erfc(-x / 2f64.sqrt());
            let density = (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt();
            let exact = x - (at - p) / density; // one Newton step
            let error = if p == 0.5 {
                x.abs()
            } else {
                ((x - exact) / exact).abs()
            };
            if error.is_nan() || error / UNIT > worst.0 {
                worst = (error / UNIT, p);
            }
        }
        println!("ndtri {isa:?}: {:.2} units at {:e}", worst.0, worst.1);
        assert!(worst.0 < 5.0);
    }
}

#[test]
fn special_values() {
    let value = |function: fn(&[f32], &mut [f32]), x: f32| {
        let mut y = [0.0];
        function(&[x], &mut y);
        y[0]
    };
    let infinity = f32::INFINITY;
    for isa in Isa::supported() {
        isa.run(|| {
            assert_eq!(value(math::exp_slice, 0.0), 1.0);
            assert_eq!(value(math::exp_slice, -200.0), 0.0);
            assert_eq!(value(math::exp_slice, -infinity), 0.0);
            assert_eq!(value(math::exp_slice, 100.0), infinity);
            assert_eq!(value(math::expm1_slice, 0.0), 0.0);
            assert_eq!(value(math::expm1_slice, -infinity), -1.0);
            assert_eq!(value(math::ln_slice, 1.0), 0.0);
            assert_eq!(value(math::ln_slice, 0.0), -infinity);
            assert_eq!(value(math::ln_slice, infinity), infinity);
            assert!(value(math::ln_slice, -1.0).is_nan());
            assert_eq!(value(math::log1p_slice, -1.0), -infinity);
            assert_eq!(value(math::log1p_slice, infinity), infinity);
            assert_eq!(value(math::tanh_slice, 50.0), 1.0);
            assert_eq!(value(math::tanh_slice, -infinity), -1.0);
            assert_eq!(value(math::sigmoid_slice, 200.0), 1.0);
            assert_eq!(value(math::sigmoid_slice, -200.0), 0.0);
            assert_eq!(value(math::softplus_slice, 1e30), 1e30);
            assert_eq!(value(math::softplus_slice, -200.0), 0.0);
            assert_eq!(value(math::erf_slice, infinity), 1.0);
            assert_eq!(value(math::ndtri_slice, 0.5), 0.0);
            let nan_to_nan = [
                math::exp_slice,
                math::expm1_slice,
                math::ln_slice,
                math::log1p_slice,
                math::tanh_slice,
                math::sigmoid_slice,
                math::softplus_slice,
                math::erf_slice,
                math::erfc_slice,
                math::log_ndtr_slice,
            ];
            for (i, function) in nan_to_nan.into_iter().enumerate() {
                assert!(value(function, f32::NAN).is_nan(), "function {i}");
            }
        });
    }
}
