//! `cpcvae demo`: four methods on generated data with few labels, side by side.

pub(crate) mod glyphs;
pub(crate) mod half_moon;

use crate::args::DemoArgs;
use crate::exit::ExitCode;
use crate::interrupt;
use crate::printer::{Printer, percent};
use crate::progress::Screen;
use anyhow::{Context, Result, bail};
use cpcvae::Error;
use cpcvae::estimator::{Estimator, Fit, Fitted};
use cpcvae_data::BuiltIn;
use cpcvae_lab::table::TextTable;
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;

/// Methods of the paper's first figure.
const METHODS: [&str; 4] = ["vae-then-mlp", "pc", "cpc", "m2"];

/// A method's model and its accuracy on test rows.
struct DemoModel {
    method: &'static str,
    fitted: Fitted,
    accuracy: f64,
}

/// Trains each method, compares them in a table, and draws figures.
pub(crate) fn run(args: DemoArgs, printer: Printer) -> Result<ExitCode> {
    args.place.set_up()?;
    let data = match args.images {
        true => BuiltIn::Glyphs,
        false => BuiltIn::HalfMoon,
    };
    let data_dir = args.place.data_dir();
    let stop = interrupt::watch()?;
    let mut models = Vec::new();
    for method in METHODS {
        let estimator = estimator(&args, data, method);
        let source = estimator.open(data.name(), &data_dir)?;
        let screen = Screen::new(printer.quiet, Arc::clone(&stop)).titled();
        let fitted = match estimator.fit_watched(source, &screen) {
            Err(Error::Stopped { .. }) => {
                printer.note("stopped; the same command resumes");
                return Ok(interrupt::exit_code());
            }
            fitted => fitted.with_context(|| {
                let out = args.out.display();
                format!("{out}: remove it or choose another --out")
            })?,
        };
        let Some(accuracy) = fitted.report().test.as_ref().and_then(|test| test.accuracy) else {
            bail!("{method} was not tested");
        };
        models.push(DemoModel {
            method,
            fitted,
            accuracy,
        });
    }
    let source = estimator(&args, data, METHODS[0]).open(data.name(), &data_dir)?;
    let figures = match data {
        BuiltIn::HalfMoon => half_moon::draw(&models, &source, &args.out)?,
        _ => glyphs::draw(&models, &source, &args.out)?,
    };
    report(&models, data, &figures, printer)?;
    Ok(ExitCode::SUCCESS)
}

/// A method with settings that finish soon. An existing model in its folder is loaded.
fn estimator(args: &DemoArgs, data: BuiltIn, method: &str) -> Estimator {
    let name = format!("{}-{method}-{}", data.name(), args.seed);
    let mut estimator = Estimator::named(method)
        .seed(u64::from(args.seed))
        .device(&args.place.device)
        .folder(args.out.join("runs").join(name))
        .resume(true);
    if let Some(precision) = &args.place.precision {
        estimator = estimator.set("train.precision", precision.as_str());
    }
    match data {
        BuiltIn::HalfMoon => half_moon::adjust(estimator),
        _ => glyphs::adjust(estimator),
    }
}

fn report(
    models: &[DemoModel],
    data: BuiltIn,
    figures: &[PathBuf],
    printer: Printer,
) -> Result<()> {
    let table = TextTable {
        header: ["method", "labels", "test accuracy", "time"]
            .map(String::from)
            .to_vec(),
        rows: models
            .iter()
            .map(|model| {
                vec![
                    model.method.into(),
                    model.fitted.config().data.labels.to_string(),
                    percent(model.accuracy),
                    format!("{:.1} s", model.fitted.report().fit.seconds),
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
    let results: Vec<_> = models
        .iter()
        .map(|model| {
            json!({
                "method": model.method,
                "labels": model.fitted.config().data.labels,
                "accuracy": model.accuracy,
                "seconds": model.fitted.report().fit.seconds,
            })
        })
        .collect();
    let answer = json!({ "results": results, "figure": figures[0], "figures": figures });
    printer.answer(&text, &answer)
}
