//! `cpcvae fit`: trains a model, and measures it on labels held out.

use super::compare::{self, Compared, End};
use crate::data_name::DataName;
use crate::held_out::Trainer;
use crate::interrupt;
use crate::printer::{Printer, count};
use crate::progress::{self, Progress};
use crate::settings::FitSettings;
use crate::units;
use crate::user_file::UserFile;
use anyhow::Result;
use cpcvae::calibration::Calibration;
use cpcvae::device::Device;
use cpcvae::infer::Evaluation;
use cpcvae::run::{RunReport, Trained};
use cpcvae::train::StopReason;
use cpcvae_data::{Dataset, Split};
use serde_json::json;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Trains, or goes on, and reports.
pub fn run(mut settings: FitSettings, printer: Printer) -> Result<ExitCode> {
    settings.place.set_up()?;
    let device = cpcvae::device::device(&settings.place.device)?;
    let source = match &settings.data {
        DataName::File(path) => {
            let file = UserFile::open(path, &settings.config)?;
            file.tell(printer);
            file.into_source()?
        }
        built_in => built_in.open(&settings.config, &settings.place.data_dir())?,
    };
    settings.suit(&source.rows)?;
    let FitSettings { config, folder, .. } = &settings;
    printer.note(format!(
        "{}: {} rows, method {}, run folder {}",
        source.rows.name,
        count(source.rows.len()),
        config.method.name(),
        folder.path().display()
    ));
    // Shares the rows, which stay where they are.
    let rows = source.rows.clone();
    let stop = interrupt::watch()?;
    let mut progress = Progress::new("", printer.quiet, Arc::clone(&stop));
    let report = cpcvae::run::run(config, source, folder, &device, &mut progress);
    progress.finish();
    let report = report?;

    if report.fit.stop == StopReason::Interrupted {
        let text = interrupted(&settings, &report);
        printer.answer(&text, &in_json(&settings, &report, None)?)?;
        return Ok(ExitCode::from(interrupt::EXIT_CODE));
    }
    let split = Split::load(folder.path().join("split.json"))?;
    let (compared, code) = match measure(&settings, &rows, &split, &device, printer, stop)? {
        Measured::Compared(compared) => (Some(compared), ExitCode::SUCCESS),
        Measured::Plain => (None, ExitCode::SUCCESS),
        Measured::Interrupted => (None, ExitCode::from(interrupt::EXIT_CODE)),
    };
    let compared = compared.as_deref();
    let text = summary(&settings, &report, &split, compared);
    let mut value = in_json(&settings, &report, Some(&split))?;
    value["held_out"] = json!(compared.map(Compared::in_json));
    printer.answer(&text, &value)?;
    Ok(code)
}

/// What is known of the model beyond its report.
enum Measured {
    Compared(Box<Compared>),
    Plain,
    Interrupted,
}

/// Finds out how usual rows look and, where wanted, how good answers are on held-out labels, and
/// keeps both beside the model.
fn measure(
    settings: &FitSettings,
    data: &Dataset,
    split: &Split,
    device: &Device,
    printer: Printer,
    stop: Arc<AtomicBool>,
) -> Result<Measured> {
    let FitSettings { config, folder, .. } = settings;
    let trained = Trained::open(folder, device, config.seed)?;
    let answers = Calibration::unknown().with_typical(&trained, data, split)?;
    answers.save(folder)?;
    if !settings.held_out.wanted || !config.method.uses_labels() {
        return Ok(Measured::Plain);
    }
    let trainer = Trainer {
        device,
        printer,
        stop,
    };
    let known = compare::Known {
        answers,
        unlabelled: trained.answers_without_label(data, split)?,
    };
    match compare::run(settings, data, split, known, &trainer)? {
        End::Done(compared) => {
            compared.answers.save(folder)?;
            Ok(Measured::Compared(compared))
        }
        End::Interrupted => {
            printer.note(format!(
                "stopped before all labels were held out; the model is finished, and\n  cpcvae fit \
                 {} --out {} --resume\ngoes on with the rest",
                config.data.source,
                folder.path().display()
            ));
            Ok(Measured::Interrupted)
        }
        End::Skipped(why) => {
            printer.note(format!("no labels are held out: {why}"));
            Ok(Measured::Plain)
        }
    }
}

fn in_json(
    settings: &FitSettings,
    report: &RunReport,
    split: Option<&Split>,
) -> Result<serde_json::Value> {
    let mut value = serde_json::to_value(report)?;
    value["run"] = json!(settings.folder.path());
    value["data"] = json!(settings.config.data.source);
    value["method"] = json!(settings.config.method.name());
    value["seed"] = json!(settings.config.seed);
    if let Some(split) = split {
        value["labelled"] = json!(split.labelled.len());
        value["unlabelled"] = json!(split.unlabelled.len());
    }
    Ok(value)
}

fn interrupted(settings: &FitSettings, report: &RunReport) -> String {
    let FitSettings { config, folder, .. } = settings;
    format!(
        "stopped at step {} with a checkpoint; go on with\n  cpcvae fit {} --out {} --resume\n",
        count(report.fit.steps as usize),
        config.data.source,
        folder.path().display()
    )
}

fn summary(
    settings: &FitSettings,
    report: &RunReport,
    split: &Split,
    compared: Option<&Compared>,
) -> String {
    let FitSettings { config, folder, .. } = settings;
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
    text += &format!("run folder  {}\n", folder.path().display());
    text + &compared.map(Compared::text).unwrap_or_default()
}
