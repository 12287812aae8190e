//! Layers, latent code and constraints against plain `f64` versions and finite differences, on
//! shapes around the vector widths and on every instruction set.

use cpcvae_kernels::isa::Isa;
use cpcvae_kernels::linear::{self, LinearGrads, WeightsRef};
use cpcvae_kernels::product::product_f32;
use cpcvae_kernels::random::{self, Stream};
use cpcvae_kernels::transform::{constrain, constrain_backward};
use cpcvae_kernels::{Activation, MapConstraint, Precision, Workspace, gaussian};

const ACTIVATIONS: [Activation; 5] = [
    Activation::Identity,
    Activation::Softplus,
    Activation::LeakyRelu,
    Activation::Elu,
    Activation::Relu,
];

fn normals(purpose: u32, count: usize) -> Vec<f32> {
    let mut out = vec![0.0; count];
    random::normal(
        Stream {
            seed: 42,
            step: 0,
            purpose,
        },
        &mut out,
    );
    out
}

fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().map(|v| f64::from(*v)).collect()
}

fn assert_close(name: &str, actual: &[f32], expected: &[f64], tolerance: f64) {
    assert_eq!(actual.len(), expected.len(), "{name}");
    let scale = expected.iter().fold(1.0f64, |scale, e| scale.max(e.abs()));
    for (i, (a, e)) in actual.iter().zip(expected).enumerate() {
        assert!(
            (f64::from(*a) - e).abs() <= tolerance * scale,
            "{name}[{i}]: {a}, expected {e}"
        );
    }
}

fn softplus(v: f64) -> f64 {
    v.max(0.0) + (-v.abs()).exp().ln_1p()
}

fn activate(act: Activation, v: f64) -> f64 {
    match act {
        Activation::Identity => v,
        Activation::Softplus => softplus(v),
        Activation::LeakyRelu => v.max(0.01 * v),
        Activation::Elu => v.max(v.min(0.0).exp_m1()),
        Activation::Relu => v.max(0.0),
    }
}

/// The derivative by a central difference, wherever the function is smooth.
fn slope(function: impl Fn(f64) -> f64, at: f64) -> f64 {
    (function(at + 1e-6) - function(at - 1e-6)) / 2e-6
}

#[test]
fn products_of_all_orders() {
    let shapes = [
        (0, 2, 3),
        (2, 0, 3),
        (2, 3, 0),
        (1, 1, 1),
        (1, 40, 1),
        (17, 33, 15),
        (70, 90, 80),
    ];
    for (m, k, n) in shapes {
        let (a, b) = (normals(1, m * k), normals(2, k * n));
        for (a_turned, b_turned) in [(false, false), (true, false), (false, true), (true, true)] {
            let mut c = vec![f32::NAN; m * n];
            product_f32([m, k, n], (&a, a_turned), (&b, b_turned), &mut c);
            let left = |i, l| a[if a_turned { l * m + i } else { i * k + l }];
            let right = |l, j| b[if b_turned { j * k + l } else { l * n + j }];
            let term = |i, l, j| f64::from(left(i, l)) * f64::from(right(l, j));
            let expected: Vec<f64> = (0..m * n)
                .map(|at| (0..k).map(|l| term(at / n, l, at % n)).sum())
                .collect();
            assert_close("product", &c, &expected, 1e-5);
        }
    }
}

#[test]
fn linear_layers() {
    let shapes = [
        (0, 2, 2),
        (2, 2, 0),
        (1, 1, 1),
        (2, 16, 15),
        (3, 15, 17),
        (16, 31, 33),
        (50, 5, 700),
    ];
    for isa in Isa::supported() {
        for (m, k, n) in shapes {
            for act in ACTIVATIONS {
                isa.run(|| check_linear(m, k, n, act));
            }
        }
    }
}

fn check_linear(m: usize, k: usize, n: usize, act: Activation) {
    let (x, w, b, gy) = (
        normals(1, m * k),
        normals(2, k * n),
        normals(3, n),
        normals(4, m * n),
    );
    let workspace = Workspace::new(Precision::F32);
    let mut y = vec![f32::NAN; m * n];
    linear::forward(
        &workspace,
        [m, k, n],
        &x,
        WeightsRef::Plain(&w),
        &b,
        act,
        &mut y,
    );
    let (mut gx, mut gw, mut gb) = (
        vec![f32::NAN; m * k],
        vec![f32::NAN; k * n],
        vec![f32::NAN; n],
    );
    let grads = LinearGrads {
        x: Some(&mut gx),
        w: Some(&mut gw),
        b: Some(&mut gb),
    };
    linear::backward(
        &workspace,
        [m, k, n],
        &x,
        WeightsRef::Plain(&w),
        &y,
        &gy,
        act,
        grads,
    );

    let (x, w, b) = (wide(&x), wide(&w), wide(&b));
    let (mut y_plain, mut gz) = (vec![0.0; m * n], vec![0.0; m * n]);
    for at in 0..m * n {
        let (i, j) = (at / n, at % n);
        let z = b[j] + (0..k).map(|l| x[i * k + l] * w[l * n + j]).sum::<f64>();
        y_plain[at] = activate(act, z);
        gz[at] = slope(|z| activate(act, z), z) * f64::from(gy[at]);
    }
    let (mut gx_plain, mut gw_plain, mut gb_plain) =
        (vec![0.0; m * k], vec![0.0; k * n], vec![0.0; n]);
    for i in 0..m {
        for j in 0..n {
            let g = gz[i * n + j];
            gb_plain[j] += g;
            for l in 0..k {
                gx_plain[i * k + l] += g * w[l * n + j];
                gw_plain[l * n + j] += g * x[i * k + l];
            }
        }
    }
    let name = format!("{act:?} {m}x{k}x{n}");
    assert_close(&format!("y, {name}"), &y, &y_plain, 2e-6);
    assert_close(&format!("gx, {name}"), &gx, &gx_plain, 1e-5);
    assert_close(&format!("gw, {name}"), &gw, &gw_plain, 1e-5);
    assert_close(&format!("gb, {name}"), &gb, &gb_plain, 1e-5);
}

/// The derivative is computed from the output, which is tiny here; it must not round to 0 or 1.
#[test]
fn softplus_slope_far_below_zero() {
    let workspace = Workspace::new(Precision::F32);
    let (x, gy) = ([-30.0], [1.0]);
    let (mut y, mut gb) = ([0.0], [0.0]);
    linear::forward(
        &workspace,
        [1, 1, 1],
        &x,
        WeightsRef::Plain(&[1.0]),
        &[0.0],
        Activation::Softplus,
        &mut y,
    );
    let grads = LinearGrads {
        b: Some(&mut gb),
        ..LinearGrads::default()
    };
    linear::backward(
        &workspace,
        [1, 1, 1],
        &x,
        WeightsRef::Plain(&[1.0]),
        &y,
        &gy,
        Activation::Softplus,
        grads,
    );
    let expected = 1.0 / (1.0 + 30f64.exp());
    assert!((f64::from(gb[0]) / expected - 1.0).abs() < 1e-6);
}

#[test]
fn latent_code() {
    for isa in Isa::supported() {
        for (n, c) in [
            (0, 3),
            (3, 0),
            (1, 1),
            (2, 15),
            (3, 16),
            (2, 17),
            (5, 33),
            (700, 50),
        ] {
            isa.run(|| check_code(n, c));
        }
    }
}

fn check_code(n: usize, c: usize) {
    let floor = 0.02f32;
    let (raw, noise) = (normals(5, n * 2 * c), normals(6, n * c));
    let (gz, gkl) = (normals(7, n * c), normals(8, n));
    let (mut z, mut kl) = (vec![f32::NAN; n * c], vec![f32::NAN; n]);
    gaussian::sample_kl(n, c, &raw, &noise, floor, &mut z, &mut kl);
    let mut g_raw = vec![f32::NAN; n * 2 * c];
    gaussian::sample_kl_backward(n, c, &raw, &noise, floor, &gz, &gkl, &mut g_raw);

    let sigma = |scale: f64| softplus(scale) + f64::from(floor);
    let term = |mean: f64, scale: f64| {
        0.5 * (sigma(scale).powi(2) + mean * mean - 1.0) - sigma(scale).ln()
    };
    let (mut z_plain, mut kl_plain) = (vec![0.0; n * c], vec![0.0; n]);
    let mut g_plain = vec![0.0; n * 2 * c];
    for row in 0..n {
        for i in 0..c {
            let (at_mean, at_scale, at) = (row * 2 * c + i, row * 2 * c + c + i, row * c + i);
            let (mean, scale) = (f64::from(raw[at_mean]), f64::from(raw[at_scale]));
            let [noise, gz, gkl] = [noise[at], gz[at], gkl[row]].map(f64::from);
            z_plain[at] = mean + sigma(scale) * noise;
            kl_plain[row] += term(mean, scale);
            let total = |mean, scale| gz * (mean + sigma(scale) * noise) + gkl * term(mean, scale);
            g_plain[at_mean] = slope(|mean| total(mean, scale), mean);
            g_plain[at_scale] = slope(|scale| total(mean, scale), scale);
        }
    }
    assert_close("z", &z, &z_plain, 1e-6);
    assert_close("kl", &kl, &kl_plain, 1e-6);
    assert_close("g_raw", &g_raw, &g_plain, 1e-6);
}

#[test]
fn constraints() {
    let maps = [
        MapConstraint::Identity,
        MapConstraint::Sigmoid,
        MapConstraint::Tanh,
        MapConstraint::Variance { floor: 0.05 },
    ];
    let value = |map: usize, v: f64| match map {
        0 => v,
        1 => (1.0 / (1.0 + (-v).exp())).clamp(1e-4, 1.0 - 1e-4),
        2 => v.tanh(),
        _ => (softplus(v) + f64::from(0.05f32)).powi(2),
    };
    for isa in Isa::supported() {
        for (n, p) in [
            (0, 5),
            (2, 0),
            (1, 1),
            (2, 15),
            (3, 16),
            (1, 17),
            (2, 33),
            (20, 300),
        ] {
            let raw: Vec<f32> = normals(9, n * 4 * p).iter().map(|v| 6.0 * v).collect();
            let g_out = normals(10, raw.len());
            let (mut out, mut g_raw) = (vec![f32::NAN; raw.len()], vec![f32::NAN; raw.len()]);
            isa.run(|| {
                constrain(n, p, &maps, &raw, &mut out);
                constrain_backward(n, p, &maps, &raw, &g_out, &mut g_raw);
            });
            let at = |i: usize| (i / p.max(1) % 4, f64::from(raw[i]));
            let expected = (0..raw.len()).map(|i| value(at(i).0, at(i).1));
            assert_close("out", &out, &expected.collect::<Vec<_>>(), 1e-6);
            let expected = (0..raw.len()).map(|i| {
                let (map, v) = at(i);
                f64::from(g_out[i]) * slope(|v| value(map, v), v)
            });
            assert_close("g_raw", &g_raw, &expected.collect::<Vec<_>>(), 1e-6);
        }
    }
}
