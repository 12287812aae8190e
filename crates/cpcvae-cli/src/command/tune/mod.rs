//! `cpcvae tune`: searches settings.

mod optuna;
mod text;

use crate::ExitCode;
use crate::args::TuneArgs;
use crate::interrupt;
use crate::printer::{Printer, count};
use crate::progress::Screen;
use crate::settings;
use anyhow::{Context, Result};
use cpcvae::tune::{Ask, Pruner, Sampler, TuneOptions, Tuning};
use cpcvae_data::DataName;
use std::path::PathBuf;

/// Searches or resumes, and reports.
pub(crate) fn run(mut args: TuneArgs, printer: Printer) -> Result<ExitCode> {
    let folder = match &args.fit.out {
        Some(folder) => folder.clone(),
        None => {
            let name = DataName::parse(&args.fit.data)?.short();
            let method = args.fit.method.as_deref().unwrap_or("cpc");
            PathBuf::from("runs").join(format!("{name}-{method}-tune"))
        }
    };
    args.fit.out = Some(folder.clone());
    let settings = settings::resolve(&args.fit, None)?;
    settings.place.set_up()?;
    let source = settings.open(printer)?;
    let ask = optuna::ask;
    let mut options = TuneOptions {
        jobs: usize::from(args.jobs),
        time: args.time,
        ask: match args.sampler.as_str() {
            "random" => Ask::Sampler(Sampler::Random),
            "quasi-random" => Ask::Sampler(Sampler::QuasiRandom),
            "optuna" => Ask::Other(&ask),
            _ => Ask::Sampler(Sampler::Tpe),
        },
        pruner: match args.pruner.as_str() {
            "asha" => Pruner::ASHA,
            "none" => Pruner::Nothing,
            _ => Pruner::MEDIAN,
        },
        ..TuneOptions::new(&folder)
    };
    if let Some(trials) = args.trials {
        options.trials = trials as usize;
    }
    if let Some(path) = &args.space {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("the space {} cannot be read", path.display()))?;
        options.space = Some((path.display().to_string(), text));
    }
    let rows = source.rows.len();
    if args.print_space {
        let space = Tuning::space_for(&settings.estimator, &source.rows, &options)?;
        printer.write(format!("{:#}\n", space.to_json()).as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let tuning = Tuning::open(&settings.estimator, source, &options)?;
    printer.note(format!(
        "{}: {} rows, {} settings searched, {} by {}, folder {}",
        settings.data.short(),
        count(rows),
        tuning.space().parameters.len(),
        tuning.loss_name(),
        tuning.evaluated_on(),
        folder.display()
    ));
    let screen = Screen::new(printer.quiet, interrupt::watch()?).titled();
    if let Some(number) = args.one_trial {
        return one_trial(&tuning, number, &options, &screen, printer);
    }
    let is_whole = tuning.search(&options, &screen)?;
    if !is_whole {
        printer.note("stopped; the same command resumes");
        return Ok(interrupt::exit_code());
    }
    let found = tuning.finish(&screen)?;
    let figures = cpcvae_lab::search_figures::search_figures(
        &folder,
        tuning.loss_name(),
        &found.space,
        &found.trials,
        &found.importances,
    )?;
    if let Some(warning) = &found.warning {
        printer.warn(warning);
    }
    let report = text::SearchReport {
        found: &found,
        loss: tuning.loss_name(),
        folder: &folder,
        figures: &figures,
    };
    printer.answer(&report.text(), &report.json())?;
    Ok(ExitCode::SUCCESS)
}

fn one_trial(
    tuning: &Tuning,
    number: Option<usize>,
    options: &TuneOptions<'_>,
    screen: &Screen,
    printer: Printer,
) -> Result<ExitCode> {
    match tuning.one_trial(number, options, screen)? {
        Some(trial) => {
            let json = text::trial_json(tuning.space(), &trial);
            let line = format!("trial {}: {}\n", trial.number, text::outcome(&trial));
            printer.answer(&line, &json)?;
            Ok(ExitCode::SUCCESS)
        }
        None if screen.is_stopped() => Ok(interrupt::exit_code()),
        None => {
            printer.note("no trial is left: all that were requested are done");
            Ok(ExitCode::SUCCESS)
        }
    }
}
