//! Distributions over features: each gives `log_prob`, `mean` and `sample` from explicit noise.

mod bernoulli;
mod categorical;
mod mixed;
mod negative_binomial;
mod noise_normal;
mod normal;
mod row_layout;

pub use bernoulli::{Bernoulli, binarise};
pub use categorical::Categorical;
pub use mixed::Mixed;
pub use negative_binomial::NegativeBinomial;
pub use noise_normal::NoiseNormal;
pub use normal::Normal;
pub use row_layout::{CountScale, RowLayout};

use crate::noise::{Noise, NoisePurpose};
use crate::op::Compute;
use crate::op::constrain::MapConstraint;
use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

/// Initial share rho of the normal part: the uniform noise is for outliers.
const START_RHO: f32 = 0.9;

fn logit(share: f32) -> f32 {
    (share / (1.0 - share)).ln()
}

/// The family of the likelihood F(x | decoder output).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// Independent normals; mean and standard deviation from the decoder. Columns of a table that
    /// are not numbers have the distribution of their kind instead, see [`Mixed`].
    Normal,
    /// Black and white pixels; grey ones are binarised at random at each step.
    Bernoulli,
    /// Mixture of a truncated normal and uniform noise on [-1, 1].
    NoiseNormal,
}

impl Family {
    /// The values that black and white pixels are scaled to.
    pub(crate) fn pixel_range(self) -> (f32, f32) {
        match self {
            Self::Bernoulli => (0.0, 1.0),
            Self::Normal | Self::NoiseNormal => (-1.0, 1.0),
        }
    }

    /// Whether it supports columns of a table, with missing cells left out.
    pub(crate) fn is_for_tables(self) -> bool {
        self == Self::Normal
    }

    /// Whether it is of black and white pixels only, so that grey ones are binarised at random
    /// ([`binarise`]).
    pub(crate) fn is_binary(self) -> bool {
        self == Self::Bernoulli
    }

    /// Whether it has a standard deviation with a lower bound.
    pub(crate) fn has_scale(self) -> bool {
        let is_scale = |map: &MapConstraint| matches!(map, MapConstraint::Variance { .. });
        self.constraints(0.0).iter().any(is_scale)
    }

    /// How each of the decoder's parameter maps is constrained. `scale_floor` is the smallest
    /// standard deviation.
    pub fn constraints(self, scale_floor: f32) -> Vec<MapConstraint> {
        let variance = MapConstraint::Variance { floor: scale_floor };
        match self {
            Self::Normal => vec![MapConstraint::Identity, variance],
            Self::Bernoulli => vec![MapConstraint::Identity],
            Self::NoiseNormal => vec![MapConstraint::Sigmoid, MapConstraint::Tanh, variance],
        }
    }

    /// The unconstrained value of a parameter map at which a pixel has this mean and standard
    /// deviation: the starting point of training. Clamped away from the ends, where slopes vanish.
    pub(crate) fn raw_of(self, map: MapConstraint, mean: f32, deviation: f32) -> f32 {
        match map {
            MapConstraint::Identity if self == Self::Bernoulli => logit(mean.clamp(0.02, 0.98)),
            MapConstraint::Identity => mean,
            MapConstraint::Tanh => mean.clamp(-0.95, 0.95).atanh(),
            MapConstraint::Sigmoid => logit(START_RHO),
            // The inverse of softplus.
            MapConstraint::Variance { floor } => (deviation - floor).max(0.05).exp_m1().ln(),
        }
    }

    /// The distribution with these constrained parameters `[rows, maps, features]`.
    pub(crate) fn with_parameters(self, maps: Tensor<3>, compute: &Compute) -> Likelihood {
        let [rows, _, features] = maps.dims();
        match self {
            Self::Normal => Likelihood::Normal(Normal::new(maps, compute)),
            Self::Bernoulli => {
                let logits = maps.reshape([rows, features]);
                Likelihood::Bernoulli(Bernoulli::new(logits, compute))
            }
            Self::NoiseNormal => Likelihood::NoiseNormal(NoiseNormal::new(maps, compute)),
        }
    }
}

/// A distribution over the features of each row.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)] // a handful exist at a time; a box would gain nothing
pub enum Likelihood {
    /// See [`Normal`].
    Normal(Normal),
    /// See [`Bernoulli`].
    Bernoulli(Bernoulli),
    /// See [`NoiseNormal`].
    NoiseNormal(NoiseNormal),
    /// See [`Mixed`].
    Mixed(Mixed),
}

impl Likelihood {
    /// log p(x) summed over the features of each row: `[rows]`. With fewer rows in `x`, each of
    /// them is used for several consecutive rows of parameters.
    pub fn log_prob(&self, x: Tensor<2>) -> Tensor<1> {
        match self {
            Self::Normal(normal) => normal.log_prob(x),
            Self::Bernoulli(bernoulli) => bernoulli.log_prob(x),
            Self::NoiseNormal(noise_normal) => noise_normal.log_prob(x),
            Self::Mixed(mixed) => mixed.log_prob(x),
        }
    }

    /// log p of the known cells of each row, `[rows]`: NaN cells of `x` are left out. For normals
    /// and mixed rows; in plain tensor operations, not meant for the training loop.
    pub fn log_prob_of_known(&self, x: Tensor<2>) -> Tensor<1> {
        match self {
            Self::Normal(normal) => normal.log_prob_of_known(x),
            _ => self.log_prob(x),
        }
    }

    /// One draw for each row, `[rows, features]`. Differentiable in the parameters, except that the
    /// Bernoulli returns its mean in place of the draw (a binary draw has no gradient); see
    /// [`Mixed::sample`] for tables of several kinds.
    pub fn sample(&self, noise: &Noise) -> Tensor<2> {
        match self {
            Self::Normal(normal) => {
                let [rows, _, features] = normal.maps.dims();
                normal.sample(noise.normal(NoisePurpose::Features, [rows, features]))
            }
            Self::Bernoulli(bernoulli) => bernoulli.mean(),
            Self::NoiseNormal(noise_normal) => {
                let [rows, _, features] = noise_normal.maps.dims();
                noise_normal.sample(noise.uniform(NoisePurpose::Features, [rows, features]))
            }
            Self::Mixed(mixed) => mixed.sample(noise),
        }
    }

    /// One draw for each row without gradient: black or white for the Bernoulli.
    pub fn draw(&self, noise: &Noise) -> Tensor<2> {
        match self {
            Self::Bernoulli(bernoulli) => {
                bernoulli.sample(noise.uniform(NoisePurpose::Features, bernoulli.logits.dims()))
            }
            _ => self.sample(noise).detach(),
        }
    }

    /// The mean of each feature, `[rows, features]`.
    pub fn mean(&self) -> Tensor<2> {
        match self {
            Self::Normal(normal) => normal.mean(),
            Self::Bernoulli(bernoulli) => bernoulli.mean(),
            Self::NoiseNormal(noise_normal) => noise_normal.mean(),
            Self::Mixed(mixed) => mixed.mean(),
        }
    }
}
