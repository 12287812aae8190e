//! `cpcvae demo`: four methods on generated data with few labels.

use crate::args::DemoArgs;
use crate::data_name::DataName;
use crate::interrupt;
use crate::printer::{Printer, percent};
use crate::progress::Progress;
use anyhow::{Result, bail};
use cpcvae::run::RunFolder;
use cpcvae::train::StopReason;
use cpcvae_lab::table::Table;
use serde_json::json;
use std::process::ExitCode;
use std::sync::Arc;

const METHODS: [&str; 4] = ["vae-then-mlp", "pc", "cpc", "m2"];

/// Trains each method and compares them.
pub fn run(args: DemoArgs, printer: Printer) -> Result<ExitCode> {
    args.place.set_threads()?;
    let device = cpcvae::device::device(&args.place.device)?;
    let stop = interrupt::watch()?;
    let (data, name) = match args.images {
        true => (DataName::Glyphs, "glyphs"),
        false => (DataName::HalfMoon, "half-moon"),
    };
    let mut rows = Vec::new();
    let mut results = Vec::new();
    for method in METHODS {
        let mut config = data.defaults(method, name)?;
        config.seed = u64::from(args.seed);
        config.data.half_moon_labels = "evenly-spaced".into();
        let folder = RunFolder::at(args.out.join("runs").join(method));
        let source = data.open(&config, &args.place.data_dir())?;
        let mut progress = Progress::new(method, printer.quiet, Arc::clone(&stop));
        let report = cpcvae::run::run(&config, source, &folder, &device, &mut progress);
        progress.finish();
        let report = report?;
        if report.fit.stop == StopReason::Interrupted {
            printer.note("stopped; `cpcvae demo` goes on from here");
            return Ok(ExitCode::from(interrupt::EXIT_CODE));
        }
        let Some(accuracy) = report.test.and_then(|test| test.accuracy) else {
            bail!("{method} was not tested");
        };
        rows.push(vec![
            method.to_string(),
            percent(accuracy),
            format!("{:.1} s", report.fit.seconds),
        ]);
        results.push(json!({
            "method": method, "labels": config.data.labels, "accuracy": accuracy,
        }));
    }
    let table = Table {
        header: ["method", "test accuracy", "time"].map(String::from).to_vec(),
        rows,
    };
    printer.answer(&table.to_text(), &json!({ "results": results }))?;
    Ok(ExitCode::SUCCESS)
}
