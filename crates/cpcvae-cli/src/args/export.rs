//! Arguments of `export`.

use super::ModelArgs;
use clap::Args;
use std::path::PathBuf;

/// Export a model to ONNX, for use without cpcvae.
///
/// One graph maps rows in your units to the code, calibrated probabilities and the class (or
/// continuous labels): the same as `encode` and `predict`, including the members of an ensemble.
/// Names, shapes and descriptions are printed, and in the file's metadata.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cpcvae export runs/wine-cpc wine.onnx
  cpcvae export runs/wine-cpc wine.onnx --network-only   without the members of the ensemble")]
pub(crate) struct ExportModelArgs {
    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,
    /// The file to write; it ends in .onnx
    #[arg(value_name = "FILE.onnx")]
    pub out: PathBuf,
    /// The network's own probabilities, without members of the ensemble and without calibration,
    /// which applies to the ensemble: a small file without training rows in it
    #[arg(long)]
    pub network_only: bool,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}
