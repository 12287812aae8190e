//! Options of `fit`, and arguments of `demo` and `data`.

use super::{ImageArgs, PlaceArgs, ReadArgs};
use clap::{Args, Subcommand, builder::PossibleValuesParser};
use std::path::PathBuf;
use std::time::Duration;

/// The options of `fit`, which other commands take as well.
#[derive(Debug, Args)]
pub(crate) struct FitArgs {
    /// A table (CSV, TSV, also .gz and .zst; Parquet, NPY, NPZ, .h5ad), a folder or zip of images,
    /// IDX or .mat images, or half-moon, glyphs, mnist, svhn, norb, celeba
    #[arg(value_name = "DATA")]
    pub data: String,
    /// The method; `cpcvae methods` describes them [default: cpc]
    #[arg(long, short, value_name = "METHOD",
          value_parser = PossibleValuesParser::new(cpcvae::method::NAMES))]
    pub method: Option<String>,
    /// Folder of the run [default: runs/<data>-<method>]
    #[arg(long, short, value_name = "RUN")]
    pub out: Option<PathBuf>,
    /// Resume the run in that folder, with its settings
    #[arg(long)]
    pub resume: bool,
    /// Remove the run in that folder first
    #[arg(long, conflicts_with = "resume")]
    pub overwrite: bool,
    /// Seed of the split, weights, batches and noise [default: 0]
    #[arg(long, value_name = "S")]
    pub seed: Option<u32>,
    /// Train for this many passes over the data
    #[arg(long, value_name = "N", conflicts_with = "max_steps")]
    pub epochs: Option<f64>,
    /// Train for this many steps
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_steps: Option<u32>,
    /// Dimensions of the code
    #[arg(long, value_name = "C", value_parser = clap::value_parser!(u32).range(1..))]
    pub code: Option<u32>,
    /// Networks: dense layers, or a wide residual network before them, for images [default: mlp]
    #[arg(long, value_parser = PossibleValuesParser::new(["mlp", "wrn"]))]
    pub net: Option<String>,
    /// The set of defaults: ours, or the paper's protocol, networks and weights (half-moon, mnist,
    /// svhn, norb, celeba) [default: default]
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(["default", "paper"]))]
    pub preset: Option<String>,
    /// Old name of `--preset paper`
    #[arg(long, hide = true, conflicts_with = "preset")]
    pub paper: bool,
    /// A TOML file of settings
    #[arg(long, short, value_name = "FILE.toml")]
    pub config: Option<PathBuf>,
    /// One setting, such as train.learning_rate=1e-3; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,

    /// Write every term, validation and sample images for TensorBoard into this folder
    #[arg(long, value_name = "DIR")]
    pub tensorboard: Option<PathBuf>,
    /// No progress; warnings stay
    #[arg(long, short)]
    pub quiet: bool,
    /// Print the report as one JSON object
    #[arg(long)]
    pub json: bool,

    /// Label column (of a table, or of the labels file of images); repeat it for a continuous label
    /// of several dimensions
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    pub label: Vec<String>,
    /// How many labels training may use, equally many a class; 0 for all
    #[arg(long, value_name = "N", help_heading = "Data")]
    pub labels: Option<u32>,
    /// What the labels are; guessed when not given
    #[arg(long, help_heading = "Data", value_parser = PossibleValuesParser::new(["classify", "regress"]))]
    pub task: Option<String>,
    /// A label that means "not labelled", next to blank, NaN and -1
    #[arg(
        long,
        value_name = "V",
        help_heading = "Data",
        allow_hyphen_values = true
    )]
    pub unlabeled_value: Option<String>,
    /// A column to leave out; may be repeated
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    pub ignore: Vec<String>,
    /// A column's kind, where the guess is wrong: number, flag, category, count or ignore; may be
    /// repeated
    #[arg(long, value_name = "NAME=KIND", help_heading = "Data")]
    pub column: Vec<String>,
    /// The column that names the rows; not a feature, and copied to the output
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    pub id: Option<String>,
    /// A value that means "missing", next to blank, NA, NaN, null and ?; may be repeated
    #[arg(
        long,
        value_name = "V",
        help_heading = "Data",
        allow_hyphen_values = true
    )]
    pub missing: Vec<String>,
    /// Rows to validate on: a share below 1, or a number of rows
    #[arg(long, value_name = "X", help_heading = "Data")]
    pub validation: Option<f64>,
    /// Rows to test on: a share below 1, or a number of rows [default: none, labels are held out in turn]
    #[arg(long, value_name = "X", help_heading = "Data")]
    pub test: Option<f64>,

    /// How files are read.
    #[command(flatten)]
    pub read: ReadArgs,
    /// How images are converted.
    #[command(flatten)]
    pub images: ImageArgs,

    /// Hold labels out in this many folds, for an unbiased accuracy, calibration and comparison
    /// [default: 5 for a table, 10 if it has at most 500 labels, 3 for images, none for built-in
    /// data]
    #[arg(long, value_name = "N", help_heading = "Held-out labels",
          value_parser = clap::value_parser!(u16).range(2..))]
    pub folds: Option<u16>,
    /// Repeat the folds this many times
    #[arg(long, value_name = "N", help_heading = "Held-out labels", default_value_t = 1,
          value_parser = clap::value_parser!(u16).range(1..))]
    pub repeats: u16,
    /// Hold no labels out: no estimate without test rows, no calibration, no comparison
    #[arg(long, help_heading = "Held-out labels",
          conflicts_with_all = ["folds", "repeats", "no_compare"])]
    pub no_crossfit: bool,
    /// Hold labels out, but do not train the baselines to compare with
    #[arg(long, help_heading = "Held-out labels")]
    pub no_compare: bool,

    /// Keep the runs of the folds in `crossfit/`, which are removed at the end
    #[arg(long, help_heading = "Held-out labels", conflicts_with = "no_crossfit")]
    pub keep_folds: bool,

    /// Fit everything into about this time, such as 60s or 5m, by fewer steps and, if needed, fewer
    /// folds
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub budget: Option<Duration>,

    /// Constraint: the loss on labelled rows must be at most EPS
    #[arg(
        long,
        value_name = "EPS",
        help_heading = "Constraint",
        conflicts_with = "target_accuracy"
    )]
    pub target_loss: Option<f64>,
    /// Constraint: the accuracy on labelled rows must be at least A
    #[arg(long, value_name = "A", help_heading = "Constraint")]
    pub target_accuracy: Option<f64>,
    /// How the multiplier is found: dual ascent, or the paper's increasing sequence
    #[arg(long, help_heading = "Constraint", value_parser = PossibleValuesParser::new(["dual", "sequence"]))]
    pub solver: Option<String>,

    /// Device and threads.
    #[command(flatten)]
    pub place: PlaceArgs,
}

/// A time such as 60s, 5m or 1.5h; a number alone is seconds.
pub(super) fn time(text: &str) -> Result<Duration, String> {
    let units = [("s", 1.0), ("m", 60.0), ("h", 3600.0)];
    let unit = units
        .iter()
        .find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, *seconds)));
    let (number, seconds) = unit.unwrap_or((text, 1.0));
    match number.trim().parse::<f64>() {
        Ok(number) if number > 0.0 && number * seconds <= 1e9 => {
            Ok(Duration::from_secs_f64(number * seconds))
        }
        _ => Err("must be a time such as 60s, 5m or 1.5h".into()),
    }
}

/// Train four methods on generated data with few labels, and compare them.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  cpcvae demo\n  cpcvae demo --images --out demo-images")]
pub(crate) struct DemoArgs {
    /// Small images instead of points in the plane
    #[arg(long)]
    pub images: bool,
    /// Folder for runs and figures
    #[arg(long, short, value_name = "DIR", default_value = "demo")]
    pub out: PathBuf,
    /// Seed of random draws
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub seed: u32,
    /// No progress
    #[arg(long, short)]
    pub quiet: bool,
    /// Print the results as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Device and threads.
    #[command(flatten)]
    pub place: PlaceArgs,
}

/// List, describe, fetch or export the built-in data sets.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  cpcvae data list\n  cpcvae data info glyphs\n  cpcvae data fetch mnist\n  cpcvae data export half-moon --labels 60 --out moons.csv"
)]
pub(crate) struct DataArgs {
    /// The action.
    #[command(subcommand)]
    pub command: DataCommand,
    /// Folder of downloaded data sets; by default a folder in your cache
    #[arg(
        long,
        value_name = "DIR",
        env = "CPCVAE_DATA",
        hide_env_values = true,
        global = true
    )]
    pub data_dir: Option<PathBuf>,
}

/// Actions on built-in data sets.
#[derive(Debug, Subcommand)]
pub(crate) enum DataCommand {
    /// All built-in data sets
    List,
    /// Describe one
    Info {
        /// Its name
        name: String,
    },
    /// Download one, with checksums
    Fetch {
        /// Its name
        name: String,
    },
    /// Write one as a table, to see what a table looks like or to use it elsewhere
    Export(ExportArgs),
}

/// Arguments of `data export`.
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Its name
    pub name: String,
    /// The file; standard output when not given
    #[arg(long, short, value_name = "FILE.csv")]
    pub out: Option<PathBuf>,
    /// Leave the label of all but this many rows blank
    #[arg(long, value_name = "N", conflicts_with = "test")]
    pub labels: Option<u32>,
    /// The test rows instead of the training rows
    #[arg(long)]
    pub test: bool,
    /// Seed of generated data and of the choice of labels
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub seed: u32,
}
