//! How well a model describes its data: the density of rows that it was not trained on, its
//! reconstructions of them, and its samples, judged by an independent classifier.
//!
//! [`Parts`] splits the rows into measured and training ones, [`train_classifier`] and
//! [`train_plain_vae`] train the models for comparison, and [`describe`] measures.

mod classifier;
mod frechet;
mod parts;
mod plain_vae;
mod reconstructed;
mod samples;
mod trainings;

pub use classifier::{Judge, train_classifier};
pub use parts::{Measured, Parts};
pub use plain_vae::{check_comparable, train_plain_vae};
pub use reconstructed::Reconstructed;
pub use samples::{ClassFigures, Drawn, Group, SampleFigures, Way};

use crate::distribution::Family;
use crate::error::{Error, Remedy, Result};
use crate::model::ModelKind;
use crate::run::Trained;
use cpcvae_data::Dataset;
use serde::Serialize;

/// Numbers of draws.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Draws of the code for log p(x) of a row.
    pub draws: usize,
    /// Samples of each class.
    pub samples: usize,
    /// A code counts as one of the class at this predicted probability.
    pub threshold: f32,
    /// The most codes drawn for each class.
    pub most_codes: usize,
    /// Whether samples are draws from p(x|z) instead of its mean.
    pub noisy: bool,
}

impl Default for Effort {
    fn default() -> Self {
        Self {
            draws: 50,
            samples: 100,
            threshold: 0.95,
            most_codes: 200_000,
            noisy: false,
        }
    }
}

/// The measured figures.
#[derive(Clone, Debug, Serialize)]
pub struct Description {
    /// Rows that log p(x) and reconstructions are means over.
    pub rows: usize,
    /// Which rows these are.
    pub measured: Measured,
    /// Densities are comparable only at the same likelihood and floor.
    pub likelihood: Family,
    /// Smallest standard deviation of the likelihood; nothing for one that has none.
    pub scale_floor: Option<f32>,
    /// Draws of the code for each row.
    pub draws: usize,
    /// Mean of log p(x) in nats.
    pub log_likelihood: f64,
    /// The same of the plain VAE for comparison.
    pub beside: Option<f64>,
    /// The difference in percent of the plain VAE's magnitude.
    pub more_than_beside: Option<f64>,
    /// Reconstructions of the same rows.
    pub reconstructed: Reconstructed,
    /// Accuracy of the independent classifier on labelled rows that were in neither its training
    /// nor the model's.
    pub classifier_accuracy: Option<f64>,
    /// The same on these rows transformed as much as the model transforms images; `None` if it does
    /// not.
    pub classifier_moved_accuracy: Option<f64>,
    /// Number of labels in the classifier's training.
    pub classifier_labels: Option<usize>,
    /// Fréchet distance between the measured rows and as many training rows: that of a perfect
    /// generator.
    pub frechet_of_real_rows: Option<f64>,
    /// Figures of the samples, for each way of drawing them.
    pub samples: Vec<SampleFigures>,
}

/// Refuses models without a generative part.
pub fn check_generative(trained: &Trained) -> Result<()> {
    match trained.card.shape.kind {
        ModelKind::Classifier => Err(Error::Mismatch(format!(
            "the method `{}` has no generative part, so there is nothing to describe data with; \
             its predictions can be evaluated",
            trained.card.method
        ))
        .with_remedy(Remedy::Evaluate)),
        _ => Ok(()),
    }
}

/// Measures a model, and returns the samples that were judged. `beside` is the plain VAE; without a
/// `judge`, samples are drawn but not judged.
pub fn describe(
    trained: &Trained,
    parts: &Parts,
    beside: Option<&Trained>,
    judge: Option<&Judge>,
    effort: Effort,
) -> Result<(Description, Vec<Drawn>)> {
    check_generative(trained)?;
    let shape = &trained.card.shape;
    if let Some(other) = beside {
        check_comparable(trained, other)?;
    }
    let rows = &parts.measured;
    let log_likelihood = mean_log_likelihood(trained, rows, effort.draws)?;
    let beside = match beside {
        Some(other) => Some(mean_log_likelihood(other, rows, effort.draws)?),
        None => None,
    };
    let drawn = samples::draw(trained, effort)?;
    let mut figures = Vec::new();
    for drawn in &drawn {
        figures.push(samples::figures(drawn, parts, judge, effort)?);
    }
    let description = Description {
        rows: rows.len(),
        measured: parts.kind,
        likelihood: shape.likelihood,
        scale_floor: shape.likelihood.has_scale().then_some(shape.scale_floor),
        draws: effort.draws,
        log_likelihood,
        beside,
        more_than_beside: beside.map(|of_vae| 100.0 * (log_likelihood - of_vae) / of_vae.abs()),
        reconstructed: reconstructed::measure(trained, rows)?,
        classifier_accuracy: judge.and_then(|judge| judge.accuracy),
        classifier_moved_accuracy: judge.and_then(|judge| judge.moved_accuracy),
        classifier_labels: judge.map(|judge| judge.labels),
        frechet_of_real_rows: match judge {
            Some(judge) => judge.distance_of_real_rows(parts)?,
            None => None,
        },
        samples: figures,
    };
    Ok((description, drawn))
}

/// The mean of importance-weighted log p(x) over unprepared rows, in their units.
fn mean_log_likelihood(trained: &Trained, rows: &Dataset, draws: usize) -> Result<f64> {
    let preprocess = &trained.card.preprocess;
    let prepared = preprocess.apply(rows.clone())?.features;
    let scores = trained.inference.score(&prepared, draws)?;
    let in_units = |(row, score): (usize, &f32)| {
        f64::from(score + preprocess.log_density_shift(&prepared.row(row)))
    };
    let sum: f64 = scores.log_likelihood.iter().enumerate().map(in_units).sum();
    Ok(sum / rows.len().max(1) as f64)
}
