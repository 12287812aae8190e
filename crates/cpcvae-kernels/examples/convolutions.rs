//! Times the convolutions of a wide residual network:
//! `cargo run --release -p cpcvae-kernels --example convolutions -- [IMAGES]`.

use cpcvae_kernels::batch_norm::{self, NormShape, Rescale};
use cpcvae_kernels::conv::{ConvShape, forward, input_gradient, weight_gradient};
use cpcvae_kernels::peak::fma_gflops;
use cpcvae_kernels::{Precision, Workspace};
use std::time::Instant;

/// Seconds of the fastest of several runs.
fn best(mut work: impl FnMut()) -> f64 {
    let runs = (0..7).map(|_| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    });
    runs.fold(f64::INFINITY, f64::min)
}

fn numbers(length: usize) -> Vec<f32> {
    (0..length)
        .map(|i| ((i * 7919) % 1000) as f32 / 500.0 - 1.0)
        .collect()
}

fn convolution(workspace: &Workspace, shape: &ConvShape) {
    let (x, w) = (
        numbers(shape.input_length()),
        numbers(shape.weight_length()),
    );
    let gy = numbers(shape.output_length());
    let (mut y, mut gx, mut gw) = (gy.clone(), x.clone(), w.clone());
    let [height, width] = shape.output_size();
    let flop = 2.0 * (shape.rows * height * width * shape.weight_length()) as f64;
    let times = [
        best(|| forward(workspace, shape, &x, &w, None, &mut y)),
        best(|| input_gradient(workspace, shape, &gy, &w, None, &mut gx)),
        best(|| weight_gradient(workspace, shape, &x, &gy, &mut gw)),
    ];
    print!(
        "{:>3} x {:>2}x{:<2} {:>3} -> {:<3} stride {}",
        shape.rows, shape.height, shape.width, shape.inputs, shape.outputs, shape.stride
    );
    for (name, time) in ["forward", "input", "weights"].iter().zip(times) {
        let speed = flop / time / 1e9;
        print!("  {name} {:6.2} ms {speed:5.0} GFLOP/s", time * 1e3);
    }
    println!();
}

fn normalisation(rows: usize, channels: usize) {
    let shape = NormShape { rows, channels };
    let x = numbers(rows * channels);
    let (mut y, mut gx) = (x.clone(), x.clone());
    let (scale, shift) = (vec![1.0; channels], vec![0.0; channels]);
    let (mut g_scale, mut g_shift) = (scale.clone(), shift.clone());
    let statistics = batch_norm::statistics(&shape, &x);
    let rescale = Rescale {
        scale: &scale,
        shift: &shift,
        leak: 0.1,
    };
    let times = [
        best(|| {
            batch_norm::statistics(&shape, &x);
        }),
        best(|| batch_norm::forward(&shape, &statistics, rescale, &x, &mut y)),
        best(|| {
            let gradients = [&mut gx[..], &mut g_scale, &mut g_shift];
            batch_norm::backward(
                &shape,
                (&statistics, true),
                rescale,
                &x,
                &y,
                None,
                gradients,
            );
        }),
    ];
    print!("norm {rows} x {channels}");
    for (name, time) in ["statistics", "forward", "backward"].iter().zip(times) {
        print!("  {name} {:6.2} ms", time * 1e3);
    }
    println!();
}

fn main() {
    let rows = std::env::args().nth(1).and_then(|rows| rows.parse().ok());
    let rows = rows.unwrap_or(32);
    let threads = rayon::current_num_threads();
    println!(
        "{threads} threads, f32 multiply-adds {:.0} GFLOP/s",
        fma_gflops(threads)
    );
    for precision in [Precision::F32, Precision::Bf16] {
        let workspace = Workspace::new(precision);
        println!("{precision:?}");
        for (side, inputs, outputs, stride) in [
            (32, 1, 16, 1),
            (32, 16, 32, 1),
            (32, 32, 32, 1),
            (32, 32, 64, 2),
            (16, 64, 64, 1),
            (8, 128, 128, 1),
        ] {
            let shape = ConvShape {
                rows,
                height: side,
                width: side,
                inputs,
                outputs,
                kernel: 3,
                stride,
            };
            convolution(&workspace, &shape);
        }
    }
    normalisation(rows * 32 * 32, 32);
    normalisation(rows * 8 * 8, 128);
}
