//! Scores of rows: the evidence lower bound, and an importance-weighted estimate, which converges
//! from below to log p(x) as the number of draws grows (Burda et al. 2016).

use super::generative::{ClassModel, Generative};
use super::{Inference, to_vec};
use crate::error::Result;
use crate::model::{AuxiliaryVae, LabelVae, Posterior, StackedVae, Vae};
use crate::noise::{Noise, NoisePurpose};
use crate::objective::{draw_auxiliary, unlabelled_bound, unlabelled_weight};
use burn::tensor::Tensor;
use cpcvae_data::Rows;

/// Scores of each row, in nats, for features in the model's units.
///
/// ```
/// # use cpcvae::prelude::*;
/// # let rows: Vec<[f32; 2]> =
/// #     (0..60).map(|i| [(i % 2 * 9 + i % 5) as f32, (i % 7) as f32]).collect();
/// # let labels = (0..60).map(|i| (i < 20).then_some(["low", "high"][i % 2]));
/// # let data = Dataset::from_rows(&rows, Labels::classes(labels))?;
/// let fitted = Pc::new().steps(50).hold_out(false).fit(&data)?;
/// let scores = fitted.score(&rows, 20)?;
/// assert_eq!(scores.log_likelihood.len(), 60);
/// # Ok::<(), cpcvae::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Scores {
    /// Lower bound of log p(x), averaged over the draws.
    pub elbo: Vec<f32>,
    /// log of the mean importance weight over the draws; at one draw it is the bound itself.
    pub log_likelihood: Vec<f32>,
}

impl Inference {
    /// Scores with `draws` codes a row (at least one).
    pub fn score(&self, features: &dyn Rows, draws: usize) -> Result<Scores> {
        Ok(self.score_by(self.generative()?, features, draws))
    }

    pub(super) fn score_by(
        &self,
        model: Generative<'_>,
        features: &dyn Rows,
        draws: usize,
    ) -> Scores {
        let mut scores = Scores {
            elbo: Vec::with_capacity(features.rows()),
            log_likelihood: Vec::with_capacity(features.rows()),
        };
        self.for_chunks(features, |x, noise| {
            let x = self.observed(x, &noise);
            let log_weights: Tensor<2> =
                Tensor::stack(model.log_weights(&x, &noise, draws.max(1)), 1);
            scores
                .elbo
                .extend(to_vec(model.bound(&x, &noise, &log_weights)));
            scores
                .log_likelihood
                .extend(to_vec(log_mean_exp(log_weights)));
        });
        scores
    }
}

impl Generative<'_> {
    /// log p(x, z) - log q(z|x) at each draw of z, `[rows]`.
    fn log_weights(self, x: &Tensor<2>, noise: &Noise, draws: usize) -> Vec<Tensor<1>> {
        let noises = (0..draws).map(|draw| noise.draw(draw));
        match self {
            // The code depends on x alone: one pass of the encoder suffices for all draws.
            Self::Vae(vae) => {
                let posterior = vae.encode(x.clone());
                let weight = |noise: Noise| vae_log_weight(vae, &posterior, x.clone(), &noise);
                noises.map(weight).collect()
            }
            Self::OfClasses(model) => noises
                .map(|noise| model.log_weight(x.clone(), &noise))
                .collect(),
        }
    }

    /// The bound: the mean log-weight; where the label is a latent variable, the bound that sums
    /// over classes with q(y|x).
    fn bound(self, x: &Tensor<2>, noise: &Noise, log_weights: &Tensor<2>) -> Tensor<1> {
        let [rows, draws] = log_weights.dims();
        match self {
            Self::Vae(_) => log_weights.clone().mean_dim(1).reshape([rows]),
            Self::OfClasses(model) => (0..draws)
                .map(|draw| model.bound(x.clone(), &noise.draw(draw)))
                .reduce(|sum, bound| sum + bound)
                .expect("at least one draw")
                .div_scalar(draws as f64),
        }
    }
}

impl ClassModel<'_> {
    /// log p(x, z) - log q(z|x) at one draw of z, `[rows]`.
    fn log_weight(self, x: Tensor<2>, noise: &Noise) -> Tensor<1> {
        match self {
            Self::Label(model) => label_vae_log_weight(model, x, noise),
            Self::Stacked(model) => {
                let (z1, lower) = lower_log_weight(model, x, noise);
                lower + label_vae_log_weight(model.labels(), z1, noise)
            }
            Self::Auxiliary(model) => auxiliary_log_weight(model, x, noise),
        }
    }

    /// The bound at one draw, summed over classes with q(y|x).
    fn bound(self, x: Tensor<2>, noise: &Noise) -> Tensor<1> {
        let [rows, _] = x.dims();
        let code_noise = |classes: usize, code: usize| {
            noise.normal(NoisePurpose::Evaluation, [rows * classes, code])
        };
        match self {
            Self::Label(model) => {
                unlabelled_bound(model, x, code_noise(model.classes(), model.code()))
            }
            Self::Stacked(model) => {
                let (z1, lower) = lower_log_weight(model, x, noise);
                let upper = model.labels();
                lower + unlabelled_bound(upper, z1, code_noise(upper.classes(), upper.code()))
            }
            Self::Auxiliary(model) => {
                let (a, log_q) = draw_auxiliary(&model.auxiliary(x.clone()), noise);
                let q = model.classify(x.clone(), a.clone());
                let noise = code_noise(model.classes(), model.code());
                unlabelled_weight(model, x, a, &q, noise) - log_q
            }
        }
    }
}

/// A draw of the code z1 of a stack's features, `[rows, code]`, and log p(x|z1) - log q(z1|x)
/// there. The missing term is log p(z1), which the upper model gives.
fn lower_log_weight(model: &StackedVae, x: Tensor<2>, noise: &Noise) -> (Tensor<2>, Tensor<1>) {
    let [rows, _] = x.dims();
    let vae = model.features();
    let posterior = vae.encode(x.clone());
    let (z1, _) = posterior.sample_kl(noise.normal(NoisePurpose::Auxiliary, [rows, vae.code()]));
    let log_q = posterior.log_density(z1.clone());
    (z1.clone(), vae.decode(z1).log_prob(x) - log_q)
}

/// The class is summed out exactly: log sum_y p(y) p(x, a, z_y | y) / (q(a|x) q(z_y | a, x, y)).
fn auxiliary_log_weight(model: &AuxiliaryVae, x: Tensor<2>, noise: &Noise) -> Tensor<1> {
    let [rows, _] = x.dims();
    let classes = model.classes();
    let (a, log_q) = draw_auxiliary(&model.auxiliary(x.clone()), noise);
    let noise = noise.normal(NoisePurpose::Evaluation, [rows * classes, model.code()]);
    let posterior = model.encode_each_class(x.clone(), a.clone());
    let (z, _) = posterior.sample_kl(noise.clone());
    let of_a = model.decode_auxiliary_each_class(z.clone(), x.clone());
    let weights = model.decode_each_class(z.clone(), a.clone()).log_prob(x) + of_a.log_density(a)
        - posterior.log_ratio_to_prior(z, noise);
    log_mean_exp(weights.reshape([rows, classes])) - log_q
}

fn vae_log_weight(vae: &Vae, posterior: &Posterior, x: Tensor<2>, noise: &Noise) -> Tensor<1> {
    let [rows, _] = x.dims();
    let noise = noise.normal(NoisePurpose::Evaluation, [rows, vae.code()]);
    let (z, _) = posterior.sample_kl(noise.clone());
    vae.decode(z.clone()).log_prob(x) - posterior.log_ratio_to_prior(z, noise)
}

/// The class is summed out exactly: log sum_y p(y) p(x, z_y | y) / q(z_y | x, y).
fn label_vae_log_weight(model: &LabelVae, x: Tensor<2>, noise: &Noise) -> Tensor<1> {
    let [rows, features] = x.dims();
    let classes = model.classes();
    let noise = noise.normal(NoisePurpose::Evaluation, [rows * classes, model.code()]);
    let posterior = model.encode_each_class(x.clone());
    let (z, _) = posterior.sample_kl(noise.clone());
    let repeated = x
        .reshape([rows, 1, features])
        .repeat_dim(1, classes)
        .reshape([rows * classes, features]);
    let weights = model.decode_each_class(z.clone()).log_prob(repeated)
        - posterior.log_ratio_to_prior(z, noise);
    // The mean over classes is the sum with the uniform p(y).
    log_mean_exp(weights.reshape([rows, classes]))
}

/// log of the mean of exp over the columns, `[rows, columns]` to `[rows]`.
fn log_mean_exp(values: Tensor<2>) -> Tensor<1> {
    let [rows, columns] = values.dims();
    let top = values.clone().max_dim(1);
    let mean = (values - top.clone())
        .exp()
        .sum_dim(1)
        .div_scalar(columns as f64);
    (mean.log() + top).reshape([rows])
}
