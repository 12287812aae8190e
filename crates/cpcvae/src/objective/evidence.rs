//! The (beta-weighted) evidence lower bound: E_q log p(x|z) - beta KL(q(z|x) || p(z)).

use super::Terms;
use crate::distribution::Likelihood;
use burn::tensor::Tensor;

/// Adds `reconstruction`, the mean of -log p(x|z), and `kl`, with weights 1 and beta.
pub(super) fn push(
    terms: &mut Terms,
    beta: f64,
    x: Tensor<2>,
    likelihood: &Likelihood,
    kl: Tensor<1>,
) {
    terms.push("reconstruction", 1.0, likelihood.log_prob(x).mean().neg());
    terms.push("kl", beta, kl.mean());
}
