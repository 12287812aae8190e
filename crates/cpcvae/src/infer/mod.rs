//! Calibration from a model: predictions, codes, samples, reconstructions, scores.
//!
//! Everything here works on prepared features (see [`crate::prepare`]), in chunks of rows, and
//! is a function of the seed given.

pub mod calibrate;
pub mod class_shift;
pub mod conformal;
#[cfg(test)]
mod draws;
mod encode;
mod evaluate;
mod fitted_codes;
mod gaps;
mod generative;
mod impute;
mod mixture;
mod per_class;
mod predict;
pub mod quality;
mod reconstruct;
mod sample;
mod score;
mod suggest;
mod unusual;

pub use crate::probabilities::largest;
pub use encode::Codes;
pub use evaluate::Evaluation;
pub use fitted_codes::FittedCodes;
pub use impute::Filling;
pub use per_class::ClassFigures;
pub use reconstruct::Reconstruction;
pub use sample::{ClassSamples, CodeSource, RejectionLimits};
pub use score::Scores;
pub use suggest::{entropy, suggest};
pub use unusual::Typical;

use crate::distribution::binarise;
use crate::model::{Model, Shape};
use crate::noise::{Noise, NoisePurpose};
use burn::module::Module;
use burn::tensor::{Device, Tensor, TensorData};
use cpcvae_data::Rows;
use std::sync::Arc;

/// Rows handled at once. Each such chunk has noise of its own, so where a chunk begins matters to
/// whoever asks about rows part by part: see [`Inference::at_chunk`].
pub const CHUNK: usize = 1000;

/// A model ready to answer.
#[derive(Clone, Debug)]
pub struct Inference {
    model: Model,
    shape: Shape,
    device: Device,
    seed: u64,
    /// The number of the chunk that answers begin with.
    first_chunk: u64,
    /// Whether every row has the same noise, in every chunk.
    same_noise: bool,
    /// Where codes of training rows lie, as far as that is known.
    fitted_codes: Option<Arc<FittedCodes>>,
}

impl Inference {
    /// From a model that may be in training; `seed` is for everything drawn at random.
    pub fn new(model: &Model, shape: &Shape, device: &Device, seed: u64) -> Self {
        Self {
            model: model.valid(),
            shape: shape.clone(),
            device: device.clone().without_autodiff(),
            seed,
            first_chunk: 0,
            same_noise: false,
            fitted_codes: None,
        }
    }

    /// The same, knowing where codes of training rows lie (see [`Inference::fit_codes`]).
    pub(crate) fn with_fitted_codes(self, codes: Option<FittedCodes>) -> Self {
        Self {
            fitted_codes: codes.map(Arc::new),
            ..self
        }
    }

    /// The same model, asked about rows of which so many chunks of [`CHUNK`] rows come before:
    /// answers part by part are then the same as answers for all rows at once.
    pub fn at_chunk(&self, chunk: usize) -> Self {
        Self {
            first_chunk: chunk as u64,
            ..self.clone()
        }
    }

    /// The same model with the same noise for every row: a row's answer depends neither on its
    /// place nor on the rows beside it. Averages over rows vary more than with noise of their own.
    pub fn with_same_noise(&self) -> Self {
        Self {
            same_noise: true,
            ..self.clone()
        }
    }

    /// The seed of everything drawn at random.
    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    /// Whether it is known where codes of training rows lie.
    pub(crate) fn has_fitted_codes(&self) -> bool {
        self.fitted_codes.is_some()
    }

    /// The same, with another seed for everything drawn at random.
    pub fn with_seed(&self, seed: u64) -> Self {
        Self {
            seed,
            ..self.clone()
        }
    }

    /// The model.
    pub(crate) fn model(&self) -> &Model {
        &self.model
    }

    /// Where codes of training rows lie, as far as that is known.
    pub(crate) fn fitted_codes(&self) -> Option<&FittedCodes> {
        self.fitted_codes.as_deref()
    }

    /// The model's shapes.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Calls `f` with consecutive chunks of rows `[rows, features]` and the noise of the chunk.
    fn for_chunks(&self, features: &dyn Rows, mut f: impl FnMut(Tensor<2>, Noise)) {
        for (chunk, start) in (0..features.rows()).step_by(CHUNK).enumerate() {
            let rows = CHUNK.min(features.rows() - start);
            // The memory of the chunk before: operations give it back when they have used it up.
            let mut values = self.model.compute().take(rows * features.columns());
            let places = values.chunks_exact_mut(features.columns().max(1));
            (start..)
                .zip(places)
                .for_each(|(row, out)| features.read(row, out));
            let data = TensorData::new(values, [rows, features.columns()]);
            let noise = match self.same_noise {
                true => Noise::new(self.seed, 0, &self.device).same_for_all_rows(),
                false => Noise::new(self.seed, self.first_chunk + chunk as u64, &self.device),
            };
            f(Tensor::from_data(data, &self.device), noise);
        }
    }

    /// The values that the likelihood is of: black and white pixels for the Bernoulli.
    fn observed(&self, x: Tensor<2>, noise: &Noise) -> Tensor<2> {
        if !self.shape.likelihood.is_binary() {
            return x;
        }
        let uniform = noise.uniform(NoisePurpose::Binarise, x.dims());
        binarise(x, uniform)
    }
}

/// The values of a tensor, row by row.
fn to_vec<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor
        .into_data()
        .try_into_vec()
        .expect("models compute in f32")
}
