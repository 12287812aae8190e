//! Aggregate label consistency: the mean prediction over unlabelled rows should be near the
//! class frequencies pi.

use crate::distribution::Categorical;
use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

/// Which predictions the aggregate term uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AggregateViews {
    /// Those for z and, where there is a consistency cost, for z-bar: as in the authors' code.
    Both,
    /// Those for z alone: the paper's formula.
    First,
}

/// Added to the mean probabilities so that a class that is never predicted has a finite cost.
const SMALLEST_SHARE: f32 = 1e-3;

/// Cross-entropy of the mean prediction of rows `from..` against `pi [classes]`: `[1]`.
pub(super) fn cost(prediction: &Categorical, from: usize, pi: &[f32]) -> Tensor<1> {
    let probs = prediction.probs();
    let [rows, classes] = probs.dims();
    let mean = probs.slice([from..rows, 0..classes]).mean_dim(0);
    let pi = Tensor::<1>::from_floats(pi, &mean.device()).reshape([1, classes]);
    (pi * mean.add_scalar(SMALLEST_SHARE).log()).sum().neg()
}
