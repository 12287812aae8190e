//! The paper's objective: evidence, subject to prediction and consistency constraints.

use super::consistency::Original;
use super::{Examples, GradientPath, Prediction, Progress, Terms};
use super::{aggregate, consistency, entropy, evidence, mixed};
use crate::model::Vae;
use crate::noise::{Noise, Purpose};
use crate::opinion::{Propagation, View};
use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

/// The weight of each term. All but `beta` and `predictor_norm` are zero for the plain VAE.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Weights {
    /// beta, of the KL divergence.
    pub beta: f64,
    /// lambda, of the prediction loss.
    pub prediction: f64,
    /// gamma, of the consistency cost.
    pub consistency: f64,
    /// Of the aggregate label consistency.
    pub aggregate: f64,
    /// Of the entropy of predictions.
    pub entropy: f64,
    /// Of the classes that neighbours suggest.
    pub neighbours: f64,
    /// Of the predictor's squared weights.
    pub predictor_norm: f64,
}

impl Weights {
    /// Each weight times its share in `factors`.
    fn times(&self, factors: &Self) -> Self {
        Self {
            beta: self.beta * factors.beta,
            prediction: self.prediction * factors.prediction,
            consistency: self.consistency * factors.consistency,
            aggregate: self.aggregate * factors.aggregate,
            entropy: self.entropy * factors.entropy,
            neighbours: self.neighbours * factors.neighbours,
            predictor_norm: self.predictor_norm * factors.predictor_norm,
        }
    }

    /// The share of its full weight that each term has, when each number here is the share of
    /// the stage over which that term's weight rises from zero.
    fn ramp_at(&self, share: f64) -> Self {
        let rise = |ramp: f64| if ramp > share { share / ramp } else { 1.0 };
        Self {
            beta: rise(self.beta),
            prediction: rise(self.prediction),
            consistency: rise(self.consistency),
            aggregate: rise(self.aggregate),
            entropy: rise(self.entropy),
            // The other way round: labels of neighbours lead at first, then let go.
            neighbours: 1.0 - self.neighbours * share.min(1.0),
            predictor_norm: rise(self.predictor_norm),
        }
    }
}

/// Weights, their ramps, and the ways of the gradient.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Constrained {
    /// Full weights.
    pub weights: Weights,
    /// Share of the stage over which each weight rises linearly from zero; 0 is no ramp.
    pub ramps: Weights,
    /// Class frequencies pi that the aggregate term aims at.
    pub class_shares: Vec<f32>,
    /// Ways of the consistency cost's gradient.
    pub gradient_path: GradientPath,
    /// Whether the prediction for the original learns from the consistency cost too.
    pub target_gradient: bool,
    /// How labels spread over neighbours, where `weights.neighbours` asks for it.
    pub propagation: Propagation,
    /// What of a row they compare.
    pub view: View,
    /// How often they are spread anew during the stage.
    pub refreshes: u64,
    /// Standard deviation of noise on what the encoder sees of a row. An encoder that has to make
    /// do with it cannot learn a few rows of many columns by heart.
    pub jitter: f64,
    /// Weight of mixed rows, as a multiple of that of neighbours.
    pub mixing: f64,
}

impl Constrained {
    /// One step's terms, following a row x: encode it, decode its code, predict from its code;
    /// then simulate x-bar from the same code, encode that, and predict again.
    pub fn terms(&self, model: &Vae, batch: &Examples, noise: &Noise, progress: Progress) -> Terms {
        let weights = self.weights_at(progress);
        let rows = batch.rows();
        let mut terms = Terms::default();

        let (z, kl) = model
            .encode_through(batch.features.clone(), self.jitter, noise)
            .sample_kl(noise.normal(Purpose::Code, [rows, model.code()]));
        let drawn = model.draw(z.clone());
        let decoded = model.observe(drawn.clone(), z.clone());
        evidence::push(
            &mut terms,
            weights.beta,
            batch.features.clone(),
            &decoded,
            kl,
        );

        if !model.has_predictor() {
            return terms;
        }
        let prediction = Prediction::new(model.predict(z.clone()), batch.classes);
        let simulated = (self.weights.consistency != 0.0).then(|| {
            let original = Original {
                x: batch.features.clone(),
                z,
                drawn,
                decoded: &decoded,
            };
            let z_bar = consistency::simulated_code(model, original, self.gradient_path, noise);
            Prediction::new(model.predict(z_bar), batch.classes)
        });

        if batch.labelled > 0 {
            let loss = prediction
                .rows(0..batch.labelled)
                .loss(batch.labels.clone());
            terms.push("prediction", weights.prediction, mean_of_batch(loss, rows));
        }
        if let Some(simulated) = &simulated {
            let cost = consistency::cost(
                simulated,
                &prediction,
                batch.labels.clone(),
                self.target_gradient,
            );
            terms.push("consistency", weights.consistency, cost.mean());
        }
        if let Prediction::Classes(classes) = &prediction {
            if self.weights.aggregate != 0.0 && batch.labelled < rows {
                let mut cost = aggregate::cost(classes, batch.labelled, &self.class_shares);
                if let Some(Prediction::Classes(simulated)) = &simulated {
                    cost = cost + aggregate::cost(simulated, batch.labelled, &self.class_shares);
                }
                terms.push("aggregate", weights.aggregate, cost);
            }
            if self.weights.entropy != 0.0 {
                terms.push("entropy", weights.entropy, entropy::cost(classes));
            }
        }
        if let (Some(suggested), true) = (&batch.suggested, self.weights.neighbours != 0.0) {
            let loss = prediction
                .rows(batch.labelled..rows)
                .loss(suggested.clone());
            terms.push("neighbours", weights.neighbours, mean_of_batch(loss, rows));
            if self.mixing != 0.0 {
                let cost = mixed::cost(model, batch, suggested, self.jitter, noise);
                terms.push("mixed", self.mixing * weights.neighbours, cost);
            }
        }
        if self.weights.predictor_norm != 0.0 {
            let norm = model.predictor_squared_norm();
            terms.push("predictor_norm", weights.predictor_norm, norm);
        }
        terms
    }

    /// Whether labels have any say: not in the plain VAE.
    pub fn uses_labels(&self) -> bool {
        self.weights.prediction != 0.0 || self.weights.consistency != 0.0
    }

    /// The weights at this point of the stage.
    fn weights_at(&self, progress: Progress) -> Weights {
        let mut weights = self.weights.times(&self.ramps.ramp_at(progress.share));
        if let Some(multiplier) = progress.multiplier {
            weights.prediction = multiplier;
        }
        weights
    }
}

/// The sum over labelled rows over the size of the whole batch: unlabelled rows count zero.
fn mean_of_batch(loss: Tensor<1>, rows: usize) -> Tensor<1> {
    loss.sum().div_scalar(rows as f64)
}
