//! Inference with a model: predictions, codes, samples, reconstructions, scores.
//!
//! Everything here works on prepared features (see [`crate::prepare`]), in chunks of rows, and is
//! deterministic for a seed.

pub mod calibrate;
pub mod class_shift;
pub mod conformal;
#[cfg(test)]
mod draws;
mod encode;
mod evaluate;
mod fitted_codes;
mod generative;
mod impute;
mod missing_cells;
mod mixture;
mod per_class;
mod predict;
pub mod quality;
mod reconstruct;
mod sample;
mod score;
mod suggest;
mod typicality;

pub use crate::probabilities::largest;
pub use encode::Codes;
pub use evaluate::Evaluation;
pub use fitted_codes::FittedCodes;
pub use impute::{Filling, IMPUTE_ITERATIONS};
pub use per_class::ClassFigures;
pub use reconstruct::Reconstruction;
pub use sample::{ClassSamples, CodeSource, RejectionLimits};
pub use score::Scores;
pub use suggest::{entropy, suggest};
pub use typicality::Typical;

use crate::distribution::binarise;
use crate::model::{Model, Shape};
use crate::noise::{Noise, NoisePurpose};
use burn::module::Module;
use burn::tensor::{Device, Tensor, TensorData};
use cpcvae_data::Rows;
use std::sync::Arc;

/// Rows processed at once. Each chunk has its own noise, so a caller that processes rows in parts
/// must start them at the right chunk: see [`Inference::at_chunk`].
pub const CHUNK: usize = 1000;

/// A model ready for inference.
#[derive(Clone, Debug)]
pub struct Inference {
    model: Model,
    shape: Shape,
    device: Device,
    seed: u64,
    /// The number of the first chunk.
    first_chunk: u64,
    /// Whether every row has the same noise, in every chunk.
    same_noise: bool,
    /// The mixture fitted to codes of training rows, if any.
    fitted_codes: Option<Arc<FittedCodes>>,
}

impl Inference {
    /// From a model that may be in training; `seed` is for random draws.
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

    /// The same with the mixture fitted to codes of training rows (see [`Inference::fit_codes`]).
    pub(crate) fn with_fitted_codes(self, codes: Option<FittedCodes>) -> Self {
        Self {
            fitted_codes: codes.map(Arc::new),
            ..self
        }
    }

    /// The same model for rows that are preceded by `chunk` chunks of [`CHUNK`] rows, so that
    /// results in parts are the same as for all rows at once.
    pub fn at_chunk(&self, chunk: usize) -> Self {
        Self {
            first_chunk: chunk as u64,
            ..self.clone()
        }
    }

    /// The same model with the same noise for every row: the result for a row depends neither on
    /// its position nor on the rows beside it. Averages over rows vary more than with independent
    /// noise.
    pub fn with_same_noise(&self) -> Self {
        Self {
            same_noise: true,
            ..self.clone()
        }
    }

    /// The seed of random draws.
    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    /// Whether it has a mixture fitted to codes of training rows.
    pub(crate) fn has_fitted_codes(&self) -> bool {
        self.fitted_codes.is_some()
    }

    /// The same with another seed for random draws.
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

    /// The mixture fitted to codes of training rows, if any.
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
            // Reuses the buffer of the previous chunk, which operations return to the pool.
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

    /// The values that the likelihood is evaluated at: binarised pixels for the Bernoulli.
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
