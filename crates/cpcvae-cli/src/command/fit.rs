//! `cpcvae fit`: trains a model, and evaluates it on held-out labels.

use super::cells;
use super::compare::Compared;
use crate::args::{FitArgs, FitOrCellArgs};
use crate::exit::ExitCode;
use crate::interrupt;
use crate::printer::{Printer, count};
use crate::progress::{self, Screen};
use crate::ranks::Ranks;
use crate::settings::{self, FitSettings};
use crate::units;
use anyhow::Result;
use cpcvae::Error;
use cpcvae::config::RunConfig;
use cpcvae::device::device;
use cpcvae::estimator::{Fit, Fitted, HeldOutState};
use cpcvae::infer::Evaluation;
use cpcvae::tensorboard::TensorBoard;
use cpcvae::train::{StopReason, TrainingInfo, Watch};
use cpcvae_data::DataName;
use serde_json::{Value, json};
use std::path::Path;

/// Trains or resumes, and reports: by one process, or as one rank of several. Or does one of the
/// trainings.
pub(crate) fn run(mut args: FitOrCellArgs, printer: Printer) -> Result<ExitCode> {
    if args.cells.are_given() {
        // Another cell may have started the run.
        args.fit.resume = true;
        let settings = settings::resolve(&args.fit, None)?;
        settings.place.set_up()?;
        let cells = settings
            .estimator
            .fit_cells(settings.open(printer.quietly())?)?;
        return cells::run(&cells, &args.cells, printer);
    }
    let args = &args.fit;
    let ranks = Ranks::join()?;
    let result = match ranks.leads() {
        true => lead(args, &ranks, printer),
        false => assist(args, &ranks),
    };
    ranks.leave(result)
}

/// Takes part in the training of rank 0, quietly.
fn assist(args: &FitArgs, ranks: &Ranks) -> Result<ExitCode> {
    ranks.check_source(&args.data)?;
    args.place.set_up()?;
    let data = DataName::parse(&args.data)?;
    let data_dir = args.place.data_dir();
    let open = |config: &RunConfig| {
        let needs_labels = config.method.uses_labels();
        Ok(data.open(&config.data, config.seed, &data_dir, needs_labels)?)
    };
    let screen = Screen::new(true, interrupt::watch()?);
    let mut observer = screen.training(&TrainingInfo {
        name: String::new(),
        part: 0,
        parts: 1,
    });
    let device = device(&args.place.device)?;
    let communicator = ranks.communicator();
    cpcvae::run::assist(communicator.as_ref(), &device, open, observer.as_mut())?;
    Ok(match screen.is_stopped() {
        true => interrupt::exit_code(),
        false => ExitCode::SUCCESS,
    })
}

fn lead(args: &FitArgs, ranks: &Ranks, printer: Printer) -> Result<ExitCode> {
    ranks.check_source(&args.data)?;
    let mut settings = settings::resolve(args, ranks.count())?;
    settings.estimator = settings.estimator.with_ranks(ranks.communicator());
    settings.place.set_up()?;
    let source = settings.open(printer)?;
    printer.note(format!(
        "{}: {} rows, method {}, run folder {}",
        source.rows.name,
        count(source.rows.len()),
        settings.estimator.settings(&source.rows)?.method.name(),
        settings.folder.display()
    ));
    let screen = Screen::new(printer.quiet, interrupt::watch()?);
    // Shares the rows without copying them.
    let rows = source.rows.clone();
    let board = args.tensorboard.as_ref();
    let board = board.map(|folder| TensorBoard::new(folder, &screen));
    let watch: &dyn Watch = match &board {
        Some(board) => board,
        None => &screen,
    };
    let fitted = match settings.estimator.fit_watched(source, watch) {
        Ok(fitted) => fitted,
        Err(Error::Stopped { step }) => return stopped(&settings, step, printer),
        Err(error) => return Err(error.into()),
    };
    if let Some(Err(problem)) = board.map(|board| board.finish(&fitted)) {
        printer.warn(format!(
            "not everything is written for TensorBoard: {problem}"
        ));
    }
    let code = match fitted.held_out() {
        HeldOutState::Measured | HeldOutState::NotAsked => ExitCode::SUCCESS,
        HeldOutState::Impossible(why) => {
            printer.note(format!("no labels are held out: {why}"));
            ExitCode::SUCCESS
        }
        HeldOutState::Stopped => {
            printer.note(format!(
                "stopped before all labels were held out; the model is finished, and\n  \
                 {}\ncontinues with the rest",
                again(&settings)
            ));
            interrupt::exit_code()
        }
    };
    if let Some(sent) = ranks.sent() {
        printer.note(sent);
    }
    let page = settings.folder.join("report.html");
    fitted.write_html_report(&rows, &page)?;
    let compared = Compared::of(&fitted);
    let text = summary(&fitted, &settings.folder, compared.as_ref());
    let mut value = in_json(&fitted, &settings)?;
    value["held_out"] = json!(compared.as_ref().map(Compared::in_json));
    printer.answer(&text, &value)?;
    Ok(code)
}

/// A word quoted for a shell.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./=:,+@%".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.into(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// The command to resume: what was typed, with the folder and `--resume`.
fn again(settings: &FitSettings) -> String {
    let mut words = crate::typed();
    words.retain(|word| word != "--overwrite");
    let is_given = |name: &str, short: &str| {
        let starts = |word: &String| word == name || word.starts_with(&format!("{name}="));
        words
            .iter()
            .any(|word| starts(word) || (!short.is_empty() && word.starts_with(short)))
    };
    let (has_folder, resumes) = (is_given("--out", "-o"), is_given("--resume", ""));
    if !has_folder {
        words.extend(["--out".into(), settings.folder.display().to_string()]);
    }
    if !resumes {
        words.push("--resume".into());
    }
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    format!("cpcvae {}", words.join(" "))
}

fn stopped(settings: &FitSettings, step: u64, printer: Printer) -> Result<ExitCode> {
    let text = format!(
        "stopped at step {} with a checkpoint; resume with\n  {}\n",
        count(step as usize),
        again(settings)
    );
    let value = json!({
        "run": settings.folder,
        "data": settings.source,
        "method": settings.estimator.request().method(),
        "fit": { "stop": StopReason::Interrupted, "steps": step },
    });
    printer.answer(&text, &value)?;
    Ok(interrupt::exit_code())
}

fn in_json(fitted: &Fitted, settings: &FitSettings) -> Result<Value> {
    let config = fitted.config();
    let mut value = serde_json::to_value(fitted.report())?;
    value["run"] = json!(settings.folder);
    value["data"] = json!(config.data.source);
    value["method"] = json!(config.method.name());
    value["seed"] = json!(config.seed);
    value["labelled"] = json!(fitted.split().labelled.len());
    value["unlabelled"] = json!(fitted.split().unlabelled.len());
    Ok(value)
}

fn summary(fitted: &Fitted, folder: &Path, compared: Option<&Compared<'_>>) -> String {
    let (config, report, split) = (fitted.config(), fitted.report(), fitted.split());
    let fit = &report.fit;
    let ended = match fit.stop {
        StopReason::EarlyStop => ", stopped early as validation no longer improved",
        _ => "",
    };
    let kept = match fit.kept_step == fit.steps {
        true => String::new(),
        false => format!(
            "; the model of step {} was best and is kept",
            count(fit.kept_step as usize)
        ),
    };
    let measured = |evaluation: &Option<Evaluation>| match evaluation {
        Some(evaluation) => units::line(evaluation, config.data.label.len()),
        None => "no rows were kept for it".into(),
    };
    let mut text = format!(
        "{} on {}: {} steps in {:.1} s{ended}{kept}\n",
        config.method.name(),
        config.data.source,
        count(fit.steps as usize),
        fit.seconds
    );
    text += &format!(
        "trained on  {} labelled and {} unlabelled rows\n",
        count(split.labelled.len()),
        count(split.unlabelled.len())
    );
    if fit.validation.is_some() {
        text += &format!("validation  {}\n", measured(&fit.validation));
    }
    text += &format!("test        {}\n", measured(&report.test));
    if report.test.as_ref().is_some_and(|test| test.elbo.is_some()) {
        text += &format!(
            "likelihood  {}, which ELBOs depend on\n",
            units::likelihood(report.likelihood, report.scale_floor)
        );
    }
    text += &compared.map(Compared::line).unwrap_or_default();
    if let Some(constraint) = &fit.constraint {
        text += &progress::constraint(constraint);
        text.push('\n');
    }
    text += &format!("run folder  {}\n", folder.display());
    text += &format!("report      {}\n", folder.join("report.html").display());
    text + &compared.map(Compared::text).unwrap_or_default()
}
