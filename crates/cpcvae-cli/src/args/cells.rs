//! Arguments of `fit` and `learning-curve`, whose trainings can be done one by one.

use super::FitArgs;
use clap::Args;
use std::path::PathBuf;

const FIT_EXAMPLES: &str = "\
Examples:
  cpcvae fit half-moon --preset paper                the paper's first figure
  cpcvae fit mnist --labels 100                      100 labels, in minutes
  cpcvae fit mnist --preset paper                    the paper's network, weights and protocol
  cpcvae fit svhn --labels 1000 --net wrn            house numbers, with the paper's network
  cpcvae fit wine.csv --label kind --ignore id       a table; rows with a blank `kind` are unlabelled
  cpcvae fit wine.csv --label kind --labels 30       use 30 of the labels, hide the others
  cpcvae fit house.csv --label price --task regress  a continuous label
  cpcvae fit cells.h5ad --label cell_type --id obs_names
  cpcvae fit photos/ --size 32 --gray                images; a sub-folder is a class, unlabeled/ is none
  cpcvae fit faces.zip --size 32 --labels-file list_attr_celeba.txt --label Smiling
  cpcvae fit p.csv --label ill --id nr --column town_code=category --missing -99
  cpcvae fit half-moon --target-accuracy 0.95        state the constraint instead of a weight
  cpcvae fit half-moon --out runs/a --resume         resume a run that was stopped
  cpcvae fit glyphs --set model.hidden=[300] --set train.learning_rate=1e-3

Settings: defaults, then the file of -c, then --set, then flags. The run folder's config.toml
lists every key.";

/// Cells of `fit` and `learning-curve`.
#[derive(Debug, Args)]
pub(crate) struct CellArgs {
    /// List the trainings of this command (cells) with their numbers, and stop
    #[arg(long, help_heading = "Cells", conflicts_with_all = ["cell", "overwrite"])]
    pub list_cells: bool,
    /// Do one of these trainings and stop; without a number, the one given by HQ_TASK_ID,
    /// SLURM_ARRAY_TASK_ID or JOB_COMPLETION_INDEX. The same command without it (`fit`: with
    /// --resume) then uses those that are finished
    #[arg(long, value_name = "N", help_heading = "Cells", num_args = 0..=1, conflicts_with = "overwrite")]
    pub cell: Option<Option<usize>>,
}

impl CellArgs {
    /// Whether one is wanted, or their list.
    pub(crate) fn are_given(&self) -> bool {
        self.list_cells || self.cell.is_some()
    }
}

/// Train a model on a table, on images or on a built-in data set.
///
/// Everything is written to one run folder: settings, split, metrics, checkpoints, the model and
/// its report. A run that was stopped or killed is continued with --resume and ends with the same
/// bytes.
///
/// On your own data, labels are then held out fold by fold, and the method and its baselines
/// (labels only, VAE then MLP, nearest neighbours, label spreading) are trained without them: for
/// an unbiased accuracy, for calibrated probabilities, and to test whether the unlabelled rows
/// help.
#[derive(Debug, Args)]
#[command(after_help = FIT_EXAMPLES)]
pub(crate) struct FitOrCellArgs {
    /// The options.
    #[command(flatten)]
    pub fit: FitArgs,
    /// One training of it.
    #[command(flatten)]
    pub cells: CellArgs,
}

/// Measure accuracy against the number of labels, to see whether more are worth buying.
///
/// Labels are held out fold by fold; models are trained on a few, some and all of the others and
/// evaluated on the same held-out rows. Takes the options of `fit`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cpcvae learning-curve wine.csv --label kind
  cpcvae learning-curve wine.csv --label kind --counts 10,20,40 --figure curve.png")]
pub(crate) struct LearningCurveArgs {
    /// The options of `fit`.
    #[command(flatten)]
    pub fit: FitArgs,
    /// Numbers of labels [default: four, up to all that are not held out]
    #[arg(long, value_name = "N,N,...", value_delimiter = ',', help_heading = "Held-out labels",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub counts: Vec<u32>,
    /// A .png or .svg figure [default: learning-curve.png in the run folder]
    #[arg(long, value_name = "FILE")]
    pub figure: Option<PathBuf>,
    /// One training of it.
    #[command(flatten)]
    pub cells: CellArgs,
}
