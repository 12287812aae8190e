//! Arguments of `experiment`.

use super::PlaceArgs;
use clap::{Args, builder::PossibleValuesParser};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  cpcvae experiment --list                             what there is
  cpcvae experiment fig1-half-moon --quick             a small version, in a minute or two
  cpcvae experiment table2-mnist --only 'labels only'  one row of it
  cpcvae experiment table2-mnist                       all of it; stop and repeat at will
  cpcvae experiment --file mine.toml                   your own
  cpcvae experiment table2-mnist --list-cells          its trainings, with their numbers
  cpcvae experiment table2-mnist --cell 7              one of them, here or on another machine
  cpcvae experiment table2-mnist --merge               what cells gave, put together
  cpcvae experiment table2-mnist --on slurm            an array of all of them, for sbatch

Every finished training is a line in RESULTS/NAME.jsonl, with its settings; only what is missing
there is trained. Table and figures are written beside it.";

/// Run an experiment: train what is missing, then make its table and figures.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ExperimentArgs {
    /// Its name
    #[arg(required_unless_present_any = ["list", "file"])]
    pub name: Option<String>,
    /// List the experiments
    #[arg(long, conflicts_with_all = ["name", "file"])]
    pub list: bool,
    /// A plan of your own instead of a name
    #[arg(long, value_name = "FILE.toml", conflicts_with = "name")]
    pub file: Option<PathBuf>,
    /// The small version, with results of its own
    #[arg(long)]
    pub quick: bool,
    /// Draws of every method, with the seeds 0, 1, ... [default: the plan's]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub draws: Option<u64>,
    /// Train only cells whose description has this text; may be repeated
    #[arg(long, value_name = "TEXT")]
    pub only: Vec<String>,
    /// Train models again that a figure needs and that no longer exist
    #[arg(long)]
    pub retrain: bool,
    /// List its cells with their numbers, and stop
    #[arg(long, help_heading = "Cells", conflicts_with_all = ["cell", "merge", "on"])]
    pub list_cells: bool,
    /// Train one cell and stop; without a number, the one given by HQ_TASK_ID, SLURM_ARRAY_TASK_ID
    /// or JOB_COMPLETION_INDEX. Its result is written to its own file
    #[arg(long, value_name = "N", help_heading = "Cells", num_args = 0..=1, conflicts_with_all = ["merge", "on"])]
    pub cell: Option<Option<usize>>,
    /// Merge the results of cells, then make table and figures; train nothing
    #[arg(long, help_heading = "Cells", conflicts_with = "on")]
    pub merge: bool,
    /// Write the job file with which an engine trains all cells
    #[arg(long, value_name = "ENGINE", help_heading = "Cells",
          value_parser = PossibleValuesParser::new(["hyperqueue", "slurm", "kubernetes"]))]
    pub on: Option<String>,
    /// Submit that file: with the Python package hyperqueue, sbatch or kubectl
    #[arg(long, help_heading = "Cells", requires = "on")]
    pub submit: bool,
    /// Image of containers
    #[arg(long, value_name = "IMAGE", help_heading = "Cells", requires = "on", default_value = concat!("cpcvae:", env!("CARGO_PKG_VERSION")))]
    pub image: String,
    /// Folder of results
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub results: PathBuf,
    /// No progress
    #[arg(long, short)]
    pub quiet: bool,
    /// Print the table as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Device and threads.
    #[command(flatten)]
    pub place: PlaceArgs,
}
