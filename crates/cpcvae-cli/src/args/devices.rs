//! Arguments of `devices`.

use super::PlaceArgs;
use clap::Args;

/// Show what this build and this machine support: instructions, threads, memory, GPUs.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  cpcvae devices\n  cpcvae devices --json")]
pub(crate) struct DevicesArgs {
    /// Print it as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Device and threads.
    #[command(flatten)]
    pub place: PlaceArgs,
}
