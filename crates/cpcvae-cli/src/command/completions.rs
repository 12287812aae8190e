//! `cpcvae completions`: a script that completes commands and flags in a shell.

use crate::args::Cli;
use crate::exit::ExitCode;
use crate::printer::Printer;
use anyhow::Result;
use clap::CommandFactory;
use clap_complete::Shell;

/// Prints the script.
pub(crate) fn run(shell: Shell) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "cpcvae", &mut script);
    Printer::default().write(&script)?;
    Ok(ExitCode::SUCCESS)
}
