//! Independent normals.

use crate::op::Compute;
use crate::op::log_prob::{Density, log_prob};
use burn::tensor::Tensor;

/// N(mean, variance), `maps [rows, 2, features]` = mean, variance.
#[derive(Clone, Debug)]
pub struct Normal {
    /// The parameters of each feature.
    pub maps: Tensor<3>,
    compute: Compute,
}

impl Normal {
    /// From `maps [rows, 2, features]`: means and variances.
    pub fn new(maps: Tensor<3>, compute: &Compute) -> Self {
        Self {
            maps,
            compute: compute.clone(),
        }
    }

    /// log p(x), summed over features: `[rows]`.
    pub fn log_prob(&self, x: Tensor<2>) -> Tensor<1> {
        log_prob(&self.compute, Density::Normal, self.maps.clone(), x)
    }

    /// The same over the cells of `x` that are not NaN.
    pub fn log_prob_of_known(&self, x: Tensor<2>) -> Tensor<1> {
        let missing = x.clone().is_nan();
        let (rows, variance) = (x.dims()[0], self.variance());
        let distance = (x.mask_fill(missing.clone(), 0.0) - self.mean()).square();
        let ln_2pi = (2.0 * std::f64::consts::PI).ln();
        let cells = distance / variance.clone() + variance.log().add_scalar(ln_2pi);
        let known = cells.mask_fill(missing, 0.0).sum_dim(1);
        known.mul_scalar(-0.5).reshape([rows])
    }

    /// mean + sigma * noise.
    pub fn sample(&self, noise: Tensor<2>) -> Tensor<2> {
        self.mean() + self.variance().sqrt() * noise
    }

    /// `[rows, features]`
    pub fn mean(&self) -> Tensor<2> {
        self.map(0)
    }

    /// `[rows, features]`
    pub fn variance(&self) -> Tensor<2> {
        self.map(1)
    }

    fn map(&self, i: usize) -> Tensor<2> {
        let [rows, _, features] = self.maps.dims();
        self.maps
            .clone()
            .slice([0..rows, i..i + 1, 0..features])
            .reshape([rows, features])
    }
}
