//! M2's bounds: L^S for rows with a label, L^U = sum_y q(y|x) (L^S(x, y) - log q(y|x)) for rows
//! without, and the extra classification loss that M2 needs. The blended model has a separate
//! predictor and ties it to q(y|x).

use super::{Examples, Terms};
use crate::model::{LabelVae, StackedVae};
use crate::noise::{Noise, NoisePurpose};
use burn::module::Module;
use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

/// The weights of M2's objective.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LabelEvidence {
    /// alpha, of log q(y|x) on labelled rows.
    pub classification: f64,
    /// lambda, of L^S on labelled rows.
    pub labelled_bound: f64,
    /// Of the squared distance between a blended model's predictor and q(y|x).
    pub coupling: f64,
}

impl LabelEvidence {
    /// One step's terms, each a mean over the whole batch.
    pub fn terms(&self, model: &LabelVae, batch: &Examples, noise: &Noise) -> Terms {
        let rows = batch.rows();
        let mut terms = Terms::default();
        let mean_of_batch = |sum: Tensor<1>| sum.sum().div_scalar(rows as f64);
        if batch.labelled > 0 {
            let x = batch.labelled_features();
            let code_noise = noise.normal(NoisePurpose::Code, [batch.labelled, model.code()]);
            let bound = labelled_bound(model, x.clone(), batch.labels.clone(), code_noise);
            let loss = model.predict(x).cross_entropy(batch.labels.clone());
            terms.push("classification", self.classification, mean_of_batch(loss));
            terms.push(
                "labelled_bound",
                self.labelled_bound,
                mean_of_batch(bound).neg(),
            );
        }
        if batch.labelled < rows {
            let x = batch.unlabelled_features();
            let draws = (rows - batch.labelled) * model.classes();
            let code_noise = noise.normal(NoisePurpose::SimulatedCode, [draws, model.code()]);
            let bound = unlabelled_bound(model, x, code_noise);
            terms.push("unlabelled_bound", 1.0, mean_of_batch(bound).neg());
        }
        if let Some(apart) = model.classifiers_apart() {
            terms.push("coupling", self.coupling, apart);
        }
        terms
    }
}

/// The batch for the upper model of a stack: samples of q(z1|x) in place of the features, without
/// gradient, since the lower model is frozen.
pub(super) fn as_codes(model: &StackedVae, batch: &Examples, noise: &Noise) -> Examples {
    let lower = model.features();
    let code_noise = noise.normal(NoisePurpose::Auxiliary, [batch.rows(), lower.code()]);
    // In inference mode, so that the codes do not depend on this batch's statistics.
    let (z1, _) = lower
        .valid()
        .encode(batch.features.clone().inner())
        .sample_kl(code_noise.inner());
    Examples {
        features: Tensor::from_inner(z1),
        ..batch.clone()
    }
}

/// L^S(x, y) for `x [rows, features]`, `y [rows, classes]` one-hot and `noise [rows, code]`:
/// `[rows]`.
pub fn labelled_bound(model: &LabelVae, x: Tensor<2>, y: Tensor<2>, noise: Tensor<2>) -> Tensor<1> {
    let (z, kl) = model.encode(x.clone(), y.clone()).sample_kl(noise);
    let log_prior = -(model.classes() as f64).ln();
    model.decode(z, y).log_prob(x) - kl + log_prior
}

/// L^U(x) for `x [rows, features]` and `noise [rows * classes, code]`: `[rows]`.
pub fn unlabelled_bound(model: &LabelVae, x: Tensor<2>, noise: Tensor<2>) -> Tensor<1> {
    let [rows, _] = x.dims();
    let classes = model.classes();
    let q = model.classify(x.clone());
    let (z, kl) = model.encode_each_class(x.clone()).sample_kl(noise);
    let log_prior = -(classes as f64).ln();
    let bound = model.decode_each_class(z).log_prob(x) - kl + log_prior;
    (q.probs() * (bound.reshape([rows, classes]) - q.log_probs()))
        .sum_dim(1)
        .reshape([rows])
}
