//! `cpcvae experiment`: trains the cells of a plan that are missing, then makes its table and
//! figures from what is recorded.

mod built_in;
mod code_map;
mod commit;
mod curve;
mod figures;
mod heat;
mod job;
mod panels;
mod present;
mod regions;

use crate::args::ExperimentArgs;
use crate::interrupt;
use crate::printer::{Printer, count};
use crate::progress::Progress;
use anyhow::Result;
use cpcvae_data::DataName;
use cpcvae_lab::experiment::{CellKey, Plan, Record, ResultsFile, in_words, time_left};
use figures::Studio;
use job::{Bench, Job, Keep};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Lists experiments, or runs one.
pub fn run(args: &ExperimentArgs, printer: Printer) -> Result<ExitCode> {
    if args.list {
        printer.write(built_in::list()?.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    args.place.set_up()?;
    let (name, plan) = built_in::find(args)?;
    let data = DataName::parse(&plan.data)?;
    let jobs = Job::all(&plan, &data, args.place.precision.as_deref(), &name)?;
    let mut results = ResultsFile::open(&args.results.join(format!("{name}.jsonl")), &name)?;
    if results.dropped() > 0 {
        printer.note(format!(
            "{}: the last line was cut short when the program was killed; that cell goes on",
            results.path().display()
        ));
    }
    let bench = Bench {
        data,
        data_dir: args.place.data_dir(),
        device: cpcvae::device::device(&args.place.device)?,
        runs: args.results.join("runs").join(&name),
        commit: commit::commit(),
        experiment: name,
    };
    let missing = missing(&jobs, &results, &plan, args, &bench);
    let is_whole = train(&missing, &mut results, &plan, &bench, printer)?;
    if !is_whole {
        printer.note(format!("stopped; go on with\n  {}", present::again(args)));
    }
    let studio = Studio {
        jobs: &jobs,
        bench: &bench,
        stem: &args.results.join(&bench.experiment),
        printer,
    };
    let answer = present::write(&plan, &results, &studio, args, is_whole)?;
    printer.answer(&answer.text, &answer.json)?;
    Ok(match is_whole {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(interrupt::EXIT_CODE),
    })
}

/// The cells that were asked for and have no line yet.
fn missing<'a>(
    jobs: &'a [Job],
    results: &ResultsFile,
    plan: &Plan,
    args: &ExperimentArgs,
    bench: &Bench,
) -> Vec<&'a Job> {
    let is_missing = |job: &&Job| {
        let lost = || Keep::of(plan, &job.key) != Keep::Nothing && !job.has_model(&bench.runs);
        results.find(&job.key, &job.hash).is_none() || (args.retrain && lost())
    };
    let is_asked_for = |job: &&Job| {
        let described = format!("{} {}", job.key, job.config.method.name()).to_lowercase();
        let named = |text: &String| described.contains(&text.to_lowercase());
        args.only.is_empty() || args.only.iter().any(named)
    };
    let jobs = jobs.iter().filter(is_asked_for);
    jobs.filter(is_missing).collect()
}

/// Trains cells one after the other and records each. Says whether it came to the end.
fn train(
    missing: &[&Job],
    results: &mut ResultsFile,
    plan: &Plan,
    bench: &Bench,
    printer: Printer,
) -> Result<bool> {
    if missing.is_empty() {
        return Ok(true);
    }
    let stop = interrupt::watch()?;
    for (index, job) in missing.iter().enumerate() {
        printer.note(heading(missing, index, results));
        if !train_one(job, results, plan, bench, &stop, printer)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn train_one(
    job: &Job,
    results: &mut ResultsFile,
    plan: &Plan,
    bench: &Bench,
    stop: &Arc<AtomicBool>,
    printer: Printer,
) -> Result<bool> {
    let keep = Keep::of(plan, &job.key);
    let twin = results
        .same_settings(&job.hash)
        .filter(|_| keep == Keep::Nothing);
    if let Some(twin) = twin {
        printer.note(format!("  the same settings as {}", twin.key));
        let key = job.key.clone();
        results.append(Record {
            key,
            ..twin.clone()
        })?;
        return Ok(true);
    }
    let mut progress = Progress::new("", printer.quiet, Arc::clone(stop));
    let record = job.train(bench, &mut progress);
    progress.finish();
    let Some(record) = record? else {
        return Ok(false);
    };
    let figures = plan.report.metrics.iter().filter_map(|metric| {
        let value = record.metrics.get(*metric)?;
        let (decimals, unit) = (metric.decimals(), metric.unit());
        Some(format!("{} {value:.decimals$} {unit}", metric.title()))
    });
    let figures: Vec<String> = figures.collect();
    let took = format!("{} steps in {:.1} s", record.steps, record.seconds);
    printer.note(format!("  {took}: {}", figures.join(", ").trim_end()));
    results.append(record)?;
    job.tidy(&bench.runs, keep)?;
    Ok(!stop.load(Ordering::SeqCst))
}

/// Where the experiment stands, before a cell.
fn heading(missing: &[&Job], index: usize, results: &ResultsFile) -> String {
    let left: Vec<CellKey> = missing[index..].iter().map(|job| job.key.clone()).collect();
    let left = match time_left(results.records(), &left) {
        Some(seconds) => format!(", about {} left in all", in_words(seconds)),
        None => String::new(),
    };
    format!(
        "cell {} of {}{left}: {}",
        count(index + 1),
        count(missing.len()),
        missing[index].key
    )
}
