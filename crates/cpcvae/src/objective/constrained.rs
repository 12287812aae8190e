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

/// The weight of a term, which may rise from zero at the start of a stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Term {
    /// Full weight; 0 leaves the term out.
    pub weight: f64,
    /// Share of the stage over which the weight rises linearly from zero; 0 is no ramp.
    pub ramp: f64,
}

impl Term {
    /// A constant weight.
    pub fn constant(weight: f64) -> Self {
        Self { weight, ramp: 0.0 }
    }

    /// Whether the weight is not zero.
    pub(crate) fn is_used(self) -> bool {
        self.weight != 0.0
    }

    /// The weight at `share` of the stage.
    pub fn at(self, share: f64) -> f64 {
        if self.ramp > share {
            self.weight * (share / self.ramp)
        } else {
            self.weight
        }
    }
}

/// The terms and gradient paths. The default is the plain VAE: evidence alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Constrained {
    /// beta, of the KL divergence.
    pub beta: Term,
    /// lambda, of the prediction loss.
    pub prediction: Term,
    /// gamma, of the consistency cost.
    pub consistency: Term,
    /// Of the aggregate label consistency.
    pub aggregate: Term,
    /// Of the entropy of predictions.
    pub entropy: Term,
    /// Of the predictor's squared weights.
    pub predictor_norm: Term,
    /// Class frequencies pi of the aggregate term.
    pub class_shares: Vec<f32>,
    /// Path of the consistency cost's gradient.
    pub gradient_path: GradientPath,
    /// How x-bar is made from p(x|z).
    pub simulated: Simulated,
    /// Whether the consistency cost has a gradient into the prediction for the original row too.
    pub target_gradient: bool,
    /// Predictions that the aggregate term uses: those for z, or for z and z-bar.
    pub aggregate_views: AggregateViews,
    /// Share of the aggregate weight that is removed by the end of the stage; it falls linearly.
    pub aggregate_decay: f64,
    /// The weight of the evidence of labelled rows relative to the others.
    pub labelled_evidence: LabelledEvidence,
    /// Share of the training rows that have a label, which [`LabelledEvidence::Data`] needs.
    pub labelled_share: f64,
    /// Standard deviation of noise on the encoder's input, which keeps the encoder from overfitting
    /// a few rows of many columns.
    pub input_noise: f64,
    /// Pseudo-labels, if wanted. Not in the paper.
    pub pseudo_labels: Option<PseudoLabels>,
}

impl Default for Constrained {
    fn default() -> Self {
        Self {
            beta: Term::constant(1.0),
            prediction: Term::default(),
            consistency: Term::default(),
            aggregate: Term::default(),
            entropy: Term::default(),
            predictor_norm: Term::default(),
            class_shares: Vec::new(),
            gradient_path: GradientPath::Auto,
            simulated: Simulated::Draw,
            target_gradient: true,
            aggregate_views: AggregateViews::Both,
            aggregate_decay: 0.0,
            labelled_evidence: LabelledEvidence::Batch,
            labelled_share: 1.0,
            input_noise: 0.0,
            pseudo_labels: None,
        }
    }
}

impl Constrained {
    /// One step's terms, following a row x: encode it, decode its code, predict from its code;
    /// then simulate x-bar from the same code, encode that, and predict again.
    pub fn terms(&self, model: &Vae, batch: &Examples, noise: &Noise, progress: Progress) -> Terms {
        let share = progress.share;
        let rows = batch.rows();
        let x = batch.features.clone();
        let mut terms = Terms::default();

        // Evidence: x is encoded to q(z|x), a code z is drawn from it and decoded to p(x|z).
        let posterior = model.encode_with_noise(x.clone(), self.input_noise, noise);
        let normal = noise.normal(NoisePurpose::Code, [rows, model.code()]);
        let (z, kl) = posterior.sample_kl(normal);
        let decoder_output = model.decoder_output(z.clone());
        let decoded = model.likelihood(decoder_output.clone(), z.clone());
        let row_weights = self
            .labelled_evidence
            .row_weights(batch, self.labelled_share);
        let beta = self.beta.at(share);
        evidence::push(&mut terms, beta, x.clone(), &decoded, kl, row_weights);
        if !model.has_predictor() {
            return terms;
        }

        // The predictions that the other terms are about: for z, and for a code z-bar of features
        // x-bar that are simulated from z.
        let prediction = Prediction::new(model.predict(z.clone()), batch.classes);
        let simulated = self.consistency.is_used().then(|| {
            let original = Original {
                x,
                z,
                decoder_output,
                decoded: &decoded,
            };
            let path = self.gradient_path;
            let z_bar = consistency::simulated_code(model, original, path, self.simulated, noise);
            Prediction::new(model.predict(z_bar), batch.classes)
        });

        if batch.labelled > 0 {
            let labelled = prediction.rows(0..batch.labelled);
            let loss = labelled.loss(batch.labels.clone());
            let weight = self.prediction_weight(progress);
            terms.push("prediction", weight, mean_of_batch(loss, rows));
        }
        if let Some(simulated) = &simulated {
            let labels = batch.labels.clone();
            let cost = consistency::cost(simulated, &prediction, labels, self.target_gradient);
            terms.push("consistency", self.consistency.at(share), cost.mean());
        }
        if let Prediction::Classes(classes) = &prediction {
            if self.aggregate.is_used() && batch.labelled < rows {
                let mut cost = aggregate::cost(classes, batch.labelled, &self.class_shares);
                if let (AggregateViews::Both, Some(Prediction::Classes(simulated))) =
                    (self.aggregate_views, &simulated)
                {
                    cost = cost + aggregate::cost(simulated, batch.labelled, &self.class_shares);
                }
                terms.push("aggregate", self.aggregate_weight(share), cost);
            }
            if self.entropy.is_used() {
                terms.push("entropy", self.entropy.at(share), entropy::cost(classes));
            }
        }
        if let Some(pseudo_labels) = &self.pseudo_labels {
            let batch = (model, batch, noise);
            pseudo_labels.push(&mut terms, batch, &prediction, self.input_noise, share);
        }
        if self.predictor_norm.is_used() {
            let norm = model.predictor_squared_norm();
            terms.push("predictor_norm", self.predictor_norm.at(share), norm);
        }
        terms
    }

    /// Whether labels are used: not in the plain VAE.
    pub fn uses_labels(&self) -> bool {
        self.prediction.is_used() || self.consistency.is_used()
    }

    /// lambda: the constraint solver's, if there is one.
    fn prediction_weight(&self, progress: Progress) -> f64 {
        let configured = self.prediction.at(progress.share);
        progress.multiplier.unwrap_or(configured)
    }

    fn aggregate_weight(&self, share: f64) -> f64 {
        self.aggregate.at(share) * (1.0 - self.aggregate_decay * share.min(1.0))
    }
}

/// The sum over labelled rows divided by the size of the whole batch: unlabelled rows count zero.
fn mean_of_batch(loss: Tensor<1>, rows: usize) -> Tensor<1> {
    loss.sum().div_scalar(rows as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weight_rises_over_its_ramp_and_stays() {
        let term = Term {
            weight: 8.0,
            ramp: 0.5,
        };
        assert_eq!(
            [0.0, 0.25, 0.5, 1.0].map(|share| term.at(share)),
            [0.0, 4.0, 8.0, 8.0]
        );
        assert_eq!(Term::constant(8.0).at(0.0), 8.0);
    }

    #[test]
    fn a_solver_sets_lambda_and_the_aggregate_weight_falls() {
        let objective = Constrained {
            prediction: Term::constant(5.0),
            aggregate: Term::constant(4.0),
            aggregate_decay: 0.5,
            ..Constrained::default()
        };
        let at = |multiplier| {
            objective.prediction_weight(Progress {
                share: 0.5,
                multiplier,
            })
        };
        assert_eq!((at(None), at(Some(7.0))), (5.0, 7.0));
        assert_eq!(
            [0.0, 0.5, 1.0].map(|share| objective.aggregate_weight(share)),
            [4.0, 3.0, 2.0]
        );
    }
}
