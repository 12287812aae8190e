//! `cpcvae learning-curve`: accuracy against the number of labels.

use super::compare::folding;
use crate::args::LearningCurveArgs;
use crate::data_name::DataName;
use crate::held_out::Trainer;
use crate::interrupt;
use crate::printer::{Printer, percent};
use crate::settings::{self, FitSettings};
use anyhow::{Context, Result, bail};
use cpcvae::calibration::rightness;
use cpcvae::crossfit::{CrossFit, Folding};
use cpcvae::infer::quality::share;
use cpcvae::prepare::Prepared;
use cpcvae_data::{Dataset, Labels, Split};
use cpcvae_lab::figure::{Series, line_chart};
use cpcvae_lab::power_law::{CurvePoint, worth_buying};
use cpcvae_lab::table::TextTable;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Numbers of labels that are tried where none is asked for.
const POINTS: u32 = 4;

/// Trains on more and more labels, and reports accuracy on held-out ones.
pub fn run(mut args: LearningCurveArgs, printer: Printer) -> Result<ExitCode> {
    if args.fit.out.is_none() {
        let name = DataName::parse(&args.fit.data)?.short();
        args.fit.out = Some(PathBuf::from("runs").join(format!("{name}-learning-curve")));
    }
    let mut settings = settings::resolve(&args.fit)?;
    settings.place.set_up()?;
    let device = cpcvae::device::device(&settings.place.device)?;
    let data_dir = settings.place.data_dir();
    let source = settings.data.open(&settings.config, &data_dir)?;
    // The models whose accuracies are told are those that `fit` would train.
    settings.suit(&source.rows)?;
    let config = &settings.config;
    let data = source.rows.clone();
    if !matches!(data.labels, Labels::Classes { .. }) || !config.method.uses_labels() {
        bail!(
            "a learning curve is of accuracies, so it needs classes and a method that uses labels"
        );
    }
    let split = Prepared::new(source, config, None)?.training.split;
    let usual = folding(&settings, &data, &split);
    let folding = Folding {
        // There are several trainings a fold, and they are compared with each other.
        folds: settings.held_out.folds.unwrap_or(usual.folds.min(5)),
        ..usual
    };
    let trainer = Trainer {
        device: &device,
        printer,
        stop: interrupt::watch()?,
    };
    let folder = settings.folder.path();
    let mut points = Vec::new();
    let mut held_out_rows = 0;
    for labels in counts(&args, &data, &split, &folding)? {
        let folding = Folding {
            labels: Some(labels),
            ..folding
        };
        let fit = CrossFit::new(&data, &split, &folding)?;
        let folder = folder
            .join(format!("{}-folds", folding.folds))
            .join(format!("{labels}-labels"));
        let name = format!("{labels} labels");
        let Some(held_out) = trainer.held_out(&fit, config, &name, &folder)? else {
            printer.note("stopped; the same command goes on from here");
            return Ok(ExitCode::from(interrupt::EXIT_CODE));
        };
        let right = rightness(&data, &held_out);
        held_out_rows = right.len();
        let mean = right.iter().sum::<f64>() / right.len().max(1) as f64;
        let Some(accuracy) = share(mean, right.len()) else {
            bail!("no labels could be held out");
        };
        points.push(CurvePoint {
            labels,
            accuracy: accuracy.value,
            low: accuracy.low,
            high: accuracy.high,
        });
    }
    let figure = args
        .figure
        .unwrap_or_else(|| folder.join("learning-curve.png"));
    draw(&points, &settings, &figure)?;
    report(&points, held_out_rows, &settings, &figure, printer)?;
    Ok(ExitCode::SUCCESS)
}

/// The numbers of labels: those asked for, or four from a few to all that are not held out, each
/// about as many times the one before.
fn counts(
    args: &LearningCurveArgs,
    data: &Dataset,
    split: &Split,
    folding: &Folding,
) -> Result<Vec<usize>> {
    let labels = split.labelled.len();
    // What is left of the labels when the largest fold is held out.
    let most = labels - labels.div_ceil(folding.folds.min(labels).max(1));
    let least = data.class_names().len();
    if most <= least {
        bail!(
            "{labels} labels of {least} classes are too few for a curve: there must be some to hold \
             out and more than one a class to learn from"
        );
    }
    let mut counts: Vec<usize> = match args.counts.is_empty() {
        false => args.counts.iter().map(|count| *count as usize).collect(),
        true => {
            let first = (most / 8).max(2 * least).min(most) as f64;
            let factor = (most as f64 / first).powf(1.0 / f64::from(POINTS - 1));
            let places = 0..POINTS as i32;
            places
                .map(|i| (first * factor.powi(i)).round() as usize)
                .collect()
        }
    };
    counts.sort_unstable();
    counts.dedup();
    if let Some(bad) = counts
        .iter()
        .find(|count| **count < least || **count > most)
    {
        bail!(
            "{bad} labels cannot be learnt from: there must be one for each of the {least} classes, \
             and {most} are left when a fold is held out"
        );
    }
    Ok(counts)
}

fn draw(points: &[CurvePoint], settings: &FitSettings, path: &Path) -> Result<()> {
    if let Some(folder) = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("the folder {} cannot be made", folder.display()))?;
    }
    let scaled = |point: &CurvePoint| point.labels as f64;
    let series = Series {
        name: settings.config.method.name().into(),
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
    points: &[CurvePoint],
    rows: usize,
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
    let words = worth_buying(points, rows);
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
        "data": settings.config.data.source,
        "method": settings.config.method.name(),
        "held_out_rows": rows,
        "points": points,
        "words": words,
        "figure": figure,
    });
    printer.answer(&text, &value)
}
