//! Black or white.

use crate::op::Compute;
use crate::op::log_prob::{Density, log_prob};
use burn::tensor::{Tensor, activation};

/// P(x = 1) = sigmoid(logits), `[rows, features]`.
#[derive(Clone, Debug)]
pub struct Bernoulli {
    /// Log-odds of each feature.
    pub logits: Tensor<2>,
    compute: Compute,
}

impl Bernoulli {
    /// From `logits [rows, features]`.
    pub fn new(logits: Tensor<2>, compute: &Compute) -> Self {
        Self {
            logits,
            compute: compute.clone(),
        }
    }

    /// log P(x), summed over features: `[rows]`. For x between 0 and 1 this is the expected
    /// log-probability of pixels drawn with these intensities.
    pub fn log_prob(&self, x: Tensor<2>) -> Tensor<1> {
        let [rows, features] = self.logits.dims();
        let maps = self.logits.clone().reshape([rows, 1, features]);
        log_prob(&self.compute, Density::Bernoulli, maps, x)
    }

    /// P(x = 1).
    pub fn mean(&self) -> Tensor<2> {
        activation::sigmoid(self.logits.clone())
    }

    /// Ones where `uniform < P(x = 1)`, zeros elsewhere.
    pub fn sample(&self, uniform: Tensor<2>) -> Tensor<2> {
        binarise(self.mean(), uniform)
    }
}

/// Ones with the given intensities as probabilities: ones where `uniform < intensity`.
pub fn binarise(intensity: Tensor<2>, uniform: Tensor<2>) -> Tensor<2> {
    uniform.lower(intensity).float()
}
