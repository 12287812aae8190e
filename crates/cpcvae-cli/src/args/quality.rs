//! Arguments of `quality`.

use super::ModelArgs;
use clap::Args;
use cpcvae::describe::Effort;
use cpcvae::estimator::QualityOptions;
use std::path::PathBuf;

/// Measure how well a model describes its data: log p(x), reconstructions, samples.
///
/// Works on test rows that the model was not trained on. It also trains a plain VAE of the same
/// shape and length, whose log p(x) is the reference, and a classifier on all labels of the data,
/// which judges samples; both are stored in RUN/quality and reused. docs/quality.md describes each
/// figure.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cpcvae quality runs/mnist-cpc mnist
  cpcvae quality runs/wine-cpc wine.csv --json
  cpcvae quality runs/mnist-cpc mnist --beside runs/mnist-vae --samples 500 --page samples.png")]
pub(crate) struct QualityArgs {
    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,
    /// The data that the run was trained on: a file, a folder, or a built-in data set
    #[arg(value_name = "DATA")]
    pub data: String,
    /// A run to compare log p(x) with, instead of training a plain VAE; it must have the same
    /// likelihood and scale floor
    #[arg(long, value_name = "RUN2")]
    pub beside: Option<PathBuf>,
    /// Draws of the code for log p(x) of a row
    #[arg(long, value_name = "K", default_value_t = Effort::default().draws as u32, value_parser = clap::value_parser!(u32).range(1..))]
    pub draws: u32,
    /// The most test rows to measure
    #[arg(long, value_name = "N", default_value_t = QualityOptions::default().rows as u32, value_parser = clap::value_parser!(u32).range(1..))]
    pub rows: u32,
    /// Samples of each class, for each way of drawing them
    #[arg(long, value_name = "N", default_value_t = Effort::default().samples as u32, value_parser = clap::value_parser!(u32).range(1..))]
    pub samples: u32,
    /// A drawn code is accepted when the predictor gives it the class with this probability
    #[arg(long, value_name = "P", default_value_t = Effort::default().threshold)]
    pub threshold: f32,
    /// The most codes drawn for a class
    #[arg(long, value_name = "N", default_value_t = Effort::default().most_codes as u32, value_parser = clap::value_parser!(u32).range(1..))]
    pub max_draws: u32,
    /// Judge draws from p(x|z) instead of its mean
    #[arg(long)]
    pub noisy: bool,
    /// Images: file for the page of samples and reconstructions, .png or .svg [default:
    /// RUN/quality/page.png]
    #[arg(long, value_name = "FILE")]
    pub page: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}
