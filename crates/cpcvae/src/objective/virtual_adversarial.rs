//! Virtual adversarial training (Miyato et al. 2019): the prediction for a row must stay the same
//! under the small perturbation of its features that changes it most.

use super::{Examples, Prediction, Terms, entropy};
use crate::model::Classifier;
use crate::noise::{Noise, NoisePurpose};
use burn::module::Module;
use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

/// The weight of the previous direction in the new one, relative to the gradient's largest entry:
/// negligible, except for a gradient that is exactly zero, which would leave no direction at all.
const FORMER: f32 = 1e-6;

/// The weights of the terms, and the search for the perturbation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VirtualAdversarial {
    /// alpha, of the divergence under the worst perturbation.
    pub adversarial: f64,
    /// Of the entropy of predictions.
    pub entropy: f64,
    /// How the worst perturbation is found.
    pub search: WorstChange,
}

/// Power iteration for the direction in which the prediction changes fastest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorstChange {
    /// Root mean square perturbation of a feature: the length epsilon is this times the root of the
    /// number of features.
    pub radius: f64,
    /// Length xi of the finite-difference perturbation, as a share of epsilon.
    pub probe: f64,
    /// Number K of power iterations.
    pub iterations: usize,
}

impl VirtualAdversarial {
    /// One step's terms, each a mean over the whole batch.
    pub fn terms(&self, model: &Classifier, batch: &Examples, noise: &Noise) -> Terms {
        let rows = batch.rows();
        let mut terms = Terms::default();
        let x = batch.features.clone();
        let prediction = Prediction::new(model.predict(x.clone()), batch.classes);
        if batch.labelled > 0 {
            let labelled = prediction.rows(0..batch.labelled);
            let loss = labelled.loss(batch.labels.clone());
            terms.push("prediction", 1.0, loss.sum().div_scalar(rows as f64));
        }
        if self.adversarial != 0.0 {
            // The prediction for the unperturbed row is a fixed target.
            let kept = prediction.detach();
            let change = self.search.find(model, x.clone(), &kept, noise);
            let changed = Prediction::new(model.predict(x + change), batch.classes);
            let divergence = changed.divergence_from(&kept);
            terms.push("adversarial", self.adversarial, divergence.mean());
        }
        if let (Prediction::Classes(classes), true) = (&prediction, self.entropy != 0.0) {
            terms.push("entropy", self.entropy, entropy::cost(classes));
        }
        terms
    }
}

impl WorstChange {
    /// epsilon for rows of this many features.
    pub fn length(&self, features: usize) -> f64 {
        self.radius * (features as f64).sqrt()
    }

    /// A perturbation of length epsilon for each row of `x [rows, features]` that increases the
    /// divergence from `kept`, the predictions for `x`: `[rows, features]`, without gradient.
    ///
    /// The divergence is minimal at zero and quadratic for small perturbations, with a Hessian H.
    /// Its gradient at a short perturbation d is H d, and normalising H d repeatedly turns d
    /// towards the dominant eigenvector. It starts from a random direction.
    pub fn find(
        &self,
        model: &Classifier,
        x: Tensor<2>,
        kept: &Prediction,
        noise: &Noise,
    ) -> Tensor<2> {
        let [rows, features] = x.dims();
        let length = self.length(features);
        // Only the perturbation needs a gradient: weights without gradients save a third of the
        // work.
        let frozen = model.clone().no_grad();
        let mut direction = unit(noise.normal(NoisePurpose::Direction, [rows, features]));
        for _ in 0..self.iterations {
            let probe = direction
                .clone()
                .mul_scalar(self.probe * length)
                .autodiff()
                .require_grad();
            let outputs = frozen.predict(x.clone() + probe.clone());
            let changed = Prediction::new(outputs, kept.is_classes());
            let gradients = changed.divergence_from(kept).sum().backward();
            let Some(gradient) = probe.grad(&gradients) else {
                break; // a network without inputs: nothing can be changed
            };
            let gradient = Tensor::from_inner(gradient);
            let largest = gradient
                .clone()
                .abs()
                .max_dim(1)
                .clamp_min(f32::MIN_POSITIVE);
            direction = unit(gradient / largest + direction.mul_scalar(FORMER));
        }
        direction.mul_scalar(length)
    }
}

/// Rows normalised to length 1, `[rows, features]`.
fn unit(rows: Tensor<2>) -> Tensor<2> {
    let length = rows.clone().square().sum_dim(1).sqrt();
    rows / length.clamp_min(f32::MIN_POSITIVE)
}
