//! Densities integrate to one and match SciPy and PyTorch. Expected numbers were printed by
//! `tests/reference/distributions.py`.

mod toy;

use burn::tensor::Tensor;
use cpcvae::distribution::{Bernoulli, Categorical, NoiseNormal, Normal};
use cpcvae::net::spatial_transformer::{TransformRanges, image_to_canvas};
use cpcvae::op::{self, Compute};
use toy::{tensor, values};

fn assert_close(actual: f32, expected: f64, tolerance: f64) {
    let difference = (f64::from(actual) - expected).abs();
    assert!(
        difference <= tolerance * expected.abs().max(1.0),
        "{actual} is not {expected}"
    );
}

fn noise_normal(rho: f32, mu: f32, sigma: f32, pixels: usize) -> NoiseNormal {
    let maps = [rho, mu, sigma * sigma].map(|value| vec![value; pixels]);
    NoiseNormal::new(tensor(maps.concat(), [1, 3, pixels]), &Compute::default())
}

/// log f at many points: one row each.
fn log_densities(rho: f32, mu: f32, sigma: f32, places: &[f32]) -> Vec<f32> {
    let maps: Vec<f32> = places
        .iter()
        .flat_map(|_| [rho, mu, sigma * sigma])
        .collect();
    let distribution = NoiseNormal::new(tensor(maps, [places.len(), 3, 1]), &Compute::default());
    values(distribution.log_prob(tensor(places.to_vec(), [places.len(), 1])))
}

#[test]
fn normal_matches_scipy() {
    let normal = Normal::new(
        tensor(vec![0.0, 1.0, -1.0, 1.0, 0.25, 4.0], [1, 2, 3]),
        &Compute::default(),
    );
    let x = tensor(vec![-0.5, 0.25, 1.5], [1, 3]);
    assert_close(
        values(normal.log_prob(x))[0],
        -4.788_065_599_614_018_5,
        1e-6,
    );
}

/// Missing cells are integrated out, which leaves the density of the others.
#[test]
fn normal_leaves_unknown_cells_out() {
    let of = |maps: &[f32], features: usize| {
        Normal::new(tensor(maps.to_vec(), [1, 2, features]), &Compute::default())
    };
    let both = of(&[0.3, -1.0, 0.5, 2.0], 2);
    let known = values(both.log_prob_of_known(tensor(vec![f32::NAN, 0.7], [1, 2])))[0];
    let alone = values(of(&[-1.0, 2.0], 1).log_prob(tensor(vec![0.7], [1, 1])))[0];
    assert_close(known, f64::from(alone), 1e-6);
    let whole = tensor(vec![0.1, 0.7], [1, 2]);
    let all = values(both.log_prob_of_known(whole.clone()))[0];
    assert_close(all, f64::from(values(both.log_prob(whole))[0]), 1e-6);
    let nothing = tensor(vec![f32::NAN; 2], [1, 2]);
    assert_eq!(values(both.log_prob_of_known(nothing))[0], 0.0);
}

#[test]
fn normal_integrates_to_one() {
    let places: Vec<f32> = (0..4000)
        .map(|i| -10.0 + 0.005 * (i as f32 + 0.5))
        .collect();
    let rows = places.len();
    let normal = Normal::new(
        tensor([0.7, 1.3].repeat(rows), [rows, 2, 1]),
        &Compute::default(),
    );
    let log_densities = values(normal.log_prob(tensor(places, [rows, 1])));
    let integral: f64 = log_densities
        .iter()
        .map(|l| f64::from(*l).exp() * 0.005)
        .sum();
    assert!((integral - 1.0).abs() < 1e-4, "{integral}");
}

#[test]
fn bernoulli_matches_torch_and_adds_up_to_one() {
    let bernoulli = Bernoulli::new(tensor(vec![-2.0, 0.5, 30.0], [1, 3]), &Compute::default());
    let log_prob = |x: [f32; 3]| values(bernoulli.log_prob(tensor(x.to_vec(), [1, 3])))[0];
    assert_close(log_prob([0.0, 1.0, 1.0]), -0.601_005_077_362_060_5, 1e-6);
    let all = (0..8).map(|i| [i & 1, i >> 1 & 1, i >> 2 & 1].map(|bit| bit as f32));
    let total: f64 = all.map(|x| f64::from(log_prob(x)).exp()).sum();
    assert!((total - 1.0).abs() < 1e-6, "{total}");
}

#[test]
fn categorical_matches_torch() {
    let categorical = Categorical::from_logits(tensor(vec![1.0, -1.0, 0.5], [1, 3]));
    let expected = [
        -0.554_956_972_599_029_5,
        -2.554_956_912_994_385,
        -1.054_956_912_994_385,
    ];
    for (actual, expected) in values(categorical.log_probs()).into_iter().zip(expected) {
        assert_close(actual, expected, 1e-6);
    }
    assert_close(
        values(categorical.entropy())[0],
        0.884_451_746_940_612_8,
        1e-6,
    );
}

#[test]
fn noise_normal_matches_scipy() {
    let cases = [
        (
            [0.9, 0.3, 0.2],
            0.1,
            0.130_257_458_167_258_6,
            0.269_842_880_612_399,
        ),
        (
            [0.5, -0.95, 0.05],
            -1.0,
            1.139_754_139_034_399,
            -0.467_810_000_726_520_5,
        ),
        (
            [0.99, 0.8, 3.0],
            -0.7,
            -0.764_756_790_367_855_2,
            0.028_886_284_220_968_908,
        ),
        ([0.2, 0.0, 0.01], 0.9, -0.916_290_731_874_155, 0.0),
    ];
    for ([rho, mu, sigma], x, log_density, mean) in cases {
        assert_close(log_densities(rho, mu, sigma, &[x])[0], log_density, 1e-5);
        assert_close(
            values(noise_normal(rho, mu, sigma, 1).mean())[0],
            mean,
            1e-5,
        );
    }
}

#[test]
fn noise_normal_integrates_to_one() {
    for rho in [1e-4, 0.3, 0.9999] {
        for mu in [-0.999, -0.4, 0.0, 0.9] {
            for sigma in [0.02, 0.3, 5.0] {
                let cells = 20_000;
                let width = 2.0 / cells as f32;
                let places: Vec<f32> = (0..cells)
                    .map(|i| -1.0 + width * (i as f32 + 0.5))
                    .collect();
                let integral: f64 = log_densities(rho, mu, sigma, &places)
                    .iter()
                    .map(|l| f64::from(*l).exp() * f64::from(width))
                    .sum();
                assert!(
                    (integral - 1.0).abs() < 1e-3,
                    "{rho} {mu} {sigma}: {integral}"
                );
            }
        }
    }
}

/// Samples follow the distribution function: F(x) of samples is uniform.
#[test]
fn noise_normal_samples_follow_the_distribution_function() {
    let pixels = 20_000;
    for (rho, mu, sigma) in [(0.8, 0.3, 0.2), (0.5, -0.9, 0.5), (0.95, 0.0, 4.0)] {
        let distribution = noise_normal(rho, mu, sigma, pixels);
        let mut uniform = vec![0.0; pixels];
        let stream = cpcvae_kernels::random::Stream {
            seed: 2,
            step: 0,
            purpose: 1,
        };
        cpcvae_kernels::random::uniform(stream, &mut uniform);
        let x = distribution.sample(tensor(uniform, [1, pixels]));
        let parameters = [rho, mu, sigma].map(|v| Tensor::full([1, pixels], v, &toy::device()));
        let mut levels = values(op::noise_normal::composed::distribution_function(
            &parameters,
            x,
        ));
        levels.sort_by(f32::total_cmp);
        // Kolmogorov-Smirnov distance; 1.95 / sqrt(n) is its 0.1 % point.
        let distance = levels
            .iter()
            .enumerate()
            .map(|(i, level)| (f64::from(*level) - (i as f64 + 0.5) / pixels as f64).abs())
            .fold(0.0, f64::max);
        assert!(
            distance < 1.95 / (pixels as f64).sqrt(),
            "{rho} {mu} {sigma}: {distance}"
        );
    }
}

/// The implicit gradient of a sample is the derivative of the quantile at the sample's level:
/// F(x(p), p) stays the same when a parameter moves by h and x by h times the gradient.
#[test]
fn the_implicit_gradient_is_the_derivative_of_the_quantile() {
    let levels = [0.05f64, 0.3, 0.5, 0.7, 0.97];
    for parameters in [[0.8f64, 0.3, 0.04], [0.5, -0.8, 0.2], [0.95, 0.1, 2.0]] {
        for level in levels {
            let x = quantile(parameters, level);
            for which in 0..3 {
                let h = 1e-4;
                let at = |by: f64| {
                    let mut moved = parameters;
                    moved[which] += by;
                    quantile(moved, level)
                };
                let expected = (at(h) - at(-h)) / (2.0 * h);
                let actual = implicit_gradient(parameters, x)[which];
                assert_close(actual, expected, 2e-3);
            }
        }
    }
}

/// Gradient of a sample at x with respect to (rho, mu, sigma^2), from the kernel.
fn implicit_gradient(parameters: [f64; 3], x: f64) -> [f32; 3] {
    let maps = parameters.map(|p| p as f32);
    let mut gradient = [0.0; 3];
    cpcvae_kernels::noise_normal::sample_backward(1, 1, &maps, &[x as f32], &[1.0], &mut gradient);
    gradient
}

/// F^-1 by bisection in f64.
fn quantile([rho, mu, variance]: [f64; 3], level: f64) -> f64 {
    let sigma = variance.sqrt();
    let below = |x: f64| ndtr((x - mu) / sigma);
    let mass = below(1.0) - below(-1.0);
    let cdf = |x: f64| rho * (below(x) - below(-1.0)) / mass + (1.0 - rho) * (x + 1.0) / 2.0;
    let (mut low, mut high) = (-1.0, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if cdf(middle) < level {
            low = middle
        } else {
            high = middle
        }
    }
    0.5 * (low + high)
}

/// The normal distribution function by Simpson's rule: slow, and independent of any erf.
fn ndtr(x: f64) -> f64 {
    let density = |t: f64| (-0.5 * t * t).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let (cells, low) = (2000, -9.0f64);
    if x <= low {
        return 0.0;
    }
    let h = (x.min(9.0) - low) / cells as f64;
    (0..cells)
        .map(|i| {
            let a = low + i as f64 * h;
            h / 6.0 * (density(a) + 4.0 * density(a + h / 2.0) + density(a + h))
        })
        .sum()
}

/// KL(N(0.5, 0.3^2) N(-1, 2^2) || N(0, I)) against torch.
#[test]
fn divergence_matches_torch() {
    let inverse_softplus = |y: f64| (y.exp() - 1.0).ln() as f32;
    let raw = vec![0.5, -1.0, inverse_softplus(0.3), inverse_softplus(2.0)];
    let (_, kl) = op::gaussian::sample_kl(
        tensor(raw, [1, 4]),
        Tensor::zeros([1, 2], &toy::device()),
        0.0,
    );
    assert_close(values(kl)[0], 2.180_825_710_296_631, 1e-5);
}

/// The paper's matrix M maps positions on the canvas to positions in the image; ours is its
/// inverse.
#[test]
fn the_transform_is_the_inverse_of_the_papers_matrix() {
    let ranges = TransformRanges::default();
    let z_t = [0.3f64, -0.8, 1.2, -0.4, 0.7, -1.5];
    let t = z_t.map(f64::tanh);
    let (dx, dy) = (2.0 * 0.2 * t[0], 2.0 * 0.2 * t[1]);
    let (r, s) = (0.4 * t[2], 0.4 * t[2] + 0.2 * t[3]);
    let (sx, sy) = (1.5f64.powf(t[4]), 1.5f64.powf(t[5]));
    let forward = |[x, y]: [f64; 2]| {
        let (x, y) = (sx * x, sy * y);
        [
            r.cos() * x - s.sin() * y + dx,
            r.sin() * x + s.cos() * y + dy,
        ]
    };
    let z_t = tensor(z_t.map(|z| z as f32).to_vec(), [1, 6]);
    let theta = values(image_to_canvas(z_t, &ranges, (1.5, 1.5)));
    for place in [[0.0, 0.0], [0.5, -0.3], [-0.9, 0.8]] {
        let [i, j] = forward(place);
        let back = |row: usize| {
            let [a, b, c] = [0, 1, 2].map(|k| f64::from(theta[3 * row + k]));
            1.5 * (a * i + b * j + c)
        };
        assert_close(back(0) as f32, place[0], 1e-5);
        assert_close(back(1) as f32, place[1], 1e-5);
    }
}
