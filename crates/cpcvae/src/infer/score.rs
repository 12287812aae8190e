//! How probable a row is: the evidence lower bound, and an importance-weighted estimate that
//! comes from below to log p(x) as the number of draws grows (Burda et al. 2016).

use super::{Inference, no_generative_part, to_vec};
use crate::error::Result;
use crate::model::{LabelVae, Model, Vae};
use crate::noise::{Noise, Purpose};
use crate::objective::unlabelled_bound;
use burn::tensor::Tensor;
use cpcvae_data::Rows;

/// Scores of each row, in nats, for features in the model's units.
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
        let mut scores = Scores {
            elbo: Vec::with_capacity(features.rows()),
            log_likelihood: Vec::with_capacity(features.rows()),
        };
        if matches!(self.model, Model::Classifier(_)) {
            return Err(no_generative_part());
        }
        self.for_chunks(features, |x, noise| {
            let x = self.observed(x, &noise);
            let log_weights: Vec<Tensor<1>> = (0..draws.max(1))
                .map(|draw| self.log_weight(x.clone(), &noise.draw(draw)))
                .collect();
            let log_weights: Tensor<2> = Tensor::stack(log_weights, 1);
            scores
                .elbo
                .extend(to_vec(self.bound(&x, &noise, &log_weights)));
            scores
                .log_likelihood
                .extend(to_vec(log_mean_exp(log_weights)));
        });
        Ok(scores)
    }

    /// log p(x, z) - log q(z|x) at one draw of z, `[rows]`.
    fn log_weight(&self, x: Tensor<2>, noise: &Noise) -> Tensor<1> {
        match &self.model {
            Model::Vae(vae) => vae_log_weight(vae, x, noise),
            Model::LabelVae(model) => label_vae_log_weight(model, x, noise),
            Model::Classifier(_) => unreachable!("score refuses models without codes"),
        }
    }

    /// The bound: the mean log-weight; for M2 the bound that sums over classes with q(y|x).
    fn bound(&self, x: &Tensor<2>, noise: &Noise, log_weights: &Tensor<2>) -> Tensor<1> {
        let [rows, draws] = log_weights.dims();
        match &self.model {
            Model::LabelVae(model) => {
                let shape = [rows * model.classes(), model.code()];
                (0..draws)
                    .map(|draw| {
                        let noise = noise.draw(draw).normal(Purpose::Evaluation, shape);
                        unlabelled_bound(model, x.clone(), noise)
                    })
                    .reduce(|sum, bound| sum + bound)
                    .expect("at least one draw")
                    .div_scalar(draws as f64)
            }
            _ => log_weights.clone().mean_dim(1).reshape([rows]),
        }
    }
}

fn vae_log_weight(vae: &Vae, x: Tensor<2>, noise: &Noise) -> Tensor<1> {
    let [rows, _] = x.dims();
    let posterior = vae.encode(x.clone());
    let noise = noise.normal(Purpose::Evaluation, [rows, vae.code()]);
    let (z, _) = posterior.sample_kl(noise.clone());
    vae.decode(z.clone()).log_prob(x) - posterior.log_ratio_to_prior(z, noise)
}

/// The class is summed out exactly: log sum_y p(y) p(x, z_y | y) / q(z_y | x, y).
fn label_vae_log_weight(model: &LabelVae, x: Tensor<2>, noise: &Noise) -> Tensor<1> {
    let [rows, features] = x.dims();
    let classes = model.classes();
    let noise = noise.normal(Purpose::Evaluation, [rows * classes, model.code()]);
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
