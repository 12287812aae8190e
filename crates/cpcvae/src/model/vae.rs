//! The variational autoencoder with a predictor on its code: one model for `vae`,
//! `vae-then-mlp`, `supervised-vae`, `pc` and `cpc`.

use super::{Observation, RowInput, Shape, Target};
use crate::distribution::Likelihood;
use crate::net::spatial_transformer::DIMENSIONS as TRANSFORM;
use crate::net::{Decoder, Encoder, Mlp, MlpShape, NetShape};
use crate::noise::{Noise, NoisePurpose};
use crate::op;
use crate::op::Compute;
use crate::op::log_prob::Density;
use burn::module::Module;
use burn::tensor::Tensor;

/// Smallest standard deviation of a code, so that its logarithm stays finite.
const POSTERIOR_FLOOR: f32 = 1e-4;

/// p(z) = N(0, I), p(x|z) by a decoder, q(z|x) = N(mean(x), sigma(x)^2) by an encoder, and
/// y-hat(z) by a predictor.
///
/// A code is laid out as `[transform (6 or none) | predictive | style]`; the predictor's input is
/// the middle part, the decoder's everything but the transform.
#[derive(Module, Debug)]
pub struct Vae {
    encoder: Encoder,
    decoder: Decoder,
    predictor: Option<Mlp>,
    #[module(skip)]
    input: RowInput,
    #[module(skip)]
    observation: Observation,
    #[module(skip)]
    layout: CodeLayout,
}

/// Where the parts of a code begin and end.
#[derive(Clone, Copy, Debug)]
struct CodeLayout {
    code: usize,
    transform: usize,
    style: usize,
}

impl Vae {
    /// A freshly initialised model.
    pub fn new(shape: &Shape, seed: u64, compute: &Compute) -> Self {
        let observation = Observation::new(shape, compute);
        let layout = CodeLayout {
            code: shape.code,
            transform: shape.transform.as_ref().map_or(0, |_| TRANSFORM),
            style: shape.style,
        };
        let content = layout.code - layout.transform;
        let input = RowInput::new(shape);
        let encoder = shape.encoder(input.inputs(), 2 * shape.code);
        let decoder = NetShape {
            features: observation.decoder_outputs(),
            image: observation.decoder_image(),
            ..shape.encoder(0, content)
        };
        Self {
            encoder: Encoder::new(&encoder, seed, 100, compute),
            decoder: Decoder::new(&decoder, seed, 200, compute),
            predictor: (shape.target != Target::Nothing).then(|| {
                let shape = MlpShape {
                    inputs: content - layout.style,
                    hidden: shape.predictor.clone(),
                    outputs: shape.target.outputs(),
                    activation: shape.activation.into(),
                    batch_norm: false,
                };
                Mlp::new(&shape, seed, 300, compute)
            }),
            input,
            observation,
            layout,
        }
    }

    /// q(z|x) for `x [rows, features]`.
    pub fn encode(&self, x: Tensor<2>) -> Posterior {
        Posterior::from_raw(self.encoder.forward(self.input.forward(x)), self.compute())
    }

    /// q(z|x) with normal noise of this standard deviation added to the encoder's input.
    pub(crate) fn encode_with_noise(
        &self,
        x: Tensor<2>,
        deviation: f64,
        noise: &Noise,
    ) -> Posterior {
        let mut seen = self.input.forward(x);
        if deviation > 0.0 {
            let normal = noise.normal(NoisePurpose::Jitter, seen.dims());
            seen = seen + normal.mul_scalar(deviation);
        }
        Posterior::from_raw(self.encoder.forward(seen), self.compute())
    }

    /// The compute handle of its layers.
    pub fn compute(&self) -> &Compute {
        self.encoder.compute()
    }

    /// Generated features `made [rows, features]` with cells missing where they are in `x`.
    pub fn missing_as_in(&self, made: Tensor<2>, x: Tensor<2>) -> Tensor<2> {
        self.input.missing_as_in(made, x)
    }

    /// p(x|z) for `z [rows, code]`.
    pub fn decode(&self, z: Tensor<2>) -> Likelihood {
        self.likelihood(self.decoder_output(z.clone()), z)
    }

    /// The decoder's output for the content of `z [rows, code]`, before any transform: `[rows,
    /// decoder outputs]`, for [`Vae::likelihood`].
    pub fn decoder_output(&self, z: Tensor<2>) -> Tensor<2> {
        let [rows, code] = z.dims();
        let content = z.slice([0..rows, self.layout.transform..code]);
        self.decoder.forward(content)
    }

    /// p(x|z) from the decoder's output, warped by the transform of `z [rows, code]` if there is
    /// one.
    pub fn likelihood(&self, decoder_output: Tensor<2>, z: Tensor<2>) -> Likelihood {
        let [rows, _] = z.dims();
        let transform = self.layout.transform;
        let z_t = (transform > 0).then(|| z.slice([0..rows, 0..transform]));
        self.observation.likelihood(decoder_output, z_t)
    }

    /// The decoder's output unchanged, with gradients only at the part of the canvas that `z [rows,
    /// code]` shows.
    ///
    /// Pixels outside a row's image are seen only under other transforms and are never compared
    /// with data. If predictions alone had gradients there, the decoder could learn to encode the
    /// class in the margin.
    pub fn shown_only(&self, decoder_output: Tensor<2>, z: Tensor<2>) -> Tensor<2> {
        if !self.has_transform() {
            return decoder_output;
        }
        let [rows, _] = z.dims();
        let z_t = z.slice([0..rows, 0..self.layout.transform]);
        self.observation.shown_only(decoder_output, z_t)
    }

    /// Initialises the decoder with the mean and standard deviation of each pixel over the data,
    /// `[features]` each, for every code. Rows that are not images start at zero anyway.
    pub fn start_from(mut self, mean: &[f32], deviation: &[f32]) -> Self {
        if let Some(raw) = self.observation.raw_of(mean, deviation) {
            self.decoder = self.decoder.start_at(raw);
        }
        self
    }

    /// The predictor's outputs for `z [rows, code]`: logits of the classes, or continuous labels.
    ///
    /// # Panics
    /// Where the model has no predictor, see [`Vae::has_predictor`].
    pub fn predict(&self, z: Tensor<2>) -> Tensor<2> {
        let [rows, code] = z.dims();
        let seen = self.layout.transform..code - self.layout.style;
        self.predictor().forward(z.slice([0..rows, seen]))
    }

    /// Whether the model predicts anything.
    pub fn has_predictor(&self) -> bool {
        self.predictor.is_some()
    }

    fn predictor(&self) -> &Mlp {
        self.predictor
            .as_ref()
            .expect("callers ask has_predictor first")
    }

    /// The same code with other transform dimensions: `z_t [rows, 6]`. Without transforms in the
    /// model, the code is returned as it is.
    pub fn with_transform(&self, z: Tensor<2>, z_t: Tensor<2>) -> Tensor<2> {
        if !self.has_transform() {
            return z;
        }
        let [rows, code] = z.dims();
        Tensor::cat(
            vec![z_t, z.slice([0..rows, self.layout.transform..code])],
            1,
        )
    }

    /// Whether the first six code dimensions are an affine transform.
    pub(crate) fn has_transform(&self) -> bool {
        self.layout.transform > 0
    }

    /// Number of code dimensions.
    pub fn code(&self) -> usize {
        self.layout.code
    }

    /// After a step, see [`super::Model::update_running_statistics`].
    pub(super) fn update_running_statistics(&mut self) {
        self.encoder.update_running_statistics();
        self.decoder.update_running_statistics();
    }

    /// The sum of the predictor's squared weights, `[1]`.
    pub(crate) fn predictor_squared_norm(&self) -> Tensor<1> {
        self.predictor().squared_norm()
    }
}

/// q(z|x): a normal with diagonal covariance.
#[derive(Clone, Debug)]
pub struct Posterior {
    /// Means and unconstrained scales side by side, `[rows, 2 code]`.
    raw: Tensor<2>,
    compute: Compute,
}

impl Posterior {
    /// From the raw outputs of an encoder, `[rows, 2 code]`.
    pub(super) fn from_raw(raw: Tensor<2>, compute: &Compute) -> Self {
        Self {
            raw,
            compute: compute.clone(),
        }
    }

    /// A sample from standard normal `noise [rows, code]`, and KL(q || N(0, I)) `[rows]`.
    pub fn sample_kl(&self, noise: Tensor<2>) -> (Tensor<2>, Tensor<1>) {
        op::gaussian::sample_kl(self.raw.clone(), noise, POSTERIOR_FLOOR)
    }

    /// The mean, `[rows, code]`.
    pub fn mean(&self) -> Tensor<2> {
        let [rows, columns] = self.raw.dims();
        self.raw.clone().slice([0..rows, 0..columns / 2])
    }

    /// The standard deviation, `[rows, code]`.
    pub fn sigma(&self) -> Tensor<2> {
        let [rows, columns] = self.raw.dims();
        let raw = self.raw.clone().slice([0..rows, columns / 2..columns]);
        burn::tensor::activation::softplus(raw, 1.0).add_scalar(POSTERIOR_FLOOR)
    }

    /// log q(z|x) at `z [rows, code]`, `[rows]`; differentiable in z too. With fewer rows in `z`,
    /// each is used for several consecutive rows of the distribution.
    pub fn log_density(&self, z: Tensor<2>) -> Tensor<1> {
        let maps = Tensor::stack(vec![self.mean(), self.sigma().square()], 1);
        op::log_prob::log_prob(&self.compute, Density::Normal, maps, z)
    }

    /// log q(z|x) - log p(z) at the sample drawn with `noise`, `[rows]`: subtracted in
    /// importance-weighted estimates.
    pub(crate) fn log_ratio_to_prior(&self, z: Tensor<2>, noise: Tensor<2>) -> Tensor<1> {
        let [rows, _] = z.dims();
        // log q = -noise^2/2 - log sigma + constant, log p = -z^2/2 + the same constant.
        (z.square() - noise.square())
            .mul_scalar(0.5)
            .sub(self.sigma().log())
            .sum_dim(1)
            .reshape([rows])
    }
}
