//! Arguments of `export`.

use super::ModelArgs;
use clap::Args;
use std::path::PathBuf;

/// Write a model as an ONNX file, for programs that are not cpcvae.
///
/// One graph takes rows in your units and gives the code, calibrated probabilities and the class (or
/// continuous labels): what `encode` and `predict` give, the vote of an ensemble among them. Names,
/// shapes and meanings are printed, and in the file's metadata.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cpcvae export runs/wine-cpc wine.onnx
  cpcvae export runs/wine-cpc wine.onnx --network-only   without the members of the ensemble")]
pub struct ExportModelArgs {
    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,
    /// The file to write; it ends in .onnx
    #[arg(value_name = "FILE.onnx")]
    pub out: PathBuf,
    /// The network's probabilities as it states them, without members of the ensemble and without
    /// calibration, which is of the vote: a small file without training rows in it
    #[arg(long)]
    pub network_only: bool,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}
