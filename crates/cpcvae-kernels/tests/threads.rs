//! Results must be the same bits for any number of threads, and random numbers for any length.

use cpcvae_kernels::class_rows::{self, ClassShape};
use cpcvae_kernels::density::{self, Density, DensityShape};
use cpcvae_kernels::isa::Isa;
use cpcvae_kernels::linear::{self, LinearGrads, WeightsRef};
use cpcvae_kernels::random::{self, Stream};
use cpcvae_kernels::transform::{WarpShape, warp, warp_backward};
use cpcvae_kernels::{
    Activation, MapConstraint, Precision, Workspace, adam, gaussian, noise_normal,
};

const STREAM: Stream = Stream {
    seed: 0x1234_5678_9abc_def0,
    step: 7,
    purpose: 3,
};

fn normals(purpose: u32, count: usize) -> Vec<f32> {
    let mut out = vec![0.0; count];
    random::normal(Stream { purpose, ..STREAM }, &mut out);
    out
}

/// A training step's worth of kernels, large enough to be split; all results in one vector.
fn everything() -> Vec<f32> {
    let workspace = Workspace::new(Precision::F32);
    let mut all = vec![];
    for (m, k, n) in [
        (200, 100, 100),
        (100, 784, 300),
        (64, 300, 1111),
        (1, 500, 900),
        (300, 700, 1),
    ] {
        let (x, w, b, gy) = (
            normals(1, m * k),
            normals(2, k * n),
            normals(3, n),
            normals(4, m * n),
        );
        let (mut y, mut gx) = (vec![0.0; m * n], vec![0.0; m * k]);
        let (mut gw, mut gb) = (vec![0.0; k * n], vec![0.0; n]);
        linear::forward(
            &workspace,
            [m, k, n],
            &x,
            WeightsRef::Plain(&w),
            &b,
            Activation::Softplus,
            &mut y,
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
            Activation::Softplus,
            grads,
        );
        all.extend([y, gx, gw, gb].concat());
    }
    let shape = WarpShape {
        rows: 30,
        canvas: (21, 20),
        image: (14, 15),
    };
    let (n, p) = (shape.rows, 14 * 15);
    let maps = [
        MapConstraint::Sigmoid,
        MapConstraint::Tanh,
        MapConstraint::Variance { floor: 0.01 },
    ];
    let (raw, theta) = (normals(5, n * 3 * 420), normals(6, n * 6));
    let (mut constrained, mut params) = (vec![0.0; raw.len()], vec![0.0; n * 3 * p]);
    let (mut g_raw, mut g_theta) = (vec![0.0; raw.len()], vec![0.0; theta.len()]);
    warp(&shape, &maps, &raw, &theta, &mut constrained, &mut params);
    let (mut u, mut x, mut log) = (vec![0.0; n * p], vec![0.0; n * p], vec![0.0; n]);
    let mut d_params = vec![0.0; params.len()];
    random::uniform(STREAM, &mut u);
    noise_normal::sample(n, p, &params, &u, &mut x);
    noise_normal::log_prob_with_gradient(n, p, &params, &x, &mut log, &mut d_params);
    warp_backward(
        &shape,
        &maps,
        &raw,
        &constrained,
        &theta,
        &d_params,
        &mut g_raw,
        &mut g_theta,
    );
    all.extend([x, log, d_params, g_raw, g_theta].concat());

    let (codes, noise) = (normals(7, 1000 * 64), normals(8, 1000 * 32));
    let (mut z, mut kl) = (vec![0.0; 1000 * 32], vec![0.0; 1000]);
    gaussian::sample_kl(1000, 32, &codes, &noise, 0.01, &mut z, &mut kl);
    let step = adam::AdamStep {
        learning_rate: 1e-3,
        beta1: 0.9,
        beta2: 0.999,
        epsilon: 1e-8,
        step: 3,
    };
    let mut first = noise.clone();
    let mut second: Vec<f32> = noise.iter().map(|v| v * v).collect();
    adam::update(&step, &mut z, &noise, &mut first, &mut second);
    all.extend([z, kl, first, second].concat());

    let shape = ClassShape {
        rows: 60,
        classes: 10,
        units: 130,
        shared: true,
    };
    let (x, v) = (normals(9, 60 * 130), normals(10, 10 * 130));
    let (mut y, mut gx, mut gv) = (vec![0.0; 600 * 130], vec![0.0; x.len()], vec![0.0; v.len()]);
    class_rows::forward(shape, &x, &v, Activation::Elu, &mut y);
    class_rows::backward(
        shape,
        Activation::Elu,
        &y,
        &normals(11, 600 * 130),
        &mut gx,
        &mut gv,
    );
    let shape = DensityShape {
        rows: 600,
        features: 130,
        repeat: 10,
    };
    let (mut log, mut slopes) = (vec![0.0; 600], vec![0.0; y.len()]);
    let bernoulli = Density::Bernoulli;
    density::log_prob_with_gradient(shape, bernoulli, &y, &x, &mut log, &mut slopes);
    density::scale_rows(&log, &mut slopes);
    all.extend([y, gx, gv, log, slopes].concat());
    all
}

#[test]
fn number_of_threads_does_not_matter() {
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(everything)
    };
    let single = on(1);
    for threads in [2, 3, 8] {
        let several = on(threads);
        let same = single
            .iter()
            .zip(&several)
            .all(|(a, b)| a.to_bits() == b.to_bits());
        assert!(same && single.len() == several.len(), "{threads} threads");
    }
}

#[test]
fn random_numbers_depend_on_stream_and_index_only() {
    for isa in Isa::supported() {
        isa.run(|| {
            for fill in [random::uniform, random::normal] {
                let mut long = vec![0.0; 100_000];
                fill(STREAM, &mut long);
                for length in [0, 1, 15, 16, 17, 63, 64, 65, 8192, 8193, 20_000] {
                    let mut short = vec![0.0; length];
                    fill(STREAM, &mut short);
                    assert_eq!(short, long[..length]);
                }
                let others = [
                    Stream { seed: 1, ..STREAM },
                    Stream {
                        seed: STREAM.seed ^ (1 << 40),
                        ..STREAM
                    },
                    Stream { step: 8, ..STREAM },
                    Stream {
                        step: 7 + (1 << 40),
                        ..STREAM
                    },
                    Stream {
                        purpose: 4,
                        ..STREAM
                    },
                ];
                for other in others {
                    let mut values = vec![0.0; 64];
                    fill(other, &mut values);
                    assert!(values.iter().zip(&long).filter(|(a, b)| a == b).count() < 3);
                }
            }
        });
    }
}

#[test]
fn random_numbers_have_their_moments() {
    const N: usize = 1 << 20;
    let mut values = vec![0.0f32; N];
    let moment = |values: &[f32], centre: f64, power: i32| {
        values
            .iter()
            .map(|v| (f64::from(*v) - centre).powi(power))
            .sum::<f64>()
            / N as f64
    };
    random::uniform(STREAM, &mut values);
    assert!(values.iter().all(|v| (0.0..1.0).contains(v)));
    assert!((moment(&values, 0.0, 1) - 0.5).abs() < 2e-3);
    assert!((moment(&values, 0.5, 2) - 1.0 / 12.0).abs() < 5e-4);
    random::normal(STREAM, &mut values);
    for (power, expected, tolerance) in [
        (1, 0.0, 5e-3),
        (2, 1.0, 7e-3),
        (3, 0.0, 0.02),
        (4, 3.0, 0.05),
    ] {
        assert!(
            (moment(&values, 0.0, power) - expected).abs() < tolerance,
            "moment {power}"
        );
    }
    // Neighbours, and the sine and cosine of one angle, which are 16 apart.
    for lag in [1, 2, 16, 32, 64] {
        let pairs = values.iter().zip(&values[lag..]);
        let covariance = pairs.map(|(a, b)| f64::from(a * b)).sum::<f64>() / N as f64;
        assert!(covariance.abs() < 5e-3, "lag {lag}");
    }
    let beyond = values.iter().filter(|v| v.abs() > 3.0).count() as f64 / N as f64;
    assert!((beyond - 2.6998e-3).abs() < 2.5e-4);
}
