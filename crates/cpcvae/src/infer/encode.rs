//! Codes of rows.

use super::{Inference, to_vec};
use crate::error::Result;
use crate::model::AuxiliaryVae;
use crate::probabilities::largest;
use burn::tensor::Tensor;
use cpcvae_data::{Matrix, Rows};

/// q(z|x) of each row.
///
/// ```
/// # use cpcvae::prelude::*;
/// # let rows: Vec<[f32; 2]> =
/// #     (0..60).map(|i| [(i % 2 * 9 + i % 5) as f32, (i % 7) as f32]).collect();
/// # let labels = (0..60).map(|i| (i < 20).then_some(["low", "high"][i % 2]));
/// # let data = Dataset::from_rows(&rows, Labels::classes(labels))?;
/// let fitted = Pc::new().steps(50).hold_out(false).fit(&data)?;
/// let codes = fitted.encode(&rows)?;
/// assert_eq!(codes.mean.rows, 60);
/// assert!(codes.sigma.values.iter().all(|sigma| *sigma > 0.0));
/// # Ok::<(), cpcvae::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Codes {
    /// `[rows, code]`
    pub mean: Matrix,
    /// Standard deviations, `[rows, code]`
    pub sigma: Matrix,
}

impl Inference {
    /// Means and standard deviations of q(z|x). For M2, of q(z|x,y) at the most probable class; with
    /// an auxiliary variable, also at its mean. For M1+M2, of the code z1 of the features.
    pub fn encode(&self, features: &dyn Rows) -> Result<Codes> {
        let model = self.generative()?;
        let columns = self.shape.code;
        let (mut means, mut sigmas) = (Vec::new(), Vec::new());
        self.for_chunks(features, |x, _| {
            let posterior = model.posterior(x);
            means.extend(to_vec(posterior.mean()));
            sigmas.extend(to_vec(posterior.sigma()));
        });
        let matrix = |values| Matrix {
            rows: features.rows(),
            columns,
            values,
        };
        Ok(Codes {
            mean: matrix(means),
            sigma: matrix(sigmas),
        })
    }
}

/// The mean of q(a|x), `[rows, auxiliary]`, and the most probable class there, one-hot.
pub(super) fn auxiliary_and_class(model: &AuxiliaryVae, x: Tensor<2>) -> (Tensor<2>, Tensor<2>) {
    let a = model.auxiliary(x.clone()).mean();
    let y = most_probable(model.classify(x, a.clone()).probs());
    (a, y)
}

/// One-hot rows of the largest entry of each row.
pub(super) fn most_probable(probs: Tensor<2>) -> Tensor<2> {
    let [_, classes] = probs.dims();
    let device = probs.device();
    let best: Vec<u32> = to_vec(probs)
        .chunks_exact(classes)
        .map(|row| largest(row) as u32)
        .collect();
    let rows = best.len();
    let one_hot = crate::objective::one_hot(&best, classes);
    Tensor::from_data(
        burn::tensor::TensorData::new(one_hot, [rows, classes]),
        &device,
    )
}
