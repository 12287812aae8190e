//! One of K classes.

use crate::op::softmax::{self, log_softmax};
use burn::tensor::Tensor;

/// P(y = k) = softmax(logits)_k, `[rows, classes]`.
#[derive(Clone, Debug)]
pub struct Categorical {
    log_probs: Tensor<2>,
}

impl Categorical {
    /// From unnormalised log-probabilities.
    pub fn from_logits(logits: Tensor<2>) -> Self {
        Self {
            log_probs: log_softmax(logits),
        }
    }

    /// The distributions of some rows.
    pub fn rows(&self, rows: std::ops::Range<usize>) -> Self {
        let [_, classes] = self.log_probs.dims();
        Self {
            log_probs: self.log_probs.clone().slice([rows, 0..classes]),
        }
    }

    /// The same, detached from the gradient tape.
    pub fn detach(&self) -> Self {
        Self {
            log_probs: self.log_probs.clone().detach(),
        }
    }

    /// log P(y = k), `[rows, classes]`.
    pub fn log_probs(&self) -> Tensor<2> {
        self.log_probs.clone()
    }

    /// P(y = k), `[rows, classes]`.
    pub fn probs(&self) -> Tensor<2> {
        self.log_probs.clone().exp()
    }

    /// Cross-entropy of this distribution against the target probabilities `[rows, classes]`:
    /// `-sum_k target_k log P(k)`, `[rows]`.
    pub fn cross_entropy(&self, target: Tensor<2>) -> Tensor<1> {
        softmax::cross_entropy(target, self.log_probs.clone())
    }

    /// `-sum_k P(k) log P(k)`, `[rows]`.
    pub fn entropy(&self) -> Tensor<1> {
        self.cross_entropy(self.probs())
    }
}
