//! Layers, latent code and Adam against PyTorch. The expected numbers were printed by
//! tests/reference/steps.py (PyTorch 2.15).

use cpcvae_kernels::isa::Isa;
use cpcvae_kernels::linear::{self, LinearGrads, WeightsRef};
use cpcvae_kernels::{Activation, Precision, Workspace, adam, gaussian};

/// As `pattern` in tests/reference/steps.py.
fn pattern(count: usize, factor: usize) -> Vec<f32> {
    (0..count)
        .map(|i| ((i * factor % 41) as f64 / 10.0 - 2.0) as f32)
        .collect()
}

fn assert_close(actual: &[f32], expected: &[f32]) {
    assert_eq!(actual.len(), expected.len());
    for (i, (a, e)) in actual.iter().zip(expected).enumerate() {
        assert!(
            (a - e).abs() <= 1e-6 * (1.0 + e.abs()),
            "[{i}]: {a}, expected {e}"
        );
    }
}

#[test]
fn linear_layers() {
    let workspace = Workspace::new(Precision::F32);
    let (x, w, b, gy) = (
        pattern(6, 17),
        pattern(6, 29),
        pattern(2, 13),
        pattern(4, 7),
    );
    for isa in Isa::supported() {
        for (act, expected) in LAYERS {
            let (mut y, mut gx, mut gw, mut gb) = ([0.0; 4], [0.0; 6], [0.0; 6], [0.0; 2]);
            isa.run(|| {
                linear::forward(
                    &workspace,
                    [2, 3, 2],
                    &x,
                    WeightsRef::Plain(&w),
                    &b,
                    act,
                    &mut y,
                );
                let grads = LinearGrads {
                    x: Some(&mut gx),
                    w: Some(&mut gw),
                    b: Some(&mut gb),
                };
                linear::backward(
                    &workspace,
                    [2, 3, 2],
                    &x,
                    WeightsRef::Plain(&w),
                    &y,
                    &gy,
                    act,
                    grads,
                );
            });
            assert_close(&[&y[..], &gx, &gw, &gb].concat(), &expected);
        }
    }
}

#[test]
fn latent_code() {
    let (raw, noise) = (pattern(12, 17), pattern(6, 29));
    let (mut z, mut kl, mut g_raw) = ([0.0; 6], [0.0; 2], [0.0; 12]);
    gaussian::sample_kl(2, 3, &raw, &noise, 0.125, &mut z, &mut kl);
    let (gz, gkl) = (pattern(6, 13), pattern(2, 7));
    gaussian::sample_kl_backward(2, 3, &raw, &noise, 0.125, &gz, &gkl, &mut g_raw);
    #[rustfmt::skip]
    let expected = [
        -2.876523, 0.8053674, 1.312164, -2.157393, 2.183584, -0.5041289, 4.265833, 2.483951, 2.0,
        -0.09999996, -2.2, 2.067342, -0.9741872, 0.9368867, 1.9, -3.11, 1.31, -2.789625,
        0.4064171, 0.07711437,
    ];
    assert_close(&[&z[..], &kl, &g_raw].concat(), &expected);
}

#[test]
fn three_steps_of_adam() {
    for isa in Isa::supported() {
        let mut param = pattern(5, 17);
        let (mut first, mut second) = ([0.0; 5], [0.0; 5]);
        for step in 1..=3 {
            let grad: Vec<f32> = pattern(5, 29)
                .iter()
                .map(|g| g * step as f32 - 0.5)
                .collect();
            let step = adam::AdamStep {
                learning_rate: 1e-2,
                beta1: 0.9,
                beta2: 0.999,
                epsilon: 1e-8,
                step,
            };
            isa.run(|| adam::update(&step, &mut param, &grad, &mut first, &mut second));
        }
        assert_close(
            &param,
            &[-1.970551, -0.328207, 1.429905, -0.9704952, 0.671295],
        );
    }
}

/// y [2, 2], gx [2, 3], gw [3, 2], gb [2] for each activation.
#[rustfmt::skip]
const LAYERS: [(Activation, [f32; 18]); 5] = [
    (Activation::Identity, [
        4.05, -1.77, -2.59, -2.99, 2.83, 2.55, -3.06, 1.29, 0.03000001, -0.82, 4.6, 2.5, 0.18,
        0.46, -1.78, -1.99, -2.6, -1.2,
    ]),
    (Activation::Softplus, [
        4.067272, 0.1572883, 0.0723393, 0.04906388, 3.761219, 0.8735332, -2.789894, 0.08805091,
        0.005379308, -0.05766162, 3.973375, 0.3736221, 0.560416, 0.06011309, -2.680872,
        -0.2730266, -2.007623, -0.1844171,
    ]),
    (Activation::LeakyRelu, [
        4.05, -0.0177, -0.0259, -0.0299, 3.9883, 0.6195, -2.8026, 0.0129, 0.0003000001, -0.0082,
        4.006, 0.025, 0.5958, 0.0046, -2.7898, -0.0199, -2.006, -0.012,
    ]),
    (Activation::Elu, [
        4.05, -0.829667, -0.92498, -0.9497126, 3.80071, 0.9321494, -2.844287, 0.09454992,
        0.005960492, -0.06201108, 4.045012, 0.437837, 0.5684916, 0.06994999, -2.72348, -0.3185549,
        -2.045012, -0.2164042,
    ]),
    (Activation::Relu, [
        4.05, 0.0, 0.0, 0.0, 4.0, 0.6, -2.8, 0.0, 0.0, 0.0, 4.0, 0.0, 0.6, 0.0, -2.8, 0.0, -2.0,
        0.0,
    ]),
];
