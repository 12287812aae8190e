//! The second stage of `vae-then-mlp`: a predictor on the codes of a frozen encoder.

use super::{Examples, Prediction, Terms};
use crate::model::Vae;
use crate::noise::{Noise, NoisePurpose};
use burn::module::Module;
use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

/// The prediction loss and the predictor's squared weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PredictorOnly {
    /// Weight of the predictor's squared weights.
    pub predictor_norm: f64,
}

impl PredictorOnly {
    /// The mean loss over labelled rows, with z drawn from q(z|x) and no gradient into q.
    pub fn terms(&self, model: &Vae, batch: &Examples, noise: &Noise) -> Terms {
        let mut terms = Terms::default();
        let code_noise = noise.normal(NoisePurpose::Code, [batch.labelled, model.code()]);
        // In inference mode, so that the codes do not depend on this batch's statistics.
        let (z, _) = model
            .valid()
            .encode(batch.labelled_features().inner())
            .sample_kl(code_noise.inner());
        let prediction = Prediction::new(model.predict(Tensor::from_inner(z)), batch.classes);
        let loss = prediction.loss(batch.labels.clone());
        terms.push("prediction", 1.0, loss.mean());
        if self.predictor_norm != 0.0 {
            let norm = model.predictor_squared_norm();
            terms.push("predictor_norm", self.predictor_norm, norm);
        }
        terms
    }
}
