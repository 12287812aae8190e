//! The negative binomial distribution, for counts more dispersed than a Poisson distribution.

use burn::tensor::{Tensor, TensorData};

/// The log-mean is clamped to this range, so that its exponential stays in range.
const LOG_MEAN: (f64, f64) = (-15.0, 20.0);
/// The dispersion is clamped to this range: from almost all zeros to nearly Poisson.
const DISPERSION: (f64, f64) = (1e-3, 1e3);
/// The logarithm of the gamma function is expanded at arguments of at least this.
const SHIFT: usize = 5;
/// Attempts to draw from a gamma distribution; each succeeds with a probability above 0.95.
const ATTEMPTS: usize = 6;
/// Uniform numbers used by a draw.
const UNIFORMS: usize = 3 * ATTEMPTS + 3;

/// P(k) with mean m and variance m + m^2 / r, `[rows, columns]` each.
#[derive(Clone, Debug)]
pub struct NegativeBinomial {
    /// log m
    log_mean: Tensor<2>,
    /// The dispersion r.
    dispersion: Tensor<2>,
}

impl NegativeBinomial {
    /// From unconstrained parameters: log m is clamped to [-15, 20], r is the softplus of its
    /// parameter clamped to [1e-3, 1e3].
    pub fn from_raw(log_mean: Tensor<2>, raw_dispersion: Tensor<2>) -> Self {
        Self {
            log_mean: log_mean.clamp(LOG_MEAN.0, LOG_MEAN.1),
            dispersion: burn::tensor::activation::softplus(raw_dispersion, 1.0)
                .clamp(DISPERSION.0, DISPERSION.1),
        }
    }

    /// m, `[rows, columns]`.
    pub fn mean(&self) -> Tensor<2> {
        self.log_mean.clone().exp()
    }

    /// log P(k) of each cell, `[rows, columns]`:
    /// `lnG(k + r) - lnG(k + 1) - lnG(r) + r ln(r / (r + m)) + k ln(m / (r + m))`.
    pub fn log_prob(&self, k: Tensor<2>) -> Tensor<2> {
        let (r, m) = (self.dispersion.clone(), self.mean());
        let ratio = m.clone() / r.clone();
        let inverse = r.clone() / m;
        gamma_ratio(k.clone(), r.clone())
            - ln_gamma(r.clone())
            - r * ratio.log1p()
            - k * inverse.log1p()
    }

    /// Draws `[rows, columns]` from uniform numbers, see [`NegativeBinomial::noise_shape`]: a
    /// Poisson count whose rate is drawn from a gamma distribution. No gradient.
    pub fn draw(&self, uniform: Tensor<2>) -> Tensor<2> {
        let shape = self.log_mean.dims();
        let device = self.log_mean.device();
        let [means, dispersions, uniform] = [
            self.mean().detach(),
            self.dispersion.clone().detach(),
            uniform,
        ]
        .map(|tensor| -> Vec<f32> {
            tensor
                .into_data()
                .try_into_vec()
                .expect("models compute in f32")
        });
        let counts = means
            .iter()
            .zip(dispersions)
            .zip(uniform.chunks_exact(UNIFORMS))
            .map(|((mean, r), uniform)| draw_cell(f64::from(*mean), f64::from(r), uniform))
            .collect::<Vec<f32>>();
        Tensor::from_data(TensorData::new(counts, shape), &device)
    }

    /// The shape of the uniform numbers that [`NegativeBinomial::draw`] takes.
    pub fn noise_shape(&self) -> [usize; 2] {
        let [rows, columns] = self.log_mean.dims();
        [rows, columns * UNIFORMS]
    }
}

/// lnG(k + r) - lnG(k + 1), written so that large numbers do not cancel: with A = k + r + 5 and
/// B = k + 6, Stirling's series of lnG(A) - lnG(B), less the five factors in between.
fn gamma_ratio(k: Tensor<2>, r: Tensor<2>) -> Tensor<2> {
    let more = r.sub_scalar(1.0);
    let b = k.clone().add_scalar(1.0 + SHIFT as f64);
    let a = b.clone() + more.clone();
    let factors = (0..SHIFT)
        .map(|i| {
            let b = k.clone().add_scalar(1.0 + i as f64);
            (b.clone() + more.clone()) / b
        })
        .reduce(|product, factor| product * factor)
        .expect("there are five");
    let half_less = b.clone().sub_scalar(0.5);
    half_less * (more.clone() / b.clone()).log1p()
        + more * a.clone().log().sub_scalar(1.0)
        + series(a)
        - series(b)
        - factors.log()
}

/// lnG(r), by Stirling's series at r + 5.
fn ln_gamma(r: Tensor<2>) -> Tensor<2> {
    const HALF_LN_2PI: f64 = 0.918_938_533_204_672_7;
    let at = r.clone().add_scalar(SHIFT as f64);
    let factors = (0..SHIFT)
        .map(|i| r.clone().add_scalar(i as f64))
        .reduce(|product, factor| product * factor)
        .expect("there are five");
    at.clone().sub_scalar(0.5) * at.clone().log() - at.clone() + series(at) - factors.log()
        + HALF_LN_2PI
}

/// 1/12y - 1/360y^3 + 1/1260y^5: at y >= 5 it is right to 1e-8.
fn series(y: Tensor<2>) -> Tensor<2> {
    let inverse = y.recip();
    let square = inverse.clone().square();
    let inner = square
        .clone()
        .mul_scalar(1.0 / 1260.0)
        .sub_scalar(1.0 / 360.0);
    inverse * (square * inner).add_scalar(1.0 / 12.0)
}

fn draw_cell(mean: f64, r: f64, uniform: &[f32]) -> f32 {
    let open = |u: f32| f64::from(u).max(1e-12);
    let (attempts, rest) = uniform.split_at(3 * ATTEMPTS);
    // A gamma of shape r < 1 is one of shape r + 1 times u^(1/r).
    let (shape, boost) = match r < 1.0 {
        true => (r + 1.0, open(rest[0]).powf(1.0 / r)),
        false => (r, 1.0),
    };
    let rate = mean / r * boost * gamma(shape, attempts);
    poisson(rate, open(rest[1]), open(rest[2])) as f32
}

fn normal(first: f64, second: f64) -> f64 {
    (-2.0 * first.ln()).sqrt() * (std::f64::consts::TAU * second).cos()
}

/// Marsaglia and Tsang (2000), for shapes of at least 1.
fn gamma(shape: f64, uniform: &[f32]) -> f64 {
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    for three in uniform.chunks_exact(3) {
        let [first, second, third] =
            [three[0], three[1], three[2]].map(|u| f64::from(u).max(1e-12));
        let x = normal(first, second);
        let v = (1.0 + c * x).powi(3);
        if v > 0.0 && third.ln() < 0.5 * x * x + d - d * v + d * v.ln() {
            return d * v;
        }
    }
    // Six rejections happen once in ten million draws; the middle is good enough.
    d
}

/// The Poisson quantile at `level`; from a rate of 500 on, a rounded normal.
fn poisson(rate: f64, level: f64, second: f64) -> f64 {
    if rate >= 500.0 {
        return (rate + rate.sqrt() * normal(level, second))
            .round()
            .max(0.0);
    }
    let (mut k, mut term) = (0.0, (-rate).exp());
    let mut below = term;
    while below < level && k < 1000.0 {
        k += 1.0;
        term *= rate / k;
        below += term;
    }
    k
}
