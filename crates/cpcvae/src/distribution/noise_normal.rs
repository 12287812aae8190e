//! The paper's robust pixel likelihood: a truncated normal or, with probability 1 - rho, noise.

use crate::op::log_prob::{Density, log_prob};
use crate::op::{self, Compute};
use burn::tensor::Tensor;

/// rho N(mu, sigma^2 | [-1, 1]) + (1 - rho) U(-1, 1), `maps [rows, 3, pixels]` = rho, mu,
/// sigma^2.
#[derive(Clone, Debug)]
pub struct NoiseNormal {
    /// The parameters of each pixel.
    pub maps: Tensor<3>,
    compute: Compute,
}

impl NoiseNormal {
    /// From `maps [rows, 3, pixels]`: rho, mu, sigma^2.
    pub fn new(maps: Tensor<3>, compute: &Compute) -> Self {
        Self {
            maps,
            compute: compute.clone(),
        }
    }

    /// log f(x), summed over pixels: `[rows]`.
    pub fn log_prob(&self, x: Tensor<2>) -> Tensor<1> {
        log_prob(&self.compute, Density::NoiseNormal, self.maps.clone(), x)
    }

    /// A draw from uniform noise `[rows, pixels]`, with the implicit reparameterisation gradient.
    pub fn sample(&self, uniform: Tensor<2>) -> Tensor<2> {
        op::noise_normal::sample(&self.compute, self.maps.clone(), uniform)
    }

    /// The mean, `rho E[truncated normal]` (the noise has mean zero): with a = (-1 - mu)/sigma
    /// and b = (1 - mu)/sigma, `mu + sigma (phi(a) - phi(b)) / (Phi(b) - Phi(a))` times rho.
    ///
    /// For pictures: in plain tensor operations, not meant for the training loop.
    pub fn mean(&self) -> Tensor<2> {
        let [rows, _, pixels] = self.maps.dims();
        let map = |i: usize| {
            self.maps
                .clone()
                .slice([0..rows, i..i + 1, 0..pixels])
                .reshape([rows, pixels])
        };
        let (rho, mu, sigma) = (map(0), map(1), map(2).sqrt());
        let root_2 = std::f64::consts::SQRT_2;
        let phi = |t: Tensor<2>| {
            t.square()
                .mul_scalar(-0.5)
                .exp()
                .mul_scalar(0.398_942_280_401_432_7)
        };
        let to_left = mu.clone().add_scalar(1.0) / sigma.clone();
        let to_right = mu.clone().neg().add_scalar(1.0) / sigma.clone();
        let mass =
            ((to_left.clone() / root_2).erf() + (to_right.clone() / root_2).erf()).mul_scalar(0.5);
        rho * (mu + sigma * (phi(to_left) - phi(to_right)) / mass)
    }
}
