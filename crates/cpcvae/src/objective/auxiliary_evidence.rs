//! The bounds of ADGM and SDGM. Given a sample a of q(a|x) they are M2's, plus log p(a|...) minus
//! log q(a|x).

use super::{Examples, Terms};
use crate::distribution::Categorical;
use crate::model::{AuxiliaryVae, Posterior};
use crate::noise::{Noise, NoisePurpose};
use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

/// The weights of the objective.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AuxiliaryEvidence {
    /// alpha, of log q(y|a,x) on labelled rows.
    pub classification: f64,
    /// lambda, of the bound of labelled rows.
    pub labelled_bound: f64,
    /// Draws of (a, z) for each row, over which the bounds are averaged.
    pub samples: usize,
}

impl AuxiliaryEvidence {
    /// One step's terms, each a mean over the whole batch.
    pub fn terms(&self, model: &AuxiliaryVae, batch: &Examples, noise: &Noise) -> Terms {
        let (rows, labelled) = (batch.rows(), batch.labelled);
        let posterior = model.auxiliary(batch.features.clone());
        let (mut losses, mut labelled_bounds, mut bounds) = (Vec::new(), Vec::new(), Vec::new());
        for sample in 0..self.samples.max(1) {
            let noise = noise.draw(sample);
            let (a, log_q) = draw(&posterior, &noise);
            // All rows in one pass, so that labelled and unlabelled rows share batch statistics.
            let q = model.classify(batch.features.clone(), a.clone());
            let code_noise = |purpose, rows| noise.normal(purpose, [rows, model.code()]);
            // First, since running averages are updated with the first pass and these rows are
            // more.
            if labelled < rows {
                let a = a.clone().narrow(0, labelled, rows - labelled);
                let draws = (rows - labelled) * model.classes();
                let code_noise = code_noise(NoisePurpose::SimulatedCode, draws);
                let (x, q) = (batch.unlabelled_features(), q.rows(labelled..rows));
                let bound = unlabelled_weight(model, x, a, &q, code_noise)
                    - log_q.clone().narrow(0, labelled, rows - labelled);
                bounds.push(bound.sum());
            }
            if labelled > 0 {
                let (x, y) = (batch.labelled_features(), batch.labels.clone());
                let a = a.narrow(0, 0, labelled);
                let code_noise = code_noise(NoisePurpose::Code, labelled);
                let bound = labelled_weight(model, x, a, y.clone(), code_noise)
                    - log_q.narrow(0, 0, labelled);
                labelled_bounds.push(bound.sum());
                losses.push(q.rows(0..labelled).cross_entropy(y).sum());
            }
        }
        let mean_of_batch = |sums: Vec<Tensor<1>>| {
            let count = sums.len();
            let sum = sums.into_iter().reduce(|sum, next| sum + next);
            sum.map(|sum| sum.div_scalar((rows * count) as f64))
        };
        let mut terms = Terms::default();
        if let (Some(loss), Some(bound)) = (mean_of_batch(losses), mean_of_batch(labelled_bounds)) {
            terms.push("classification", self.classification, loss);
            terms.push("labelled_bound", self.labelled_bound, bound.neg());
        }
        if let Some(bound) = mean_of_batch(bounds) {
            terms.push("unlabelled_bound", 1.0, bound.neg());
        }
        terms
    }
}

/// A draw a `[rows, auxiliary]` of q(a|x), and log q(a|x) `[rows]` there.
pub fn draw(posterior: &Posterior, noise: &Noise) -> (Tensor<2>, Tensor<1>) {
    let shape = posterior.mean().dims();
    let (a, _) = posterior.sample_kl(noise.normal(NoisePurpose::Auxiliary, shape));
    (a.clone(), posterior.log_density(a))
}

/// log p(x,y,a|z) - KL(q(z|a,x,y) || p(z)) for `x [rows, features]`, `a [rows, auxiliary]`,
/// `y [rows, classes]` one-hot and `noise [rows, code]`: `[rows]`.
pub fn labelled_weight(
    model: &AuxiliaryVae,
    x: Tensor<2>,
    a: Tensor<2>,
    y: Tensor<2>,
    noise: Tensor<2>,
) -> Tensor<1> {
    let (z, kl) = model
        .encode(x.clone(), a.clone(), y.clone())
        .sample_kl(noise);
    let of_a = model.decode_auxiliary(z.clone(), x.clone(), y.clone());
    let log_prior = -(model.classes() as f64).ln();
    model.decode(z, a.clone(), y).log_prob(x) + of_a.log_density(a) - kl + log_prior
}

/// sum_y q(y|a,x) (the same at y - log q(y|a,x)) for `q` = q(y|a,x) of these rows and
/// `noise [rows * classes, code]`: `[rows]`.
pub fn unlabelled_weight(
    model: &AuxiliaryVae,
    x: Tensor<2>,
    a: Tensor<2>,
    q: &Categorical,
    noise: Tensor<2>,
) -> Tensor<1> {
    let [rows, _] = x.dims();
    let classes = model.classes();
    let (z, kl) = model
        .encode_each_class(x.clone(), a.clone())
        .sample_kl(noise);
    let of_a = model.decode_auxiliary_each_class(z.clone(), x.clone());
    let log_prior = -(classes as f64).ln();
    let bound =
        model.decode_each_class(z, a.clone()).log_prob(x) + of_a.log_density(a) - kl + log_prior;
    (q.probs() * (bound.reshape([rows, classes]) - q.log_probs()))
        .sum_dim(1)
        .reshape([rows])
}
