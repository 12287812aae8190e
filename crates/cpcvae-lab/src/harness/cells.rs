//! Cells trained separately, for many machines: each has a number, and a result file of its own,
//! until all are merged.
//!
//! A cell with a result is done and not trained again; a killed one resumes from its checkpoint.
//! Merged, the results are the lines that one process would have written, in the same order: they
//! only differ in measured times and program versions.

use super::job::{Bench, Job, Keep};
use super::{Answer, Options, open};
use crate::experiment::Record;
use anyhow::{Context, Result, bail};
use cpcvae::train::Watch;
use cpcvae_data::write_atomically;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Environment variables with the number of a task, counted from 0: of HyperQueue, of Slurm arrays,
/// and of indexed Kubernetes jobs.
pub(crate) const INDEX_VARIABLES: [&str; 3] =
    ["HQ_TASK_ID", "SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX"];

/// The value of the first of these variables that is set.
pub fn index_of(variable: impl Fn(&str) -> Option<String>) -> Result<usize> {
    for name in INDEX_VARIABLES {
        if let Some(text) = variable(name) {
            return text.trim().parse().with_context(|| {
                format!("the number of the cell: {name} is `{text}`, which is no number")
            });
        }
    }
    bail!(
        "which cell? give its number, or set one of {}",
        INDEX_VARIABLES.join(", ")
    )
}

/// All cells, with their numbers and whether they are done.
pub fn list(options: &Options) -> Result<Answer> {
    let opened = open(options)?;
    let mut text = String::new();
    let mut cells = Vec::new();
    for (index, job) in opened.jobs.iter().enumerate() {
        let in_results = opened.results.find(&job.key, &job.hash).is_some();
        let is_done = in_results || load(job, index, &opened.bench)?.is_some();
        let done = if is_done { "done" } else { "-" };
        text += &format!("{index:>5}  {done:<5} {}\n", job.key);
        cells.push(json!({
            "index": index,
            "cell": job.key,
            "hash": job.hash,
            "done": is_done,
        }));
    }
    Ok(Answer {
        text,
        json: json!({ "experiment": opened.bench.experiment, "cells": cells }),
        is_whole: true,
    })
}

/// How many cells there are, and the experiment's name.
pub fn count(options: &Options) -> Result<(usize, String)> {
    let opened = open(options)?;
    Ok((opened.jobs.len(), opened.bench.experiment))
}

/// Trains one cell, unless it is done, and writes its result.
pub fn one(options: &Options, index: usize, watch: &dyn Watch) -> Result<Answer> {
    let opened = open(options)?;
    let (jobs, bench) = (&opened.jobs, &opened.bench);
    let Some(job) = jobs.get(index) else {
        bail!(
            "there is no cell {index}; {} has the cells 0 to {}",
            bench.experiment,
            jobs.len().saturating_sub(1)
        );
    };
    let answer = |said: String, record: Option<&Record>| -> Result<Answer> {
        Ok(Answer {
            text: format!("cell {index}, {}: {said}\n", job.key),
            json: json!({ "index": index, "record": record }),
            is_whole: record.is_some(),
        })
    };
    let merged = opened.results.find(&job.key, &job.hash).cloned();
    let done = match merged {
        Some(record) => Some(record),
        None => load(job, index, bench)?,
    };
    if let Some(record) = done {
        return answer("done before".into(), Some(&record));
    }
    // Two workers with the same cell must not overwrite each other.
    let folder = job.folder(&bench.runs);
    let lock = folder.claim()?;
    let record = job.train(bench, watch)?;
    let Some(record) = record else {
        return answer("stopped; the same command continues it".into(), None);
    };
    let path = file(job, index, bench);
    let text = serde_json::to_string(&record)? + "\n";
    if let Some(folder) = path.parent() {
        cpcvae_data::create_folder(folder)
            .with_context(|| format!("the folder {} cannot be made", folder.display()))?;
    }
    write_atomically(&path, text.as_bytes())?;
    drop(lock);
    job.tidy(&bench.runs, Keep::of(&opened.plan, &job.key))?;
    let (steps, seconds) = (record.steps, record.seconds);
    answer(format!("{steps} steps in {seconds:.1} s"), Some(&record))
}

/// Merges results of cells into the experiment's file, in the order of the plan, and makes its
/// table and figures.
pub fn merge(options: &Options, watch: &dyn Watch) -> Result<Answer> {
    let mut opened = open(options)?;
    let mut added = 0;
    for (index, job) in opened.jobs.iter().enumerate() {
        if opened.results.find(&job.key, &job.hash).is_some() {
            continue;
        }
        if let Some(record) = load(job, index, &opened.bench)? {
            opened.results.append(record)?;
            added += 1;
        }
    }
    watch.note(&format!(
        "{added} of {} cells added to {}",
        opened.jobs.len(),
        opened.results.path().display()
    ));
    opened.present(options, watch, true)
}

/// The result file of a cell, which depends on its settings.
fn file(job: &Job, index: usize, bench: &Bench) -> PathBuf {
    let name = format!("{index:05}-{}.json", job.hash);
    folder(bench).join(name)
}

fn folder(bench: &Bench) -> PathBuf {
    let results = bench.runs.parent().and_then(Path::parent);
    let results = results.unwrap_or(Path::new("."));
    results.join("cells").join(&bench.experiment)
}

/// The result of a cell, if there is one with its settings.
fn load(job: &Job, index: usize, bench: &Bench) -> Result<Option<Record>> {
    let path = file(job, index, bench);
    let text = match std::fs::read_to_string(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        text => text.with_context(|| format!("{} cannot be read", path.display()))?,
    };
    let record: Record = serde_json::from_str(&text).with_context(|| {
        format!(
            "{} is not the result of a cell; remove it to train the cell again",
            path.display()
        )
    })?;
    Ok((record.key == job.key && record.hash == job.hash).then_some(record))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_comes_from_whoever_started_the_task() {
        let only = |name: &'static str, value: &'static str| {
            move |asked: &str| (asked == name).then(|| value.to_string())
        };
        for name in INDEX_VARIABLES {
            assert_eq!(index_of(only(name, "12")).expect("a number"), 12);
        }
        let error = index_of(only("SLURM_ARRAY_TASK_ID", "x")).expect_err("no number");
        assert!(error.to_string().contains("SLURM_ARRAY_TASK_ID is `x`"));
        assert!(index_of(|_| None).is_err());
    }
}
