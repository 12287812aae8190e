//! The consistency cost: predictions for features simulated from a code must match the label, or
//! the prediction for the original.

use super::Prediction;
use crate::distribution::Likelihood;
use crate::model::Vae;
use crate::noise::{Noise, Purpose};
use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

/// Which way the gradient of the consistency cost may flow back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GradientPath {
    /// `code` with transforms in the code, `open` without: what the authors' code does.
    Auto,
    /// Through everything: second encoding, x-bar, decoder, code, first encoding.
    Open,
    /// Stopped at the code z that x-bar is simulated from; decoder and second encoding learn.
    Code,
    /// Stopped at x-bar: only the second encoding and the predictor learn.
    Features,
}

impl GradientPath {
    fn resolve(self, has_transform: bool) -> Self {
        match self {
            Self::Auto if has_transform => Self::Code,
            Self::Auto => Self::Open,
            other => other,
        }
    }
}

/// A code z-bar of features x-bar simulated from `z [rows, code]`.
///
/// With transforms in the code, x-bar gets a transform drawn afresh from the prior: small affine
/// changes do not change the class, so consistency conditions on the rest of the code only.
/// Without, the distribution already decoded for the evidence serves again.
pub(super) fn simulated_code(
    model: &Vae,
    z: Tensor<2>,
    decoded: &Likelihood,
    path: GradientPath,
    noise: &Noise,
) -> Tensor<2> {
    let path = path.resolve(model.has_transform());
    let [rows, code] = z.dims();
    let x_bar = if model.has_transform() || path == GradientPath::Code {
        let z = if path == GradientPath::Open {
            z
        } else {
            z.detach()
        };
        let z_t = noise.normal(Purpose::Transform, [rows, 6]);
        model.decode(model.with_transform(z, z_t)).sample(noise)
    } else {
        decoded.sample(noise)
    };
    let x_bar = match path {
        GradientPath::Features => x_bar.detach(),
        _ => x_bar,
    };
    let (z_bar, _) = model
        .encode(x_bar)
        .sample_kl(noise.normal(Purpose::SimulatedCode, [rows, code]));
    z_bar
}

/// The cost of each row, `[rows]`: against the label for the first rows, against the prediction
/// for the original for the others.
pub(super) fn cost(
    simulated: &Prediction,
    original: &Prediction,
    labels: Tensor<2>,
    target_gradient: bool,
) -> Tensor<1> {
    let target = original.as_target();
    let target = if target_gradient {
        target
    } else {
        target.detach()
    };
    let ([rows, outputs], [labelled, _]) = (target.dims(), labels.dims());
    let unlabelled = target.slice([labelled..rows, 0..outputs]);
    let target = match (labelled, rows - labelled) {
        (0, _) => unlabelled,
        (_, 0) => labels,
        _ => Tensor::cat(vec![labels, unlabelled], 0),
    };
    simulated.loss(target)
}
