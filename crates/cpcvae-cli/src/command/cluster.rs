//! `cpcvae experiment --on ENGINE`: writes the job file with which an engine trains all cells.

use crate::ExitCode;
use crate::args::ExperimentArgs;
use crate::printer::Printer;
use anyhow::{Context, Result, bail};
use cpcvae_lab::harness::Options;
use cpcvae_lab::harness::cluster::{self, Engine, Task};
use serde_json::json;
use std::process::Command;

/// Writes it, and submits it if asked for. `again` is the command of the experiment.
pub(super) fn run(
    args: &ExperimentArgs,
    engine: &str,
    options: &Options,
    again: &str,
    printer: Printer,
) -> Result<ExitCode> {
    let engine = match engine {
        "hyperqueue" => Engine::HyperQueue,
        "slurm" => Engine::Slurm,
        _ => Engine::Kubernetes,
    };
    let is_here = engine != Engine::Kubernetes;
    let program = match is_here {
        true => std::env::current_exe().context("the path of this program")?,
        false => "cpcvae".into(),
    };
    let mut command = vec![program.display().to_string()];
    command.extend(again.split_whitespace().skip(1).map(String::from));
    // Not in `again`, since it may differ from machine to machine.
    if let Some(folder) = args.place.data_dir.as_ref().filter(|_| is_here) {
        command.extend(["--data-dir".into(), folder.display().to_string()]);
    }
    let processors = args.place.threads.map_or(1, usize::from);
    command.extend(["--threads".into(), processors.to_string()]);
    command.extend(["--quiet", "--cell"].map(String::from));
    let task = Task {
        command,
        folder: std::env::current_dir().context("the folder that this runs in")?,
        processors,
        image: args.image.clone(),
    };
    let written = cluster::write(options, engine, &task)?;
    let submit = match engine {
        // Its Python package does not install the program `hq`.
        Engine::HyperQueue if !has_program("hq") => {
            let python = std::env::var("CPCVAE_PYTHON").unwrap_or_else(|_| "python3".into());
            let mut submit = [&python, "-m", "cpcvae.hq"].map(String::from).to_vec();
            submit.push(written.path.display().to_string());
            submit
        }
        _ => written.submit.clone(),
    };
    if args.submit {
        let status = Command::new(&submit[0]).args(&submit[1..]).status();
        let status = status.with_context(|| format!("`{}` cannot be started", submit[0]))?;
        if !status.success() {
            bail!("`{}` failed ({status})", submit.join(" "));
        }
    }
    let text = format!(
        "{} cells in {}\n{} {}\nthen cpcvae experiment ... --merge\n",
        written.cells,
        written.path.display(),
        if args.submit {
            "submitted with"
        } else {
            "submit with"
        },
        submit.join(" ")
    );
    let value = json!({
        "cells": written.cells,
        "file": written.path,
        "submit": submit,
        "submitted": args.submit,
    });
    printer.answer(&text, &value)?;
    Ok(ExitCode::SUCCESS)
}

fn has_program(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
}
