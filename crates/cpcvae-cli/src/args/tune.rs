//! Arguments of `tune`.

use super::FitArgs;
use super::fit::time;
use clap::{Args, builder::PossibleValuesParser};
use std::path::PathBuf;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  cpcvae tune wine.csv --label kind --trials 50 --jobs 2
  cpcvae tune mnist --labels 100 --trials 30 --pruner asha --out runs/search
  cpcvae tune wine.csv --label kind --space space.toml --time 1h
  cpcvae fit wine.csv --label kind -c runs/wine-cpc-tune/best.toml
  optuna-dashboard runs/wine-cpc-tune/journal.log      look at it with Optuna's dashboard

The same command resumes a search that was stopped or killed, and may run in parallel with others.";

/// Search settings: train with many, and keep those that do best on held-out rows.
///
/// Trials are evaluated on validation rows if there are any (--validation), otherwise on labels
/// held out fold by fold. Rows that no trial sees (test rows, or a fold set aside) then give an
/// unbiased estimate, compared with the default settings. The search is a folder with an Optuna
/// study and a run folder for each trial. Takes the options of `fit`; settings that are given are
/// not searched.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TuneArgs {
    /// The options of `fit`.
    #[command(flatten)]
    pub fit: FitArgs,
    /// Trials in total, including those of other workers [default: 50]
    #[arg(long, value_name = "N", help_heading = "Search", value_parser = clap::value_parser!(u32).range(1..))]
    pub trials: Option<u32>,
    /// Start no trial after this time, such as 10m or 1h
    #[arg(long, value_name = "TIME", help_heading = "Search", value_parser = time)]
    pub time: Option<Duration>,
    /// Trials in parallel
    #[arg(long, value_name = "N", help_heading = "Search", default_value_t = 1,
          value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: u16,
    /// The search space, by key, instead of the method's own
    #[arg(long, value_name = "FILE.toml", help_heading = "Search")]
    pub space: Option<PathBuf>,
    /// The sampler; optuna uses the Python package `optuna`
    #[arg(long, help_heading = "Search", default_value = "tpe",
          value_parser = PossibleValuesParser::new(["tpe", "quasi-random", "random", "optuna"]))]
    pub sampler: String,
    /// Which trials to stop early
    #[arg(long, help_heading = "Search", default_value = "median",
          value_parser = PossibleValuesParser::new(["median", "asha", "none"]))]
    pub pruner: String,
    /// Work on one trial and stop: that of a number in the journal, or the next one. For array
    /// jobs, and for programs with their own sampler
    #[arg(long, value_name = "NUMBER", help_heading = "Search", num_args = 0..=1)]
    pub one_trial: Option<Option<usize>>,
    /// Print the search space as JSON, and stop
    #[arg(long, help_heading = "Search")]
    pub print_space: bool,
}
