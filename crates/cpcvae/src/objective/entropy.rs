//! The entropy penalty on predictions (Grandvalet and Bengio 2004).

use crate::distribution::Categorical;
use burn::tensor::Tensor;

/// Mean entropy of the predictions: `[1]`.
pub(super) fn cost(prediction: &Categorical) -> Tensor<1> {
    prediction.entropy().mean()
}
