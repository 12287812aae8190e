//! The (beta-weighted) evidence lower bound: E_q log p(x|z) - beta KL(q(z|x) || p(z)).

use super::{Examples, Terms};
use crate::distribution::Likelihood;
use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

/// How much the evidence of labelled rows counts beside that of unlabelled ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LabelledEvidence {
    /// Every row of a batch counts alike. With half of it labelled, a few labelled rows count for as
    /// much as all others.
    #[default]
    Batch,
    /// Every row of the data counts alike, as in the paper's sum over labelled and unlabelled rows.
    Data,
}

impl LabelledEvidence {
    /// What each row of the batch counts: `[rows]`. `labelled_share` is the share of the training
    /// rows that have a label. An unlabelled row counts 1, so that gamma weighs its consistency
    /// against its evidence as in the paper; a labelled one counts as much less as it comes more
    /// often. Nothing where all count alike.
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

/// Adds `reconstruction`, the mean of -log p(x|z), and `kl`, with weights 1 and beta. Each row counts
/// by `row_weights [rows]`, or all alike.
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
