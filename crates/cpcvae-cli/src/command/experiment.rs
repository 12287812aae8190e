//! `cpcvae experiment`: tables and figures of the paper.

use crate::args::ExperimentArgs;
use crate::interrupt;
use crate::printer::Printer;
use crate::progress::Screen;
use anyhow::Result;
use cpcvae_lab::harness::{self, Options};
use std::process::ExitCode;

/// Lists experiments, or runs one.
pub fn run(args: &ExperimentArgs, printer: Printer) -> Result<ExitCode> {
    if args.list {
        printer.write(harness::list()?.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    args.place.set_up()?;
    let options = Options {
        name: args.name.clone(),
        file: args.file.clone(),
        quick: args.quick,
        draws: args.draws,
        only: args.only.clone(),
        retrain: args.retrain,
        results: args.results.clone(),
        data_dir: args.place.data_dir(),
        device: args.place.device.clone(),
        precision: args.place.precision.clone(),
    };
    let screen = Screen::new(printer.quiet, interrupt::watch()?);
    let answer = harness::run(&options, &screen)?;
    printer.answer(&answer.text, &answer.json)?;
    Ok(match answer.is_whole {
        true => ExitCode::SUCCESS,
        false => interrupt::exit_code(),
    })
}
