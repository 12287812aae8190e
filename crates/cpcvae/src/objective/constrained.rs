//! The paper's objective: evidence, subject to prediction and consistency constraints.

use super::consistency::Original;
use super::{
    AggregateViews, Examples, GradientPath, LabelledEvidence, Prediction, Progress, Simulated,
};
use super::{PseudoLabels, Terms, aggregate, consistency, entropy, evidence};
use crate::model::Vae;
use crate::noise::{Noise, NoisePurpose};
use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

/// The weight of each term. All but `beta` and `predictor_norm` are zero for the plain VAE.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TermWeights {
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
    /// Of the predictor's squared weights.
    pub predictor_norm: f64,
}

impl TermWeights {
    /// Each weight times its share in `factors`.
    fn times(&self, factors: &Self) -> Self {
        Self {
            beta: self.beta * factors.beta,
            prediction: self.prediction * factors.prediction,
            consistency: self.consistency * factors.consistency,
            aggregate: self.aggregate * factors.aggregate,
            entropy: self.entropy * factors.entropy,
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
            predictor_norm: rise(self.predictor_norm),
        }
    }
}

/// TermWeights, their ramps, and the ways of the gradient.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Constrained {
    /// Full weights.
    pub weights: TermWeights,
    /// Share of the stage over which each weight rises linearly from zero; 0 is no ramp.
    pub ramps: TermWeights,
    /// Class frequencies pi that the aggregate term aims at.
    pub class_shares: Vec<f32>,
    /// Ways of the consistency cost's gradient.
    pub gradient_path: GradientPath,
    /// What x-bar is made of p(x|z).
    pub simulated: Simulated,
    /// Whether the prediction for the original learns from the consistency cost too.
    pub target_gradient: bool,
    /// Predictions of which rows the aggregate term looks at: those for z, or for z and z-bar.
    pub aggregate_views: AggregateViews,
    /// Share of the aggregate weight that is gone at the end of the stage; it falls linearly.
    pub aggregate_decay: f64,
    /// How much the evidence of labelled rows counts beside that of the others.
    pub labelled_evidence: LabelledEvidence,
    /// Share of the training rows that have a label, which [`LabelledEvidence::Data`] needs.
    pub labelled_share: f64,
    /// Standard deviation of noise on what the encoder sees of a row. An encoder that has to make
    /// do with it cannot learn a few rows of many columns by heart.
    pub input_noise: f64,
    /// Pseudo-labels, where they are asked for. Not in the paper.
    pub pseudo_labels: Option<PseudoLabels>,
}

impl Constrained {
    /// One step's terms, following a row x: encode it, decode its code, predict from its code;
    /// then simulate x-bar from the same code, encode that, and predict again.
    pub fn terms(&self, model: &Vae, batch: &Examples, noise: &Noise, progress: Progress) -> Terms {
        let weights = self.weights_at(progress);
        let rows = batch.rows();
        let mut terms = Terms::default();

        let (z, kl) = model
            .encode_through(batch.features.clone(), self.input_noise, noise)
            .sample_kl(noise.normal(NoisePurpose::Code, [rows, model.code()]));
        let drawn = model.draw(z.clone());
        let decoded = model.observe(drawn.clone(), z.clone());
        evidence::push(
            &mut terms,
            weights.beta,
            batch.features.clone(),
            &decoded,
            kl,
            self.labelled_evidence
                .row_weights(batch, self.labelled_share),
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
            let z_bar = consistency::simulated_code(
                model,
                original,
                self.gradient_path,
                self.simulated,
                noise,
            );
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
                if let (AggregateViews::Both, Some(Prediction::Classes(simulated))) =
                    (self.aggregate_views, &simulated)
                {
                    cost = cost + aggregate::cost(simulated, batch.labelled, &self.class_shares);
                }
                terms.push("aggregate", weights.aggregate, cost);
            }
            if self.weights.entropy != 0.0 {
                terms.push("entropy", weights.entropy, entropy::cost(classes));
            }
        }
        if let Some(pseudo_labels) = &self.pseudo_labels {
            let step = (model, batch, noise);
            let noise = self.input_noise;
            pseudo_labels.push(&mut terms, step, &prediction, noise, progress.share);
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
    fn weights_at(&self, progress: Progress) -> TermWeights {
        let mut weights = self.weights.times(&self.ramps.ramp_at(progress.share));
        weights.aggregate *= 1.0 - self.aggregate_decay * progress.share.min(1.0);
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
