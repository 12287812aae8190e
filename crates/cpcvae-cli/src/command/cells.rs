//! The trainings of `fit` and `learning-curve` as cells: `--list-cells`, `--cell`.

use crate::args::CellArgs;
use crate::exit::ExitCode;
use crate::interrupt;
use crate::printer::Printer;
use crate::progress::Screen;
use anyhow::Result;
use cpcvae::estimator::{CellEnd, Cells};
use cpcvae_lab::harness::cells::index_of;
use serde_json::json;

/// Lists them, or does one.
pub(super) fn run(cells: &Cells, args: &CellArgs, printer: Printer) -> Result<ExitCode> {
    let all = cells.list()?;
    let Some(number) = args.cell else {
        let mut text = String::new();
        let mut listed = Vec::new();
        for (number, cell) in all.iter().enumerate() {
            let done = if cell.is_done { "done" } else { "-" };
            text += &format!("{number:>5}  {done:<5} {}\n", cell.name);
            listed.push(json!({ "index": number, "cell": cell.name, "done": cell.is_done }));
        }
        printer.answer(&text, &json!({ "cells": listed }))?;
        return Ok(ExitCode::SUCCESS);
    };
    let number = match number {
        Some(number) => number,
        None => index_of(|name| std::env::var(name).ok())?,
    };
    let screen = Screen::new(printer.quiet, interrupt::watch()?);
    let end = cells.train(number, &screen)?;
    let name = &all[number].name;
    let said = match end {
        CellEnd::Trained => "trained",
        CellEnd::DoneBefore => "done before",
        CellEnd::Stopped => "stopped; the same command continues it",
    };
    let is_done = end != CellEnd::Stopped;
    printer.answer(
        &format!("cell {number}, {name}: {said}\n"),
        &json!({ "index": number, "cell": name, "done": is_done }),
    )?;
    Ok(match is_done {
        true => ExitCode::SUCCESS,
        false => interrupt::exit_code(),
    })
}
