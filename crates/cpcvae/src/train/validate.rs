//! Figures that control training: quality on validation rows, and the constraint's measure on
//! labelled rows.

use super::{Constraint, ConstraintMeasure};
use crate::error::{Error, Result};
use crate::infer::{Evaluation, Inference};
use crate::model::{Model, Target, Vae};
use crate::noise::{Noise, NoisePurpose};
use crate::objective::{Examples, Prediction};
use burn::module::Module;
use cpcvae_data::Dataset;

/// Draws of the code over which the constraint's loss is averaged at the end.
const DRAWS: usize = 20;

/// A figure that is larger for a better model.
pub(super) fn quality(evaluation: &Evaluation) -> Option<f64> {
    evaluation.quality().or(evaluation.elbo)
}

/// A figure that is smaller for a better model, and finer than accuracy.
pub(super) fn loss(evaluation: &Evaluation) -> Option<f64> {
    evaluation
        .log_loss
        .or(evaluation.rmse)
        .or(evaluation.elbo.map(|elbo| -elbo))
}

/// The constraint's measure on the labelled rows: the loss averaged over draws of the code, or
/// the accuracy at the code's mean.
pub(super) fn constraint_value(
    constraint: &Constraint,
    inference: &Inference,
    model: &Model,
    labelled: &Dataset,
    examples: &Examples,
    noise: &Noise,
) -> Result<f64> {
    match (constraint.measure, model) {
        (ConstraintMeasure::Accuracy, _) => Ok(inference
            .evaluate_predictions(labelled)
            .accuracy
            .unwrap_or(0.0)),
        (ConstraintMeasure::Loss, Model::Vae(vae)) => Ok(mean_loss(vae, examples, noise)),
        (ConstraintMeasure::Loss, _) => {
            let problem = "a constraint on the prediction loss needs a VAE with a predictor";
            Err(Error::Mismatch(problem.into()))
        }
    }
}

fn mean_loss(vae: &Vae, examples: &Examples, noise: &Noise) -> f64 {
    // In inference mode.
    let vae = vae.valid();
    let posterior = vae.encode(examples.features.clone().inner());
    let shape = [examples.rows(), vae.code()];
    let total: f64 = (0..DRAWS)
        .map(|draw| {
            let noise = noise.draw(draw + 1).normal(NoisePurpose::Evaluation, shape);
            let (z, _) = posterior.sample_kl(noise.inner());
            let prediction = Prediction::new(vae.predict(z), examples.classes);
            f64::from(
                prediction
                    .loss(examples.labels.clone().inner())
                    .mean()
                    .into_scalar::<f32>(),
            )
        })
        .sum();
    total / DRAWS as f64
}

/// All labelled rows as one batch, for the constraint.
pub(super) fn as_examples(
    labelled: &Dataset,
    target: &Target,
    device: &burn::tensor::Device,
) -> Result<Examples> {
    let rows = cpcvae_data::StepRows {
        labelled: (0..labelled.len() as u32).collect(),
        unlabelled: Vec::new(),
    };
    let batch = cpcvae_data::Batch::gather(labelled, 0, rows)?;
    Ok(Examples::from_batch(
        batch,
        target.outputs(),
        target.is_classes(),
        device,
    ))
}
