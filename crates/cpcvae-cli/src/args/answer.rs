//! Arguments of the commands that use a trained model.

use super::{PlaceArgs, ReadArgs};
use clap::{Args, ValueEnum};
use cpcvae::estimator::{PredictOptions, SampleOptions};
use cpcvae::infer::IMPUTE_ITERATIONS;
use std::path::PathBuf;

/// The model.
#[derive(Clone, Debug, Args)]
pub(crate) struct ModelArgs {
    /// Folder of a finished run
    #[arg(value_name = "RUN")]
    pub run: PathBuf,
    /// Seed of random draws
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub seed: u32,
    /// Device and threads.
    #[command(flatten)]
    pub place: PlaceArgs,
}

/// The rows.
#[derive(Clone, Debug, Args)]
pub(crate) struct RowsArgs {
    /// A table with the model's columns (CSV, TSV, Parquet, NPY, NPZ, .h5ad), a folder or zip of
    /// images, IDX or .mat images, or a built-in data set, of which the test rows are used if it
    /// has any. Images are converted to the model's size, and to grey if it was trained on grey
    /// ones
    #[arg(value_name = "DATA")]
    pub data: String,
    /// How it is read.
    #[command(flatten)]
    pub read: ReadArgs,
}

/// Columns of the input that are copied to the output.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct PassthroughArgs {
    /// A column to copy to the output; may be repeated [default: the run's id column; files of
    /// images]
    #[arg(long, value_name = "COLUMN")]
    pub id: Vec<String>,
}

/// Measure a model: accuracy, log-loss, confusion matrix, ELBO.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cpcvae evaluate runs/half-moon-cpc half-moon
  cpcvae evaluate runs/wine-cpc held-out.csv --figure confusion.png")]
pub(crate) struct EvaluateArgs {
    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,
    /// The rows.
    #[command(flatten)]
    pub rows: RowsArgs,
    /// Label column [default: the one that the run was trained with]
    #[arg(long, value_name = "COLUMN")]
    pub label: Vec<String>,
    /// A label that means "not labelled", next to blank, NaN and -1
    #[arg(long, value_name = "V", allow_hyphen_values = true)]
    pub unlabeled_value: Option<String>,
    /// Draw the confusion matrix into a .png or .svg file
    #[arg(long, value_name = "FILE")]
    pub figure: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Predict labels, with probabilities, conformal sets and how unusual each row is.
///
/// Writes CSV or Parquet: row (counted from 0), id columns, label, p_<class> for each class, set,
/// log_p, percentile. Probabilities are calibrated, and conformal sets (classes joined by |, or
/// empty if no class is likely enough) are sized, on labels that `fit` held out. Continuous labels
/// come with <label>_low and <label>_high, in the units of the training table. A percentile near 0
/// marks a row unlike the training rows.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cpcvae predict runs/wine-cpc new.csv
  cpcvae predict runs/wine-cpc new.csv --coverage 0.95 --id bottle
  cpcvae predict runs/wine-cpc new.csv --samples 100 --out labels.csv")]
pub(crate) struct PredictArgs {
    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,
    /// The rows.
    #[command(flatten)]
    pub rows: RowsArgs,
    /// Average over this many draws of the code; 0 predicts at its mean
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub samples: u32,
    /// Coverage of sets and intervals: how often they contain the truth
    #[arg(long, value_name = "SHARE", default_value_t = PredictOptions::default().coverage, value_parser = coverage)]
    pub coverage: f64,
    /// Leave out log_p and percentile, which take 20 decoder passes per row
    #[arg(long)]
    pub no_density: bool,
    /// Add the class that each voter of an ensemble predicts: the network and every member
    #[arg(long)]
    pub explain: bool,
    /// The columns to copy.
    #[command(flatten)]
    pub passthrough: PassthroughArgs,
    /// Write to this file instead of standard output; Parquet if its name ends in .parquet
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// Encode rows: mean and standard deviation of q(z|x).
///
/// Writes CSV: row (counted from 0), id columns, mean_0, mean_1, ..., sigma_0, sigma_1, ...
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  cpcvae encode runs/wine-cpc new.csv --out codes.csv")]
pub(crate) struct EncodeArgs {
    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,
    /// The rows.
    #[command(flatten)]
    pub rows: RowsArgs,
    /// The columns to copy.
    #[command(flatten)]
    pub passthrough: PassthroughArgs,
    /// Write to this file instead of standard output
    #[arg(long, short, value_name = "FILE.csv")]
    pub out: Option<PathBuf>,
}

/// Score how probable rows are: ELBO and log-likelihood.
///
/// Both in nats; the log-likelihood is estimated from K importance-weighted codes. Densities of
/// tables are in the units of the file's columns. Low scores mark unusual rows.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cpcvae score runs/wine-cpc new.csv --out scores.csv
  cpcvae score runs/glyphs-cpc glyphs --json")]
pub(crate) struct ScoreArgs {
    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,
    /// The rows.
    #[command(flatten)]
    pub rows: RowsArgs,
    /// The columns to copy.
    #[command(flatten)]
    pub passthrough: PassthroughArgs,
    /// Draws of the code for each row
    #[arg(long, value_name = "K", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    pub samples: u32,
    /// Write row, elbo and log_likelihood to this file instead of standard output
    #[arg(long, short, value_name = "FILE.csv")]
    pub out: Option<PathBuf>,
    /// Print the means as one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Kinds of reconstructions.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ReconstructionKind {
    /// The mean of p(x|z) at the mean code
    Mean,
    /// A draw of p(x|z) at the mean code
    Sampled,
    /// The mean with the affine transform removed, so that all images are aligned
    Aligned,
    /// A draw with a random affine transform, as used by the consistency cost
    Transformed,
}

/// Reconstruct rows through the code.
///
/// Writes CSV, or for images a grid of originals above reconstructions.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cpcvae reconstruct runs/glyphs-cpc glyphs --out reconstructions.png
  cpcvae reconstruct runs/glyphs-cpc glyphs --kind aligned --rows 40 --out aligned.png
  cpcvae reconstruct runs/wine-cpc new.csv --out reconstructions.csv")]
pub(crate) struct ReconstructArgs {
    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,
    /// The rows.
    #[command(flatten)]
    pub rows: RowsArgs,
    /// Kind of reconstruction
    #[arg(long, value_enum, default_value = "mean")]
    pub kind: ReconstructionKind,
    /// Only the first N rows [default: 20 in a figure, else all]
    #[arg(long = "rows", value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub first: Option<u32>,
    /// A .csv file, or a .png or .svg figure for images
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// Sample new rows, of all classes or of one.
///
/// For a class, the paper's rejection sampler draws codes from the prior and accepts those that the
/// predictor assigns to the class with at least the threshold's probability.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cpcvae sample runs/glyphs-cpc --out samples.png
  cpcvae sample runs/glyphs-cpc --each-class --out classes.png
  cpcvae sample runs/wine-cpc --class red --count 100 --noisy --out red.csv")]
pub(crate) struct SampleArgs {
    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,
    /// How many rows, of each class if there are several [default: 10 a class, else 50]
    #[arg(long, short = 'n', value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub count: Option<u32>,
    /// Only of this class
    #[arg(long, value_name = "NAME", conflicts_with = "each_class")]
    pub class: Option<String>,
    /// Of every class
    #[arg(long)]
    pub each_class: bool,
    /// Where codes are drawn from
    #[arg(long, value_name = "SOURCE", value_enum, default_value_t = CodesArg::Fitted)]
    pub codes: CodesArg,
    /// Probability of the class from which on a code is accepted
    #[arg(long, value_name = "P", default_value_t = SampleOptions::default().threshold)]
    pub threshold: f32,
    /// The most codes drawn for a class
    #[arg(long, value_name = "N", default_value_t = SampleOptions::default().most_codes as u32, value_parser = clap::value_parser!(u32).range(1..))]
    pub max_draws: u32,
    /// Draw from p(x|z) instead of taking its mean
    #[arg(long)]
    pub noisy: bool,
    /// A .csv file, or a .png or .svg figure (images, and tables of two columns)
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// The sources of codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CodesArg {
    /// Mixtures of normal distributions fitted to the codes of training rows, one a class
    Fitted,
    /// The prior N(0, I), as in the paper
    Prior,
}

/// Impute missing cells of a table.
///
/// Writes CSV with the same columns in the same order; known cells are unchanged. Missing cells of
/// the model's columns are filled with the best guess given the row's other cells (a mean, the most
/// probable level), or with draws. They are decoded from codes that explain the known cells.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cpcvae impute runs/wine-cpc gaps.csv --out filled.csv
  cpcvae impute runs/wine-cpc gaps.csv --samples 5 --out draws.csv   five tables one below the other, with a first column `draw`")]
pub(crate) struct ImputeArgs {
    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,
    /// The rows.
    #[command(flatten)]
    pub rows: RowsArgs,
    /// Fill with this many draws instead of the mean
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub samples: u32,
    /// Steps of the search for a row's code
    #[arg(long, value_name = "N", default_value_t = IMPUTE_ITERATIONS as u32, value_parser = clap::value_parser!(u32).range(1..))]
    pub iterations: u32,
    /// Write to this file instead of standard output
    #[arg(long, short, value_name = "FILE.csv")]
    pub out: Option<PathBuf>,
}

/// Suggest the rows to label next.
///
/// Writes CSV, the best row first: row (counted from 0), id columns, label (the model's
/// prediction), entropy of the prediction in nats, percentile (how typical the row is). Rows are
/// chosen by entropy times percentile, and for diversity of their codes. Rows that already have a
/// label are left out.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  cpcvae suggest runs/wine-cpc wine.csv -n 20 --out label-these.csv\n  cpcvae suggest runs/wine-cpc wine.csv --doubtful"
)]
pub(crate) struct SuggestArgs {
    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,
    /// The rows.
    #[command(flatten)]
    pub rows: RowsArgs,
    /// How many rows
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub count: u32,
    /// List labels of the training table that may be wrong instead, the most doubtful first
    #[arg(long)]
    pub doubtful: bool,
    /// The columns to copy.
    #[command(flatten)]
    pub passthrough: PassthroughArgs,
    /// Write to this file instead of standard output
    #[arg(long, short, value_name = "FILE.csv")]
    pub out: Option<PathBuf>,
}

/// A share strictly between 0 and 1.
fn coverage(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if share > 0.0 && share < 1.0 => Ok(share),
        _ => Err("must be a share between 0 and 1, such as 0.9".into()),
    }
}
