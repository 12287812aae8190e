//! The prediction loss P(x, y) of the paper's constraint, and other functions of predictions.

use crate::distribution::Categorical;
use burn::tensor::Tensor;

/// A predictor's output for some rows: class probabilities or continuous labels.
#[derive(Clone, Debug)]
pub enum Prediction {
    /// Probabilities of the classes.
    Classes(Categorical),
    /// Continuous labels `[rows, labels]`.
    Values(Tensor<2>),
}

impl Prediction {
    /// From the predictor's outputs `[rows, outputs]`.
    pub fn new(outputs: Tensor<2>, classes: bool) -> Self {
        if classes {
            Self::Classes(Categorical::from_logits(outputs))
        } else {
            Self::Values(outputs)
        }
    }

    /// The loss of each row against `target [rows, outputs]` (class probabilities or values):
    /// cross-entropy for classes; half the squared distance for values, which is the negative
    /// log-likelihood of a unit normal up to a constant. `[rows]`
    pub fn loss(&self, target: Tensor<2>) -> Tensor<1> {
        match self {
            Self::Classes(categorical) => categorical.cross_entropy(target),
            Self::Values(values) => {
                let [rows, _] = target.dims();
                (values.clone() - target)
                    .square()
                    .sum_dim(1)
                    .mul_scalar(0.5)
                    .reshape([rows])
            }
        }
    }

    /// KL(original || this) of the same rows for classes, and for values that of unit normals, half
    /// the squared distance. `[rows]`
    pub fn divergence_from(&self, original: &Self) -> Tensor<1> {
        let loss = self.loss(original.as_target());
        match original {
            Self::Classes(categorical) => loss - categorical.entropy(),
            Self::Values(_) => loss,
        }
    }

    /// The same, detached from the gradient tape.
    pub fn detach(&self) -> Self {
        match self {
            Self::Classes(categorical) => Self::Classes(categorical.detach()),
            Self::Values(values) => Self::Values(values.clone().detach()),
        }
    }

    /// Whether classes are predicted.
    pub(crate) fn is_classes(&self) -> bool {
        matches!(self, Self::Classes(_))
    }

    /// The predictions of some rows.
    pub fn rows(&self, rows: std::ops::Range<usize>) -> Self {
        match self {
            Self::Classes(categorical) => Self::Classes(categorical.rows(rows)),
            Self::Values(values) => {
                let [_, labels] = values.dims();
                Self::Values(values.clone().slice([rows, 0..labels]))
            }
        }
    }

    /// Class probabilities, or the values: the target for another prediction.
    pub fn as_target(&self) -> Tensor<2> {
        match self {
            Self::Classes(categorical) => categorical.probs(),
            Self::Values(values) => values.clone(),
        }
    }
}
