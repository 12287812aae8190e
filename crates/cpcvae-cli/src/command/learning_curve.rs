//! `cpcvae learning-curve`: accuracy against the number of labels.

use super::cells;
use crate::args::LearningCurveArgs;
use crate::exit::ExitCode;
use crate::interrupt;
use crate::printer::{Printer, percent};
use crate::progress::Screen;
use crate::settings::{self, FitSettings};
use anyhow::{Context, Result};
use cpcvae::compare::{CurvePoint, LearningCurve, worth_buying};
use cpcvae::tensorboard::TensorBoard;
use cpcvae::train::Watch;
use cpcvae_data::DataName;
use cpcvae_lab::figure::{Series, line_chart};
use cpcvae_lab::table::TextTable;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Trains on increasing numbers of labels, and reports accuracy on held-out ones.
pub(crate) fn run(mut args: LearningCurveArgs, printer: Printer) -> Result<ExitCode> {
    if args.fit.out.is_none() {
        let name = DataName::parse(&args.fit.data)?.short();
        args.fit.out = Some(PathBuf::from("runs").join(format!("{name}-learning-curve")));
    }
    let settings = settings::resolve(&args.fit, None)?;
    settings.place.set_up()?;
    let source = settings.open(printer.quietly())?;
    let counts: Vec<usize> = args.counts.iter().map(|count| *count as usize).collect();
    if args.cells.are_given() {
        let cells = settings.estimator.curve_cells(source, &counts)?;
        return cells::run(&cells, &args.cells, printer);
    }
    let screen = Screen::new(printer.quiet, interrupt::watch()?);
    let board = args.fit.tensorboard.as_ref();
    let board = board.map(|folder| TensorBoard::new(folder, &screen));
    let watch: &dyn Watch = match &board {
        Some(board) => board,
        None => &screen,
    };
    let curve = settings.estimator.learning_curve(source, &counts, watch)?;
    if let Some(Err(problem)) = board.as_ref().map(TensorBoard::problem) {
        printer.warn(format!(
            "not everything is written for TensorBoard: {problem}"
        ));
    }
    let Some(curve) = curve else {
        printer.note("stopped; the same command resumes");
        return Ok(interrupt::exit_code());
    };
    let figure = args
        .figure
        .unwrap_or_else(|| settings.folder.join("learning-curve.png"));
    draw(&curve.points, &settings, &figure)?;
    report(&curve, &settings, &figure, printer)?;
    Ok(ExitCode::SUCCESS)
}

fn draw(points: &[CurvePoint], settings: &FitSettings, path: &Path) -> Result<()> {
    if let Some(folder) = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    {
        cpcvae_data::create_folder(folder)
            .with_context(|| format!("the folder {} cannot be made", folder.display()))?;
    }
    let scaled = |point: &CurvePoint| point.labels as f64;
    let series = Series {
        name: settings.estimator.request().method().into(),
        points: points
            .iter()
            .map(|point| (scaled(point), 100.0 * point.accuracy))
            .collect(),
        band: Some(
            points
                .iter()
                .map(|point| (scaled(point), 100.0 * point.low, 100.0 * point.high))
                .collect(),
        ),
    };
    let title = format!("{}: accuracy against labels", settings.data.short());
    line_chart(&title, "labels", "held-out accuracy, %", &[series], path)?;
    Ok(())
}

fn report(
    LearningCurve { points, rows }: &LearningCurve,
    settings: &FitSettings,
    figure: &Path,
    printer: Printer,
) -> Result<()> {
    let table = TextTable {
        header: ["labels", "held-out accuracy", "95% interval"]
            .map(String::from)
            .to_vec(),
        rows: points
            .iter()
            .map(|point| {
                let interval = format!("{} to {}", percent(point.low), percent(point.high));
                vec![point.labels.to_string(), percent(point.accuracy), interval]
            })
            .collect(),
    };
    let words = worth_buying(points, *rows);
    let text = format!(
        "{}\n{words}\nfigure: {}\n",
        table.to_text(),
        figure.display()
    );
    let points: Vec<_> = points
        .iter()
        .map(|point| {
            json!({
                "labels": point.labels,
                "accuracy": point.accuracy,
                "low": point.low,
                "high": point.high,
            })
        })
        .collect();
    let value = json!({
        "data": settings.source,
        "method": settings.estimator.request().method(),
        "held_out_rows": rows,
        "points": points,
        "words": words,
        "figure": figure,
    });
    printer.answer(&text, &value)
}
