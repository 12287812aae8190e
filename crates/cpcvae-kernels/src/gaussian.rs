//! The encoder's diagonal normal: reparameterised sample and KL divergence from the prior.
//!
//! `raw [n, 2c]` holds the means and then the raw scales of every row;
//! sigma = softplus(raw scale) + floor.

use crate::isa::Isa;
use crate::math::{ln, sigmoid, softplus, sum};
use crate::parallel;

/// Draws `z = mean + sigma * noise` (`noise`, `z [n, c]`) and computes
/// `kl [n]` = KL(N(mean, sigma^2) || N(0, I)), summed over the `c` dimensions of each row.
///
/// # Panics
/// If a slice's length does not fit the shape.
pub fn sample_kl(
    n: usize,
    c: usize,
    raw: &[f32],
    noise: &[f32],
    floor: f32,
    z: &mut [f32],
    kl: &mut [f32],
) {
    assert_eq!(raw.len(), n * 2 * c);
    assert_eq!(noise.len(), n * c);
    assert_eq!(z.len(), n * c);
    assert_eq!(kl.len(), n);
    if c == 0 {
        return kl.fill(0.0);
    }
    let isa = Isa::current();
    let rows = parallel::rows_per_piece(c);
    let pieces = raw.chunks(rows * 2 * c).zip(noise.chunks(rows * c));
    let pieces = pieces.zip(z.chunks_mut(rows * c)).zip(kl.chunks_mut(rows));
    parallel::timed_for_each(
        "code: sample and KL",
        4 * n * c,
        pieces,
        |(((raw, noise), z), kl)| {
            sample_kl_rows(isa, c, raw, noise, floor, z, kl);
        },
    );
}

kernel! {
    fn sample_kl_rows<FMA>(
        c: usize, raw: &[f32], noise: &[f32], floor: f32, z: &mut [f32], kl: &mut [f32],
    ) {
        let mut terms = vec![0.0; c];
        let rows = raw.chunks_exact(2 * c).zip(noise.chunks_exact(c));
        for (((raw, noise), z), kl) in rows.zip(z.chunks_exact_mut(c)).zip(kl) {
            let (mean, scale) = raw.split_at(c);
            let inputs = mean.iter().zip(scale).zip(noise);
            for (((mean, scale), noise), (z, term)) in inputs.zip(z.iter_mut().zip(&mut terms)) {
                let sigma = softplus::<FMA>(*scale) + floor;
                *z = mean + sigma * noise;
                *term = 0.5 * (sigma * sigma + mean * mean - 1.0) - ln::<FMA>(sigma);
            }
            *kl = sum(&terms);
        }
    }
}

/// Gradient of [`sample_kl`] with respect to `raw`, from those of `z` (`gz [n, c]`) and of `kl`
/// (`gkl [n]`), into `g_raw [n, 2c]`.
///
/// # Panics
/// If a slice's length does not fit the shape.
#[allow(clippy::too_many_arguments)]
pub fn sample_kl_backward(
    n: usize,
    c: usize,
    raw: &[f32],
    noise: &[f32],
    floor: f32,
    gz: &[f32],
    gkl: &[f32],
    g_raw: &mut [f32],
) {
    assert_eq!(raw.len(), n * 2 * c);
    assert_eq!(noise.len(), n * c);
    assert_eq!(gz.len(), n * c);
    assert_eq!(gkl.len(), n);
    assert_eq!(g_raw.len(), n * 2 * c);
    if c == 0 {
        return;
    }
    let isa = Isa::current();
    let rows = parallel::rows_per_piece(c);
    let pieces = raw.chunks(rows * 2 * c).zip(noise.chunks(rows * c));
    let pieces = pieces.zip(gz.chunks(rows * c)).zip(gkl.chunks(rows));
    let pieces = pieces.zip(g_raw.chunks_mut(rows * 2 * c));
    parallel::timed_for_each(
        "code: gradient",
        4 * n * c,
        pieces,
        |((((raw, noise), gz), gkl), g_raw)| {
            backward_rows(isa, c, raw, noise, floor, gz, gkl, g_raw);
        },
    );
}

kernel! {
    fn backward_rows<FMA>(
        c: usize, raw: &[f32], noise: &[f32], floor: f32, gz: &[f32], gkl: &[f32], g_raw: &mut [f32],
    ) {
        let rows = raw.chunks_exact(2 * c).zip(noise.chunks_exact(c)).zip(gz.chunks_exact(c));
        for ((((raw, noise), gz), gkl), g_raw) in rows.zip(gkl).zip(g_raw.chunks_exact_mut(2 * c)) {
            let (mean, scale) = raw.split_at(c);
            let (g_mean, g_scale) = g_raw.split_at_mut(c);
            let inputs = mean.iter().zip(scale).zip(noise).zip(gz);
            for ((((mean, scale), noise), gz), (g_mean, g_scale)) in
                inputs.zip(g_mean.iter_mut().zip(g_scale))
            {
                let sigma = softplus::<FMA>(*scale) + floor;
                *g_mean = gz + gkl * mean;
                *g_scale = (gz * noise + gkl * (sigma - 1.0 / sigma)) * sigmoid::<FMA>(*scale);
            }
        }
    }
}
