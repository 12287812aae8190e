//! Log-densities of rows of features, and their gradients.
//!
//! `params [rows, maps, features]` are the parameters of every feature; `x [rows / repeat,
//! features]` the features, each row of which is used for `repeat` rows of parameters: a sum over
//! classes needs the density of one row under many.

use crate::isa::Isa;
use crate::math::{exp, ln, softplus, sum};
use crate::noise_normal;
use crate::parallel;

/// Which density.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Density {
    /// Maps: mean and variance.
    Normal,
    /// Map: log-odds of a one. For x between 0 and 1, the expected log-probability.
    Bernoulli,
    /// Maps: rho, mean and variance, see [`noise_normal`].
    NoiseNormal,
}

impl Density {
    /// The number of its parameter maps.
    pub fn maps(self) -> usize {
        match self {
            Self::Normal => 2,
            Self::Bernoulli => 1,
            Self::NoiseNormal => 3,
        }
    }

    /// The cost of one feature, relative to the cheapest operations.
    fn cost(self) -> usize {
        match self {
            Self::Normal | Self::Bernoulli => 2,
            Self::NoiseNormal => noise_normal::COST,
        }
    }
}

/// Sizes of a log-density.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DensityShape {
    /// Rows of parameters.
    pub rows: usize,
    /// Features of a row.
    pub features: usize,
    /// Rows of parameters that share a row of features.
    pub repeat: usize,
}

impl DensityShape {
    /// Every row has its own features.
    pub fn plain(rows: usize, features: usize) -> Self {
        Self {
            rows,
            features,
            repeat: 1,
        }
    }

    fn check(&self, density: Density, params: &[f32], x: &[f32], out: &[f32]) {
        assert!(self.repeat > 0 && self.rows.is_multiple_of(self.repeat));
        assert_eq!(params.len(), self.rows * density.maps() * self.features);
        assert_eq!(x.len(), self.rows / self.repeat * self.features);
        assert_eq!(out.len(), self.rows);
    }

    fn features_of<'a>(&self, x: &'a [f32], row: usize) -> &'a [f32] {
        &x[row / self.repeat * self.features..][..self.features]
    }
}

/// `out [rows]`: the log-density of each row, summed over its features.
///
/// # Panics
/// If a slice's length does not fit the shape.
pub fn log_prob(shape: DensityShape, density: Density, params: &[f32], x: &[f32], out: &mut [f32]) {
    shape.check(density, params, x, out);
    let p = shape.features;
    if p == 0 {
        return out.fill(0.0);
    }
    let isa = Isa::current();
    let operations = density.cost() * shape.rows * p;
    let rows = params.chunks(density.maps() * p).zip(out).enumerate();
    parallel::timed_for_each("log-density", operations, rows, |(row, (params, out))| {
        let x = shape.features_of(x, row);
        *out = match density {
            Density::Normal => normal_row(isa, params, x),
            Density::Bernoulli => bernoulli_row(isa, params, x),
            Density::NoiseNormal => noise_normal::log_prob_row(isa, p, params, x),
        };
    });
}

/// As [`log_prob`], and `d_params [rows, maps, features]`: the derivatives of `out[row]` with
/// respect to that row's parameters.
///
/// # Panics
/// If a slice's length does not fit the shape.
pub fn log_prob_with_gradient(
    shape: DensityShape,
    density: Density,
    params: &[f32],
    x: &[f32],
    out: &mut [f32],
    d_params: &mut [f32],
) {
    shape.check(density, params, x, out);
    assert_eq!(d_params.len(), params.len());
    let p = shape.features;
    if p == 0 {
        return out.fill(0.0);
    }
    let isa = Isa::current();
    let operations = density.cost() * shape.rows * p;
    let width = density.maps() * p;
    let rows = params.chunks(width).zip(d_params.chunks_mut(width));
    let rows = rows.zip(out).enumerate();
    let name = "log-density and slopes";
    parallel::timed_for_each(
        name,
        operations,
        rows,
        |(row, ((params, d_params), out))| {
            let x = shape.features_of(x, row);
            *out = match density {
                Density::Normal => normal_gradient_row(isa, params, x, d_params),
                Density::Bernoulli => bernoulli_gradient_row(isa, params, x, d_params),
                Density::NoiseNormal => noise_normal::gradient_row(isa, p, params, x, d_params),
            };
        },
    );
}

/// Multiplies each row of `d_params [n, ..]`, as [`log_prob_with_gradient`] gave them, by the
/// gradient of that row's log-density, `gradient [n]`.
///
/// If the lengths are not multiples of the rows.
/// If the rows do not come out even.
pub fn scale_rows(gradient: &[f32], d_params: &mut [f32]) {
    let Some(width) = d_params.len().checked_div(gradient.len()) else {
        return;
    };
    assert_eq!(d_params.len(), gradient.len() * width);
    if width == 0 {
        return;
    }
    let isa = Isa::current();
    let elements = d_params.len();
    let rows = gradient.iter().zip(d_params.chunks_mut(width));
    parallel::timed_for_each(
        "log-density: gradient",
        elements,
        rows,
        |(gradient, row)| scale_row(isa, *gradient, row),
    );
}

kernel! {
    fn scale_row<FMA>(factor: f32, row: &mut [f32]) {
        row.iter_mut().for_each(|value| *value *= factor);
    }
}

/// Features in one block of a row: their terms stay in the L1 cache.
const BLOCK: usize = 256;

/// Sums the terms that `$body` computes for each block of a row. A macro, because a closure would
/// be compiled without the instruction set of the enclosing kernel.
macro_rules! sum_of_blocks {
    ($features:expr, |$block:ident, $terms:ident| $body:block) => {{
        let features = $features;
        let mut values = [0.0; BLOCK];
        let mut total = 0.0;
        for start in (0..features).step_by(BLOCK) {
            let $block = start..(start + BLOCK).min(features);
            let $terms = &mut values[..$block.len()];
            $body
            total += f64::from(sum(&values[..$block.len()]));
        }
        total as f32
    }};
}

const LN_2PI: f32 = 1.837_877_1;

kernel! {
    /// `-((x - mean)^2 / variance + ln variance + ln 2 pi) / 2`
    fn normal_row<FMA>(params: &[f32], x: &[f32]) -> f32 {
        let (mean, variance) = params.split_at(x.len());
        sum_of_blocks!(x.len(), |block, terms| {
            let inputs = x[block.clone()].iter().zip(&mean[block.clone()]);
            for (((x, mean), variance), term) in inputs.zip(&variance[block.clone()]).zip(terms) {
                let distance = x - mean;
                *term = -0.5 * (distance * distance / variance + ln::<FMA>(*variance) + LN_2PI);
            }
        })
    }
}

kernel! {
    fn normal_gradient_row<FMA>(params: &[f32], x: &[f32], d_params: &mut [f32]) -> f32 {
        let (mean, variance) = params.split_at(x.len());
        let (d_mean, d_variance) = d_params.split_at_mut(x.len());
        sum_of_blocks!(x.len(), |block, terms| {
            let inputs = x[block.clone()].iter().zip(&mean[block.clone()]);
            let inputs = inputs.zip(&variance[block.clone()]);
            let slopes = d_mean[block.clone()].iter_mut().zip(&mut d_variance[block.clone()]);
            for ((((x, mean), variance), (d_mean, d_variance)), term) in
                inputs.zip(slopes).zip(terms)
            {
                let precision = 1.0 / variance;
                let slope = (x - mean) * precision;
                let distance = (x - mean) * slope;
                *term = -0.5 * (distance + ln::<FMA>(*variance) + LN_2PI);
                *d_mean = slope;
                *d_variance = 0.5 * precision * (distance - 1.0);
            }
        })
    }
}

kernel! {
    /// `x l - ln(1 + e^l)`
    fn bernoulli_row<FMA>(logits: &[f32], x: &[f32]) -> f32 {
        sum_of_blocks!(x.len(), |block, terms| {
            for ((x, logit), term) in x[block.clone()].iter().zip(&logits[block.clone()]).zip(terms) {
                *term = x * logit - softplus::<FMA>(*logit);
            }
        })
    }
}

kernel! {
    fn bernoulli_gradient_row<FMA>(logits: &[f32], x: &[f32], d_logits: &mut [f32]) -> f32 {
        sum_of_blocks!(x.len(), |block, terms| {
            let inputs = x[block.clone()].iter().zip(&logits[block.clone()]);
            for (((x, logit), slope), term) in inputs.zip(&mut d_logits[block.clone()]).zip(terms) {
                *term = x * logit - softplus::<FMA>(*logit);
                *slope = x - 1.0 / (1.0 + exp::<FMA>(-logit));
            }
        })
    }
}
