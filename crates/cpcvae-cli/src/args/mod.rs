//! Arguments as typed. They are resolved in [`crate::settings`].

mod answer;
mod cells;
mod devices;
mod experiment;
mod export;
mod fit;
mod quality;
mod reading;
mod tune;

pub(crate) use answer::{
    CodesArg, EncodeArgs, EvaluateArgs, ImputeArgs, ModelArgs, PassthroughArgs, PredictArgs,
    ReconstructArgs, ReconstructionKind, RowsArgs, SampleArgs, ScoreArgs, SuggestArgs,
};
pub(crate) use cells::{CellArgs, FitOrCellArgs, LearningCurveArgs};
pub(crate) use devices::DevicesArgs;
pub(crate) use experiment::ExperimentArgs;
pub(crate) use export::ExportModelArgs;
pub(crate) use fit::{DataArgs, DataCommand, DemoArgs, ExportArgs, FitArgs};
pub(crate) use quality::QualityArgs;
pub(crate) use reading::{ImageArgs, ReadArgs};
pub(crate) use tune::TuneArgs;

use clap::{Args, Parser, Subcommand, builder::PossibleValuesParser};
use cpcvae::config::{PrecisionName, choice};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  cpcvae demo                                   see what it does, in a minute
  cpcvae fit half-moon                          train on a built-in data set
  cpcvae fit wine.csv --label kind              train on your table; blank labels are unlabelled
  cpcvae fit photos/ --size 32                  train on your images; a sub-folder is a class
  cpcvae predict runs/wine-cpc new.csv          labels and probabilities for new rows
  cpcvae sample runs/glyphs-cpc --each-class --out samples.png

`cpcvae COMMAND --help` has more examples.";

/// Semi-supervised variational autoencoders: one model from many rows of which few have labels.
#[derive(Debug, Parser)]
#[command(name = "cpcvae", version, after_help = EXAMPLES, disable_help_subcommand = true)]
pub(crate) struct Cli {
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands; those with arguments of their own are described there.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Fit(Box<FitOrCellArgs>),
    Evaluate(EvaluateArgs),
    Predict(PredictArgs),
    Impute(ImputeArgs),
    Suggest(SuggestArgs),
    LearningCurve(Box<LearningCurveArgs>),
    Encode(EncodeArgs),
    Score(ScoreArgs),
    Reconstruct(ReconstructArgs),
    Sample(SampleArgs),
    Quality(QualityArgs),
    Export(ExportModelArgs),
    Demo(DemoArgs),
    Tune(Box<TuneArgs>),
    Experiment(ExperimentArgs),
    Data(DataArgs),
    Devices(DevicesArgs),
    /// List the methods
    Methods,
    /// Print a completion script for a shell
    #[command(
        after_help = "Example:\n  cpcvae completions bash > ~/.local/share/bash-completion/completions/cpcvae"
    )]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// Folders, device and threads: the same for every command.
#[derive(Clone, Debug, Args)]
pub(crate) struct PlaceArgs {
    /// Folder of downloaded data sets; by default a folder in your cache
    #[arg(
        long,
        value_name = "DIR",
        help_heading = "Machine",
        env = "CPCVAE_DATA",
        hide_env_values = true
    )]
    pub data_dir: Option<PathBuf>,
    /// Device
    #[arg(long, value_name = "DEVICE", help_heading = "Machine", default_value = "cpu",
          value_parser = PossibleValuesParser::new(["cpu", "wgpu", "cuda", "metal"]))]
    pub device: String,
    /// Threads to use; results do not depend on it [default: all cores]
    #[arg(long, value_name = "N", help_heading = "Machine", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
    /// Precision of matrix products on the CPU: bf16 rounds the factors, and is fast where the
    /// processor has instructions for it (AMX, AVX-512 BF16), which auto checks [default: auto; of
    /// a trained model, its own]
    #[arg(long, value_name = "PRECISION", help_heading = "Machine",
          value_parser = PossibleValuesParser::new(["auto", "bf16", "f32"]))]
    pub precision: Option<String>,
}

impl PlaceArgs {
    /// The folder of downloaded data sets.
    pub(crate) fn data_dir(&self) -> PathBuf {
        self.data_dir
            .clone()
            .unwrap_or_else(crate::data_dir::default)
    }

    /// The precision of inference, if given; otherwise the model's card decides.
    pub(crate) fn precision(&self) -> Option<cpcvae::device::Precision> {
        let name: Option<PrecisionName> =
            choice("train.precision", self.precision.as_deref()?).ok();
        name.map(PrecisionName::precision)
    }

    /// Sets the number of threads, if given.
    pub(crate) fn set_up(&self) -> cpcvae::Result<()> {
        cpcvae::device::check_instructions()?;
        match self.threads {
            Some(threads) => cpcvae::device::set_threads(usize::from(threads)),
            None => Ok(()),
        }
    }
}
