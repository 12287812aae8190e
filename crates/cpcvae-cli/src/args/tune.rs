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

The same command goes on with a search that was stopped or killed, and works on it beside others.";

/// Search settings: train with many, and keep those that do best on rows held out.
///
/// Trials are judged by validation rows where there are some (--validation), else by labels held out
/// fold by fold. Rows that no trial sees (test rows, or a fold set aside) then say how good the settings
/// are, beside the defaults. The search is a folder with a study of Optuna and a run folder a trial.
/// Takes the options of `fit`; settings that are given are not searched.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct TuneArgs {
    /// The options of `fit`.
    #[command(flatten)]
    pub fit: FitArgs,
    /// Trials in all, those of other workers among them [default: 50]
    #[arg(long, value_name = "N", help_heading = "Search", value_parser = clap::value_parser!(u32).range(1..))]
    pub trials: Option<u32>,
    /// Begin no trial after this time, such as 10m or 1h
    #[arg(long, value_name = "TIME", help_heading = "Search", value_parser = time)]
    pub time: Option<Duration>,
    /// Trials beside each other
    #[arg(long, value_name = "N", help_heading = "Search", default_value_t = 1,
          value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: u16,
    /// What to try, by key, instead of the method's own space
    #[arg(long, value_name = "FILE.toml", help_heading = "Search")]
    pub space: Option<PathBuf>,
    /// Who chooses what to try; optuna asks the Python package `optuna`
    #[arg(long, help_heading = "Search", default_value = "tpe",
          value_parser = PossibleValuesParser::new(["tpe", "quasi-random", "random", "optuna"]))]
    pub sampler: String,
    /// Which trials to stop early
    #[arg(long, help_heading = "Search", default_value = "median",
          value_parser = PossibleValuesParser::new(["median", "asha", "none"]))]
    pub pruner: String,
    /// Work on one trial and stop: that of a number in the journal, or the next one. For array jobs,
    /// and for programs that choose what to try themselves
    #[arg(long, value_name = "NUMBER", help_heading = "Search", num_args = 0..=1)]
    pub one_trial: Option<Option<usize>>,
    /// Print what would be searched as JSON, and stop
    #[arg(long, help_heading = "Search")]
    pub print_space: bool,
}
