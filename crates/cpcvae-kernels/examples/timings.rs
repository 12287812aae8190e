//! Times every kernel: `cargo run --release -p cpcvae-kernels --example timings`.
//!
//! Prints the best of several runs, on one thread (elementwise kernels) or all of them (layers).

use cpcvae_kernels::isa::Isa;
use cpcvae_kernels::linear::{self, LinearGrads, PackedWeights, WeightsRef};
use cpcvae_kernels::random::{self, Stream};
use cpcvae_kernels::transform::{self, WarpShape};
use cpcvae_kernels::{
    Activation, MapConstraint, Precision, Workspace, adam, gaussian, math, noise_normal,
};
use std::time::Instant;

/// Seconds of the fastest of many runs.
fn best(mut work: impl FnMut()) -> f64 {
    let start = Instant::now();
    let (mut best, mut runs) = (f64::INFINITY, 0);
    // Several runs at least: the first one may include page faults.
    while runs < 5 || start.elapsed().as_secs_f64() < 0.2 {
        runs += 1;
        let run = Instant::now();
        work();
        best = best.min(run.elapsed().as_secs_f64());
    }
    best
}

fn per_element(name: &str, elements: usize, work: impl FnMut()) {
    println!(
        "{name:<34}{:8.3} ns/element",
        best(work) / elements as f64 * 1e9
    );
}

fn normals(purpose: u32, count: usize) -> Vec<f32> {
    let mut out = vec![0.0; count];
    random::normal(
        Stream {
            seed: 1,
            step: 1,
            purpose,
        },
        &mut out,
    );
    out
}

fn functions() {
    let x = normals(0, 8192);
    let positive: Vec<f32> = x.iter().map(|v| v.abs() + 1e-6).collect();
    let unit: Vec<f32> = x.iter().map(|v| 1.0 / (1.0 + v.abs())).collect();
    let mut y = vec![0.0; x.len()];
    let mut time = |name, function: fn(&[f32], &mut [f32]), x: &[f32]| {
        per_element(name, x.len(), || function(x, &mut y));
    };
    time("exp", math::exp_slice, &x);
    time("expm1", math::expm1_slice, &x);
    time("ln", math::ln_slice, &positive);
    time("log1p", math::log1p_slice, &positive);
    time("tanh", math::tanh_slice, &x);
    time("sigmoid", math::sigmoid_slice, &x);
    time("softplus", math::softplus_slice, &x);
    time("erf", math::erf_slice, &x);
    time("erfc", math::erfc_slice, &x);
    time("log_ndtr", math::log_ndtr_slice, &x);
    time("ndtri", math::ndtri_slice, &unit);
    let stream = Stream {
        seed: 1,
        step: 1,
        purpose: 1,
    };
    per_element("uniform", y.len(), || random::uniform(stream, &mut y));
    per_element("normal", y.len(), || random::normal(stream, &mut y));
}

fn model_kernels(n: usize) {
    let (canvas, image, maps) = ((42, 42), (28, 28), 3);
    let (big, p) = (42 * 42, 28 * 28);
    let kinds = [
        MapConstraint::Sigmoid,
        MapConstraint::Tanh,
        MapConstraint::Variance { floor: 0.01 },
    ];
    let raw = normals(2, n * maps * big);
    let theta: Vec<f32> = (0..n)
        .flat_map(|_| [0.6, 0.1, 0.05, -0.1, 0.6, -0.02])
        .collect();
    let mut constrained = vec![0.0; raw.len()];
    let mut params = vec![0.0; n * maps * p];
    let shape = WarpShape {
        rows: n,
        canvas,
        image,
    };
    per_element(&format!("warp, {n} rows (per pixel)"), n * p, || {
        transform::warp(&shape, &kinds, &raw, &theta, &mut constrained, &mut params);
    });
    let (mut g_raw, mut g_theta) = (vec![0.0; raw.len()], vec![0.0; theta.len()]);
    per_element(&format!("warp_backward, {n} rows"), n * p, || {
        transform::warp_backward(
            &shape,
            &kinds,
            &raw,
            &constrained,
            &theta,
            &params,
            &mut g_raw,
            &mut g_theta,
        );
    });
    let (mut u, mut x, mut out) = (vec![0.0; n * p], vec![0.0; n * p], vec![0.0; n]);
    let mut d_params = vec![0.0; params.len()];
    random::uniform(
        Stream {
            seed: 3,
            step: 1,
            purpose: 1,
        },
        &mut u,
    );
    per_element(&format!("noise_normal::sample, {n} rows"), n * p, || {
        noise_normal::sample(n, p, &params, &u, &mut x);
    });
    per_element("noise_normal::log_prob", n * p, || {
        noise_normal::log_prob(n, p, &params, &x, &mut out);
    });
    per_element("noise_normal::log_prob_with_gradient", n * p, || {
        noise_normal::log_prob_with_gradient(n, p, &params, &x, &mut out, &mut d_params);
    });
    per_element("noise_normal::sample_backward", n * p, || {
        noise_normal::sample_backward(n, p, &params, &x, &u, &mut d_params);
    });
    let c = 50;
    let (codes, noise) = (normals(5, n * 2 * c), normals(6, n * c));
    let (mut z, mut g_codes) = (vec![0.0; n * c], vec![0.0; n * 2 * c]);
    per_element("gaussian::sample_kl", n * c, || {
        gaussian::sample_kl(n, c, &codes, &noise, 1e-3, &mut z, &mut out);
    });
    per_element("gaussian::sample_kl_backward", n * c, || {
        gaussian::sample_kl_backward(n, c, &codes, &noise, 1e-3, &noise, &out, &mut g_codes);
    });
}

fn optimiser(count: usize) {
    let grad = normals(7, count);
    let (mut param, mut first) = (vec![0.0; count], vec![0.0; count]);
    let mut second = vec![0.0; count];
    let step = adam::AdamStep {
        learning_rate: 1e-3,
        beta1: 0.9,
        beta2: 0.999,
        epsilon: 1e-8,
        step: 10,
    };
    per_element(&format!("adam, {count} parameters"), count, || {
        adam::update(&step, &mut param, &grad, &mut first, &mut second);
    });
}

/// Products of a dense layer in f32, and in bfloat16 where there are instructions for it.
fn layer(m: usize, k: usize, n: usize) {
    let workspace = Workspace::new(Precision::F32);
    let (x, w, b, gy) = (
        normals(8, m * k),
        normals(9, k * n),
        normals(10, n),
        normals(11, m * n),
    );
    let (mut y, mut gx, mut gw) = (vec![0.0; m * n], vec![0.0; m * k], vec![0.0; k * n]);
    let mut gb = vec![0.0; n];
    let act = Activation::Softplus;
    let report = |name: &str, products: f64, seconds: f64| {
        let flops = 2.0 * products * (m * k * n) as f64;
        let name = format!("linear {m}x{k}x{n} {name}");
        println!(
            "{name:<34}{:8.3} ms, {:6.1} GFLOP/s",
            seconds * 1e3,
            flops / seconds / 1e9
        );
    };
    let mut packed = PackedWeights::default();
    let mut kinds = vec![("f32", WeightsRef::Plain(&w))];
    if Isa::current().has_bf16_products() {
        let time = best(|| packed.pack(k, n, &w));
        report("packing weights", 0.0, time);
        kinds.push(("bf16", WeightsRef::Packed(&packed)));
    }
    for (kind, w) in kinds {
        let time = best(|| linear::forward(&workspace, [m, k, n], &x, w, &b, act, &mut y));
        report(&format!("{kind} forward"), 1.0, time);
        let mut backward = |name, products, want_x: bool, want_w: bool| {
            let time = best(|| {
                let grads = LinearGrads {
                    x: want_x.then_some(&mut gx[..]),
                    w: want_w.then_some(&mut gw[..]),
                    b: Some(&mut gb),
                };
                linear::backward(&workspace, [m, k, n], &x, w, &y, &gy, act, grads);
            });
            report(&format!("{kind} {name}"), products, time);
        };
        backward("grad x", 1.0, true, false);
        backward("grad w", 1.0, false, true);
        backward("grads", 2.0, true, true);
    }
}

fn main() {
    for isa in Isa::supported() {
        println!(
            "\n{isa:?}, {} threads at most",
            rayon::current_num_threads()
        );
        isa.run(|| {
            functions();
            model_kernels(20);
            model_kernels(200);
            optimiser(8192);
            optimiser(7_000_000);
        });
    }
    println!();
    layer(200, 100, 100);
    layer(200, 784, 1000);
    layer(200, 1000, 1000);
    layer(200, 1000, 5292);
}
