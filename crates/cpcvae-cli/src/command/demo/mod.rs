//! `cpcvae demo`: four methods on generated data with few labels, side by side.

pub mod glyphs;
pub mod half_moon;

use crate::args::DemoArgs;
use crate::interrupt;
use crate::printer::{Printer, percent};
use crate::progress::Progress;
use anyhow::{Context, Result, bail};
use cpcvae::config::{RunConfig, choice};
use cpcvae::run::{RunFolder, Trained};
use cpcvae_data::{BuiltIn, Source};
use cpcvae_lab::table::TextTable;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

/// Methods of the paper's first figure.
const METHODS: [&str; 4] = ["vae-then-mlp", "pc", "cpc", "m2"];

/// A method's trained model and its accuracy on test rows.
struct Contestant {
    method: &'static str,
    config: RunConfig,
    trained: Trained,
    accuracy: f64,
    seconds: f64,
}

/// Trains each method, compares them in a table, and draws what they learnt.
pub fn run(args: DemoArgs, printer: Printer) -> Result<ExitCode> {
    args.place.set_up()?;
    let device = cpcvae::device::device(&args.place.device)?;
    let data = match args.images {
        true => BuiltIn::Glyphs,
        false => BuiltIn::HalfMoon,
    };
    let stop = interrupt::watch()?;
    let mut contestants = Vec::new();
    for method in METHODS {
        let mut config = config(data, method, u64::from(args.seed))?;
        if let Some(precision) = &args.place.precision {
            config.train.precision = choice("train.precision", precision)?;
        }
        let source = data.open(&config.data, config.seed, &args.place.data_dir())?;
        let progress = Progress::new(method, printer.quiet, Arc::clone(&stop));
        match train(&args, method, config, source, &device, progress)? {
            Some(contestant) => contestants.push(contestant),
            None => {
                printer.note("stopped; the same command goes on from here");
                return Ok(interrupt::exit_code());
            }
        }
    }
    let config = &contestants[0].config;
    let source = data.open(&config.data, config.seed, &args.place.data_dir())?;
    let figures = match data {
        BuiltIn::HalfMoon => half_moon::draw(&contestants, &source, &args.out)?,
        _ => glyphs::draw(&contestants, &source, &args.out)?,
    };
    report(&contestants, data, &figures, printer)?;
    Ok(ExitCode::SUCCESS)
}

/// Settings that finish soon: a small network for images.
fn config(data: BuiltIn, method: &str, seed: u64) -> Result<RunConfig> {
    let mut config = RunConfig::for_built_in_data(method, data)?;
    config.seed = seed;
    match data {
        BuiltIn::HalfMoon => half_moon::adjust(&mut config),
        _ => glyphs::adjust(&mut config),
    }
    Ok(config)
}

/// Trains one method, or loads it where this folder has it already; nothing when interrupted.
fn train(
    args: &DemoArgs,
    method: &'static str,
    config: RunConfig,
    source: Source,
    device: &cpcvae::device::Device,
    mut progress: Progress,
) -> Result<Option<Contestant>> {
    let name = format!("{}-{method}-{}", config.data.source, config.seed);
    let folder = RunFolder::at(args.out.join("runs").join(name));
    let run = cpcvae::run::run(&config, source, Some(&folder), device, &mut progress);
    progress.finish();
    let run = run.with_context(|| {
        format!(
            "{}: remove it or choose another --out",
            folder.path().display()
        )
    })?;
    let Some(trained) = run.trained else {
        return Ok(None);
    };
    let Some(accuracy) = run.report.test.and_then(|test| test.accuracy) else {
        bail!("{method} was not tested");
    };
    Ok(Some(Contestant {
        method,
        trained,
        config,
        accuracy,
        seconds: run.report.fit.seconds,
    }))
}

fn report(
    contestants: &[Contestant],
    data: BuiltIn,
    figures: &[PathBuf],
    printer: Printer,
) -> Result<()> {
    let table = TextTable {
        header: ["method", "labels", "test accuracy", "time"]
            .map(String::from)
            .to_vec(),
        rows: contestants
            .iter()
            .map(|contestant| {
                vec![
                    contestant.method.into(),
                    contestant.config.data.labels.to_string(),
                    percent(contestant.accuracy),
                    format!("{:.1} s", contestant.seconds),
                ]
            })
            .collect(),
    };
    let setting = match data {
        BuiltIn::HalfMoon => half_moon::SETTING,
        _ => glyphs::SETTING,
    };
    let mut text = format!("{setting}\n\n{}\n", table.to_text().trim_end());
    for figure in figures {
        text += &format!("figure: {}\n", figure.display());
    }
    let results: Vec<_> = contestants
        .iter()
        .map(|contestant| {
            json!({
                "method": contestant.method,
                "labels": contestant.config.data.labels,
                "accuracy": contestant.accuracy,
                "seconds": contestant.seconds,
            })
        })
        .collect();
    let answer = json!({ "results": results, "figure": figures[0], "figures": figures });
    printer.answer(&text, &answer)
}
