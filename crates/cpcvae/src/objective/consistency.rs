//! The consistency cost: predictions for features simulated from a code must match the label, or
//! the prediction for the original.

use super::Prediction;
use crate::distribution::Likelihood;
use crate::model::Vae;
use crate::noise::{Noise, NoisePurpose};
use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

/// The path along which the consistency cost has a gradient.
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

/// How x-bar is made from p(x|z).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Simulated {
    /// A draw: the paper.
    #[default]
    Draw,
    /// Its mean, without the noise of pixels or columns: the authors' code.
    Mean,
}

impl Simulated {
    fn of(self, likelihood: &Likelihood, noise: &Noise) -> Tensor<2> {
        match self {
            Self::Draw => likelihood.sample(noise),
            Self::Mean => likelihood.mean(),
        }
    }
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

/// The quantities of a batch that the evidence term has already computed.
pub(super) struct Original<'a> {
    /// `[rows, features]`
    pub(super) x: Tensor<2>,
    /// `[rows, code]`
    pub(super) z: Tensor<2>,
    /// The decoder's output for z, before any transform.
    pub(super) decoder_output: Tensor<2>,
    /// p(x|z)
    pub(super) decoded: &'a Likelihood,
}

/// A code z-bar of features x-bar simulated from z: `[rows, code]`.
///
/// With transforms in the code, x-bar gets a new transform from the prior: small affine changes do
/// not change the class, so consistency depends on the rest of the code only. The decoder's output
/// can be reused for that, unless its gradient has to stop before z.
pub(super) fn simulated_code(
    model: &Vae,
    original: Original,
    path: GradientPath,
    simulated: Simulated,
    noise: &Noise,
) -> Tensor<2> {
    let path = path.resolve(model.has_transform());
    let Original {
        x,
        z,
        decoder_output,
        decoded,
    } = original;
    let [rows, code] = z.dims();
    let with_new_transform = |z: Tensor<2>| {
        let z_t = noise.normal(NoisePurpose::Transform, [rows, 6]);
        model.with_transform(z, z_t)
    };
    let x_bar = match path {
        GradientPath::Code => {
            let z = z.detach();
            let output = model.shown_only(model.decoder_output(z.clone()), z.clone());
            simulated.of(&model.likelihood(output, with_new_transform(z)), noise)
        }
        _ if model.has_transform() => {
            let output = model.shown_only(decoder_output, z.clone());
            simulated.of(&model.likelihood(output, with_new_transform(z)), noise)
        }
        _ => simulated.of(decoded, noise),
    };
    let x_bar = match path {
        GradientPath::Features => x_bar.detach(),
        _ => x_bar,
    };
    let x_bar = model.missing_as_in(x_bar, x);
    let (z_bar, _) = model
        .encode(x_bar)
        .sample_kl(noise.normal(NoisePurpose::SimulatedCode, [rows, code]));
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
