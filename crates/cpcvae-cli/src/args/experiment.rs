//! Arguments of `experiment`.

use super::PlaceArgs;
use clap::Args;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  cpcvae experiment --list                             what there is
  cpcvae experiment fig1-half-moon --quick             a small version, in a minute or two
  cpcvae experiment table2-mnist --only 'labels only'  one row of it
  cpcvae experiment table2-mnist                       all of it; stop and repeat at will
  cpcvae experiment --file mine.toml                   your own

Every finished training is a line in RESULTS/NAME.jsonl, with its settings; only what is missing
there is trained. Table and figures are written beside it.";

/// Run an experiment: train what is missing, then make its table and figures.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ExperimentArgs {
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
    /// Train again what a figure needs and is no longer there
    #[arg(long)]
    pub retrain: bool,
    /// Folder of results
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub results: PathBuf,
    /// No progress
    #[arg(long, short)]
    pub quiet: bool,
    /// Print the table as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Where to work.
    #[command(flatten)]
    pub place: PlaceArgs,
}
