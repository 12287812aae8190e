//! The (beta-weighted) evidence lower bound: E_q log p(x|z) - beta KL(q(z|x) || p(z)).

use super::{Examples, Terms};
use crate::distribution::Likelihood;
use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

/// The weight of the evidence of labelled rows relative to unlabelled ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LabelledEvidence {
    /// Every row of a batch has the same weight. If half of the batch is labelled, a few labelled
    /// rows count as much as all others.
    #[default]
    Batch,
    /// Every row of the data has the same weight, as in the paper's sum over labelled and
    /// unlabelled rows.
    Data,
}

impl LabelledEvidence {
    /// The weight of each row of the batch: `[rows]`. `labelled_share` is the share of the training
    /// rows that have a label. An unlabelled row has weight 1, so that gamma balances its
    /// consistency and evidence as in the paper; the weight of a labelled row is smaller in
    /// proportion to how much more often it is drawn. `None` where all have the same weight.
    pub(super) fn row_weights(self, batch: &Examples, labelled_share: f64) -> Option<Tensor<1>> {
        let (rows, labelled) = (batch.rows(), batch.labelled);
        if self == Self::Batch || labelled == 0 || labelled == rows {
            return None;
        }
        let odds = labelled_share / (1.0 - labelled_share);
        let of_labelled = odds * (rows - labelled) as f64 / labelled as f64;
        let mut weights = vec![of_labelled as f32; labelled];
        weights.resize(rows, 1.0);
        let device = batch.features.device();
        Some(Tensor::from_floats(weights.as_slice(), &device))
    }
}

/// Adds `reconstruction`, the mean of -log p(x|z), and `kl`, with weights 1 and beta. Rows are
/// weighted by `row_weights [rows]`, or equally.
pub(super) fn push(
    terms: &mut Terms,
    beta: f64,
    x: Tensor<2>,
    likelihood: &Likelihood,
    kl: Tensor<1>,
    row_weights: Option<Tensor<1>>,
) {
    let mean = |of_rows: Tensor<1>| match &row_weights {
        Some(weights) => (of_rows * weights.clone()).mean(),
        None => of_rows.mean(),
    };
    terms.push("reconstruction", 1.0, mean(likelihood.log_prob(x)).neg());
    terms.push("kl", beta, mean(kl));
}
