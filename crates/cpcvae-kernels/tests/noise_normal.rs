//! The Noise-Normal distribution compared with itself and with a plain version.

use cpcvae_kernels::isa::Isa;
use cpcvae_kernels::noise_normal::{log_prob, log_prob_with_gradient, sample, sample_backward};
use cpcvae_kernels::random::{self, Stream};

/// Random parameters `[n, 3, p]` with rho in [0, 1], means in about [-3, 3], sigma in [0.01, 10].
fn random_params(n: usize, p: usize, seed: u64) -> Vec<f32> {
    let mut params = vec![0.0; n * 3 * p];
    random::uniform(
        Stream {
            seed,
            step: 0,
            purpose: 0,
        },
        &mut params,
    );
    for row in params.chunks_mut((3 * p).max(1)) {
        for mean in &mut row[p..2 * p] {
            *mean = 6.0 * *mean - 3.0;
        }
        for variance in &mut row[2 * p..] {
            *variance = 10f32.powf(6.0 * *variance - 4.0);
        }
    }
    params
}

/// The integral of the density over [-1, 1] by Simpson's rule.
#[test]
fn density_integrates_to_one() {
    const STEPS: usize = 20_000;
    for pixel in random_params(30, 1, 7).chunks(3) {
        let params: Vec<f32> = pixel
            .iter()
            .copied()
            .cycle()
            .take(3 * (STEPS + 1))
            .collect();
        let x: Vec<f32> = (0..=STEPS)
            .map(|i| 2.0 * i as f32 / STEPS as f32 - 1.0)
            .collect();
        let mut log = vec![0.0; x.len()];
        log_prob(x.len(), 1, &params, &x, &mut log);
        let weight = |i| {
            if i == 0 || i == STEPS {
                1.0
            } else {
                2.0 + 2.0 * (i % 2) as f64
            }
        };
        let sum: f64 = log
            .iter()
            .enumerate()
            .map(|(i, l)| weight(i) * f64::from(*l).exp())
            .sum();
        let integral = sum * 2.0 / STEPS as f64 / 3.0;
        assert!((integral - 1.0).abs() < 3e-4, "{pixel:?}: {integral}");
    }
}

/// The distribution function of the mixture, plainly; `params` with |mean| of a few sigma at most.
fn distribution(params: [f64; 3], x: f64) -> f64 {
    let [rho, mean, variance] = params;
    let cdf = |v: f64| 0.5 * libm::erfc((mean - v) / (2.0 * variance).sqrt());
    let (low, high) = (cdf(-1.0), cdf(1.0));
    rho * (cdf(x) - low) / (high - low) + (1.0 - rho) * 0.5 * (x + 1.0)
}

#[test]
fn sample_gradient_is_that_of_the_quantile() {
    let params = random_params(400, 1, 3);
    let mut u = vec![0.0; 400];
    random::uniform(
        Stream {
            seed: 9,
            step: 0,
            purpose: 0,
        },
        &mut u,
    );
    let (mut x, mut d_params) = (vec![0.0; 400], vec![0.0; 1200]);
    sample(400, 1, &params, &u, &mut x);
    sample_backward(400, 1, &params, &x, &[1.0; 400], &mut d_params);
    let mut checked = 0;
    for ((params, x), slopes) in params.chunks(3).zip(&x).zip(d_params.chunks(3)) {
        let params: [f64; 3] = std::array::from_fn(|i| f64::from(params[i]));
        let x = f64::from(*x);
        if params[1].abs() > 1.0 || x.abs() > 0.999 {
            continue;
        }
        checked += 1;
        let difference = |value: &dyn Fn(f64) -> f64, h: f64| (value(h) - value(-h)) / (2.0 * h);
        let density = difference(&|h| distribution(params, x + h), 1e-6);
        for i in 0..3 {
            let moved = |h: f64| {
                let mut params = params;
                params[i] *= 1.0 + h;
                distribution(params, x)
            };
            let slope = -difference(&moved, 1e-5) / params[i] / density;
            let error = (f64::from(slopes[i]) - slope).abs();
            assert!(
                error < 1e-3 * (0.01 + slope.abs()),
                "{params:?} {x}: {slopes:?}[{i}] {slope}"
            );
        }
    }
    assert!(checked > 50);
}

/// Sums over pixels, rows of odd sizes, and both functions with the same value.
#[test]
fn rows_are_sums_of_pixels() {
    for isa in Isa::supported() {
        isa.run(|| {
            for (n, p) in [
                (0, 3),
                (3, 0),
                (1, 1),
                (2, 15),
                (3, 17),
                (2, 256),
                (30, 600),
            ] {
                let params = random_params(n, p, 11);
                let (mut u, mut x) = (vec![0.0; n * p], vec![0.0; n * p]);
                random::uniform(
                    Stream {
                        seed: 2,
                        step: 0,
                        purpose: 0,
                    },
                    &mut u,
                );
                sample(n, p, &params, &u, &mut x);
                assert!(x.iter().all(|x| (-1.0..=1.0).contains(x)));
                let (mut plain, mut fused) = (vec![1.0; n], vec![1.0; n]);
                let mut d_params = vec![0.0; params.len()];
                log_prob(n, p, &params, &x, &mut plain);
                log_prob_with_gradient(n, p, &params, &x, &mut fused, &mut d_params);
                assert_eq!(plain, fused);
                assert!(d_params.iter().all(|d| d.is_finite()));
                for row in 0..n {
                    let mut total = 0.0;
                    for i in 0..p {
                        let pixel =
                            std::array::from_fn::<_, 3, _>(|map| params[(row * 3 + map) * p + i]);
                        let (mut log, mut slopes) = ([0.0], [0.0; 3]);
                        log_prob_with_gradient(
                            1,
                            1,
                            &pixel,
                            &[x[row * p + i]],
                            &mut log,
                            &mut slopes,
                        );
                        total += f64::from(log[0]);
                        for (map, slope) in slopes.iter().enumerate() {
                            let expected = d_params[(row * 3 + map) * p + i];
                            assert!((slope - expected).abs() <= 1e-5 * slope.abs() + 1e-30);
                        }
                    }
                    let error = (total - f64::from(plain[row])).abs();
                    assert!(
                        error <= 1e-6 * (1.0 + total.abs()) + 1e-7 * p as f64,
                        "{n} {p} {error}"
                    );
                }
            }
        });
    }
}
