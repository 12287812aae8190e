//! Independent normals.

use burn::tensor::Tensor;

/// N(mean, variance), each `[rows, features]`.
#[derive(Clone, Debug)]
pub struct Normal {
    /// The mean of each feature.
    pub mean: Tensor<2>,
    /// The variance of each feature.
    pub variance: Tensor<2>,
}

impl Normal {
    /// log p(x), summed over features: `[rows]`.
    pub fn log_prob(&self, x: Tensor<2>) -> Tensor<1> {
        let [rows, _] = x.dims();
        let distance = (x - self.mean.clone()).square() / self.variance.clone();
        let log_normaliser = self.variance.clone().log().add_scalar(LOG_2PI);
        (distance + log_normaliser)
            .sum_dim(1)
            .mul_scalar(-0.5)
            .reshape([rows])
    }

    /// mean + sigma * noise.
    pub fn sample(&self, noise: Tensor<2>) -> Tensor<2> {
        self.mean.clone() + self.variance.clone().sqrt() * noise
    }
}

const LOG_2PI: f64 = 1.837_877_066_409_345_5;
