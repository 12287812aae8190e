//! Runs experiments: trains the missing cells of a plan, then makes its table and figures from the
//! records.

pub mod cells;
pub mod cluster;
mod code_map;
mod curve;
mod figures;
mod heat;
mod job;
mod panels;
mod plans;
mod present;
mod regions;

pub use plans::{UnknownExperiment, list};

use crate::experiment::{CellKey, Plan, Record, ResultsFile, in_words, time_left};
use anyhow::Result;
use cpcvae::train::Watch;
use cpcvae_data::DataName;
use figures::FigureContext;
use job::{Bench, Job, Keep};
use std::path::PathBuf;

/// Which plan is run.
#[derive(Clone, Debug)]
pub enum PlanName {
    /// A built-in one.
    BuiltIn(String),
    /// A user's file.
    File(PathBuf),
}

/// Options of an experiment.
#[derive(Clone, Debug)]
pub struct Options {
    /// The plan.
    pub plan: PlanName,
    /// The command for making the table, quoted on its page.
    pub origin: String,
    /// The command for resuming after a stop.
    pub again: String,
    /// Whether the small version is run, with results of its own.
    pub quick: bool,
    /// Draws of every method, if different from the plan.
    pub draws: Option<u64>,
    /// Only cells whose description has one of these texts; all where it is empty.
    pub only: Vec<String>,
    /// Whether missing models that a figure needs are trained again.
    pub retrain: bool,
    /// Folder of results.
    pub results: PathBuf,
    /// The folder of data sets.
    pub data_dir: PathBuf,
    /// The device.
    pub device: String,
    /// Precision of products, if different from the plan.
    pub precision: Option<String>,
}

/// The output of an experiment.
#[derive(Clone, Debug)]
pub struct Answer {
    /// As text.
    pub text: String,
    /// As a JSON object.
    pub json: serde_json::Value,
    /// Whether all requested cells are trained; otherwise a stop was asked for.
    pub is_whole: bool,
}

/// An experiment whose plan is read and whose results are open.
struct Opened {
    plan: Plan,
    jobs: Vec<Job>,
    results: ResultsFile,
    bench: Bench,
}

fn open(options: &Options) -> Result<Opened> {
    let (name, plan) = plans::find(options)?;
    let data = DataName::parse(&plan.data)?;
    let jobs = Job::all(&plan, &data, options.precision.as_deref(), &name)?;
    let path = options.results.join(format!("{name}.jsonl"));
    let results = ResultsFile::open(&path, &name)?;
    let bench = Bench {
        data,
        data_dir: options.data_dir.clone(),
        device: cpcvae::device::device(&options.device)?,
        runs: options.results.join("runs").join(&name),
        commit: env!("CPCVAE_COMMIT").into(),
        experiment: name,
    };
    Ok(Opened {
        plan,
        jobs,
        results,
        bench,
    })
}

impl Opened {
    /// Writes the table, and the figures if all requested cells are trained.
    fn present(&self, options: &Options, watch: &dyn Watch, is_whole: bool) -> Result<Answer> {
        let context = FigureContext {
            jobs: &self.jobs,
            bench: &self.bench,
            stem: &options.results.join(&self.bench.experiment),
            watch,
        };
        let (text, json) = present::write(&self.plan, &self.results, &context, options, is_whole)?;
        Ok(Answer {
            text,
            json,
            is_whole,
        })
    }
}

/// Runs one.
pub fn run(options: &Options, watch: &dyn Watch) -> Result<Answer> {
    let mut opened = open(options)?;
    if opened.results.dropped() > 0 {
        watch.note(&format!(
            "{}: the last line was cut short when the program was killed; that cell is resumed",
            opened.results.path().display()
        ));
    }
    let missing = missing(
        &opened.jobs,
        &opened.results,
        &opened.plan,
        options,
        &opened.bench,
    );
    let is_whole = train(
        &missing,
        &mut opened.results,
        &opened.plan,
        &opened.bench,
        watch,
    )?;
    if !is_whole {
        watch.note(&format!("stopped; resume with\n  {}", options.again));
    }
    opened.present(options, watch, is_whole)
}

/// The requested cells without a record.
fn missing<'a>(
    jobs: &'a [Job],
    results: &ResultsFile,
    plan: &Plan,
    options: &Options,
    bench: &Bench,
) -> Vec<&'a Job> {
    let is_missing = |job: &&Job| {
        let lost = || Keep::of(plan, &job.key) != Keep::Nothing && !job.has_model(&bench.runs);
        results.find(&job.key, &job.hash).is_none() || (options.retrain && lost())
    };
    let is_asked_for = |job: &&Job| {
        let described = format!("{} {}", job.key, job.config.method.name()).to_lowercase();
        let named = |text: &String| described.contains(&text.to_lowercase());
        options.only.is_empty() || options.only.iter().any(named)
    };
    let jobs = jobs.iter().filter(is_asked_for);
    jobs.filter(is_missing).collect()
}

/// Trains cells in sequence and records each. Returns whether it finished.
fn train(
    missing: &[&Job],
    results: &mut ResultsFile,
    plan: &Plan,
    bench: &Bench,
    watch: &dyn Watch,
) -> Result<bool> {
    for (index, job) in missing.iter().enumerate() {
        watch.note(&heading(missing, index, results));
        if !train_one(job, results, plan, bench, watch)? {
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
    watch: &dyn Watch,
) -> Result<bool> {
    let keep = Keep::of(plan, &job.key);
    let twin = results
        .same_settings(&job.hash)
        .filter(|_| keep == Keep::Nothing);
    if let Some(twin) = twin {
        watch.note(&format!("  the same settings as {}", twin.key));
        let key = job.key.clone();
        results.append(Record {
            key,
            ..twin.clone()
        })?;
        return Ok(true);
    }
    let record = job.train(bench, watch)?;
    let Some(record) = record else {
        return Ok(false);
    };
    let figures = plan.report.metrics.iter().filter_map(|metric| {
        let value = record.metrics.get(*metric)?;
        let (decimals, unit) = (metric.decimals(), metric.unit());
        Some(format!("{} {value:.decimals$} {unit}", metric.title()))
    });
    let figures: Vec<String> = figures.collect();
    let took = format!("{} steps in {:.1} s", record.steps, record.seconds);
    watch.note(&format!("  {took}: {}", figures.join(", ").trim_end()));
    results.append(record)?;
    job.tidy(&bench.runs, keep)?;
    Ok(true)
}

/// The progress of the experiment, before a cell.
fn heading(missing: &[&Job], index: usize, results: &ResultsFile) -> String {
    let left: Vec<CellKey> = missing[index..].iter().map(|job| job.key.clone()).collect();
    let left = match time_left(results.records(), &left) {
        Some(seconds) => format!(", about {} left in all", in_words(seconds)),
        None => String::new(),
    };
    format!(
        "cell {} of {}{left}: {}",
        index + 1,
        missing.len(),
        missing[index].key
    )
}
