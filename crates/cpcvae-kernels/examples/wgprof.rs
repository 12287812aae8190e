use cpcvae_kernels::conv::{ConvShape, forward, input_gradient, weight_gradient};
use std::time::Instant;
fn numbers(length: usize) -> Vec<f32> {
    (0..length).map(|i| ((i * 7919) % 1000) as f32 / 500.0 - 1.0).collect()
}
fn main() {
    if std::env::var("BF").is_ok() { cpcvae_kernels::product::set_precision(cpcvae_kernels::product::Precision::Bf16); }
    let a: Vec<usize> = std::env::args().skip(1).map(|a| a.parse().unwrap()).collect();
    let shape = ConvShape { rows: a[0], height: a[1], width: a[1], inputs: a[2], outputs: a[5], kernel: a[6], stride: a[7] };
    let (x, w) = (numbers(shape.input_length()), numbers(shape.weight_length()));
    let gy = numbers(shape.output_length());
    let (mut y, mut gx, mut gw) = (gy.clone(), x.clone(), w.clone());
    let mut best = [f64::INFINITY; 3];
    for _ in 0..a[4] {
        for (i, best) in best.iter_mut().enumerate() {
            if a[3] & (1 << i) == 0 { continue; }
            let start = Instant::now();
            match i { 0 => forward(&shape, &x, &w, None, &mut y), 1 => input_gradient(&shape, &gy, &w, None, &mut gx), _ => weight_gradient(&shape, &x, &gy, &mut gw) }
            *best = best.min(start.elapsed().as_secs_f64());
        }
    }
    println!("{:?}", best.map(|b| (b * 1e6) as u64));
}
