//! `cpcvae experiment`: the paper's tables and figures.

use super::cluster;
use crate::args::ExperimentArgs;
use crate::exit::ExitCode;
use crate::interrupt;
use crate::printer::Printer;
use crate::progress::Screen;
use anyhow::{Result, bail};
use cpcvae_lab::harness::{self, Options, PlanName, cells};
use std::path::Path;

/// Lists experiments, or runs one.
pub(crate) fn run(args: &ExperimentArgs, printer: Printer) -> Result<ExitCode> {
    if args.list {
        printer.write(harness::list()?.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    args.place.set_up()?;
    let plan = match (&args.file, &args.name) {
        (Some(path), _) => PlanName::File(path.clone()),
        (None, Some(name)) => PlanName::BuiltIn(name.clone()),
        (None, None) => bail!("which experiment? `--list` lists them"),
    };
    let options = Options {
        plan,
        origin: typed(args, false),
        again: typed(args, true),
        quick: args.quick,
        draws: args.draws,
        only: args.only.clone(),
        retrain: args.retrain,
        results: args.results.clone(),
        data_dir: args.place.data_dir(),
        device: args.place.device.clone(),
        precision: args.place.precision.clone(),
    };
    if let Some(engine) = &args.on {
        return cluster::run(args, engine, &options, &typed(args, true), printer);
    }
    let screen = Screen::new(printer.quiet, interrupt::watch()?);
    let answer = match args.cell {
        _ if args.list_cells => cells::list(&options)?,
        _ if args.merge => cells::merge(&options, &screen)?,
        Some(Some(index)) => cells::one(&options, index, &screen)?,
        Some(None) => {
            let index = cells::index_of(|name| std::env::var(name).ok())?;
            cells::one(&options, index, &screen)?
        }
        None => harness::run(&options, &screen)?,
    };
    printer.answer(&answer.text, &answer.json)?;
    Ok(match answer.is_whole {
        true => ExitCode::SUCCESS,
        false => interrupt::exit_code(),
    })
}

/// The command as it was typed; `here` adds options that are specific to this machine and time.
fn typed(args: &ExperimentArgs, here: bool) -> String {
    let mut command = String::from("cpcvae experiment ");
    command += &match (&args.file, &args.name) {
        (Some(path), _) if here => format!("--file {}", path.display()),
        (Some(path), _) => {
            let name = path.file_name().unwrap_or_default();
            format!("--file {}", name.to_string_lossy())
        }
        (None, name) => name.clone().unwrap_or_default(),
    };
    if args.quick {
        command += " --quick";
    }
    if let Some(draws) = args.draws {
        command += &format!(" --draws {draws}");
    }
    if let Some(precision) = &args.place.precision {
        command += &format!(" --precision {precision}");
    }
    if !here {
        return command;
    }
    for text in &args.only {
        command += &format!(" --only '{text}'");
    }
    if args.retrain {
        command += " --retrain";
    }
    if args.results != Path::new("results") {
        command += &format!(" --results {}", args.results.display());
    }
    if args.place.device != "cpu" {
        command += &format!(" --device {}", args.place.device);
    }
    command
}
