//! Arguments of `devices`.

use super::PlaceArgs;
use clap::Args;

/// Say what this build and this machine can do: instructions, threads, memory, GPUs.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  cpcvae devices\n  cpcvae devices --json")]
pub struct DevicesArgs {
    /// Print it as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Where to work.
    #[command(flatten)]
    pub place: PlaceArgs,
}
