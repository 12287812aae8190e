//! Batch normalisation compared with its definition in double precision, and gradients with finite
//! differences, on every instruction set.

use cpcvae_kernels::batch_norm::{
    EPSILON, NormShape, Rescale, Statistics, backward, forward, statistics,
};
use cpcvae_kernels::isa::Isa;
use cpcvae_kernels::random::{self, Stream};

fn normals(purpose: u32, count: usize) -> Vec<f32> {
    let mut out = vec![0.0; count];
    let stream = Stream {
        seed: 8,
        step: 0,
        purpose,
    };
    random::normal(stream, &mut out);
    out
}

/// Mean and variance of each channel.
fn exact_statistics(channels: usize, x: &[f64]) -> [Vec<f64>; 2] {
    let rows = (x.len() / channels) as f64;
    let mean = |c: usize| x[c..].iter().step_by(channels).sum::<f64>() / rows;
    let means: Vec<f64> = (0..channels).map(mean).collect();
    let variance = |c: usize| {
        let squares = x[c..]
            .iter()
            .step_by(channels)
            .map(|x| (x - means[c]).powi(2));
        squares.sum::<f64>() / rows
    };
    let variances = (0..channels).map(variance).collect();
    [means, variances]
}

/// The sum of `gy * y`, whose gradients are those of the layer.
fn loss(
    (statistics, leak): (Option<&[Vec<f64>; 2]>, f32),
    x: &[f64],
    scale: &[f64],
    shift: &[f64],
    gy: &[f32],
) -> f64 {
    let own = exact_statistics(scale.len(), x);
    let [mean, variance] = statistics.unwrap_or(&own);
    let of_element = |(i, (x, gy)): (usize, (&f64, &f32))| {
        let c = i % scale.len();
        let z = scale[c] * (x - mean[c]) / (variance[c] + f64::from(EPSILON)).sqrt() + shift[c];
        f64::from(*gy) * if z > 0.0 { z } else { f64::from(leak) * z }
    };
    x.iter().zip(gy).enumerate().map(of_element).sum()
}

fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().map(|v| f64::from(*v)).collect()
}

/// `f`'s slope along each coordinate of `at`.
fn slopes(at: &[f64], f: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    let step = 1e-6;
    (0..at.len())
        .map(|i| {
            let moved = |by: f64| {
                let mut at = at.to_vec();
                at[i] += by;
                f(&at)
            };
            (moved(step) - moved(-step)) / (2.0 * step)
        })
        .collect()
}

fn assert_near(found: &[f32], expected: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        let apart = (f64::from(*found) - expected).abs();
        assert!(
            apart < 2e-4 * (1.0 + expected.abs()),
            "{what}: {found} is not {expected}"
        );
    }
}

#[test]
fn gradients_are_slopes() {
    for isa in Isa::supported() {
        // ReLU, leaky, and without rectifier.
        for (rows, channels, leak) in [(1, 3, 0.1), (2, 1, 0.0), (7, 5, 0.1), (40, 17, 1.0)] {
            let shape = NormShape { rows, channels };
            let x = normals(1, rows * channels);
            let (scale, shift) = (normals(2, channels), normals(3, channels));
            let gy = normals(4, rows * channels);
            let (wx, wscale, wshift) = (wide(&x), wide(&scale), wide(&shift));
            for of_batch in [true, false] {
                let used = match of_batch {
                    true => isa.run(|| statistics(&shape, &x)),
                    false => Statistics {
                        mean: normals(5, channels),
                        variance: normals(6, channels).iter().map(|v| v * v).collect(),
                    },
                };
                let fixed = (!of_batch).then(|| [wide(&used.mean), wide(&used.variance)]);
                let (mut y, mut gx) = (vec![f32::NAN; x.len()], vec![f32::NAN; x.len()]);
                let (mut g_scale, mut g_shift) = (scale.clone(), shift.clone());
                let rescale = Rescale {
                    scale: &scale,
                    shift: &shift,
                    leak,
                };
                isa.run(|| {
                    forward(&shape, &used, rescale, &x, &mut y);
                    let gradients = [&mut gx[..], &mut g_scale, &mut g_shift];
                    backward(&shape, (&used, of_batch), rescale, &x, &gy, None, gradients);
                });
                let value: f32 = y.iter().zip(&gy).map(|(y, gy)| y * gy).sum();
                let fixed = (fixed.as_ref(), leak);
                let exact = loss(fixed, &wx, &wscale, &wshift, &gy);
                assert_near(&[value], &[exact], "value");
                // A single row is its own mean: only the shift is left, and 1 / sd is huge.
                if rows > 1 || !of_batch {
                    assert_near(
                        &gx,
                        &slopes(&wx, |x| loss(fixed, x, &wscale, &wshift, &gy)),
                        "gx",
                    );
                }
                let of_scale = slopes(&wscale, |scale| loss(fixed, &wx, scale, &wshift, &gy));
                assert_near(&g_scale, &of_scale, "scale");
                let of_shift = slopes(&wshift, |shift| loss(fixed, &wx, &wscale, shift, &gy));
                assert_near(&g_shift, &of_shift, "shift");
            }
        }
    }
}

#[test]
fn a_mean_far_from_zero_costs_no_digits() {
    let shape = NormShape {
        rows: 9000,
        channels: 3,
    };
    let x: Vec<f32> = normals(7, 27_000).iter().map(|v| 1000.0 + v).collect();
    let exact = exact_statistics(3, &wide(&x));
    let found = statistics(&shape, &x);
    for (found, exact) in found.mean.iter().zip(&exact[0]) {
        assert!((f64::from(*found) - exact).abs() < 2e-3);
    }
    for (found, exact) in found.variance.iter().zip(&exact[1]) {
        assert!((f64::from(*found) / exact - 1.0).abs() < 1e-4);
    }
}

#[test]
fn threads_do_not_matter() {
    let shape = NormShape {
        rows: 9000,
        channels: 20,
    };
    let (x, gy) = (normals(1, 180_000), normals(2, 180_000));
    let (scale, shift) = (normals(3, 20), normals(4, 20));
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("threads start").install(|| {
            let used = statistics(&shape, &x);
            let (mut y, mut gx) = (x.clone(), x.clone());
            let (mut g_scale, mut g_shift) = (scale.clone(), shift.clone());
            let rescale = Rescale {
                scale: &scale,
                shift: &shift,
                leak: 0.1,
            };
            forward(&shape, &used, rescale, &x, &mut y);
            let gradients = [&mut gx[..], &mut g_scale, &mut g_shift];
            backward(&shape, (&used, true), rescale, &x, &gy, None, gradients);
            (used, [y, gx, g_scale, g_shift])
        })
    };
    assert_eq!(with(1), with(3));
}
