//! Table and figures of an experiment from its records.

use super::Options;
use super::figures::{self, FigureContext};
use crate::experiment::{CellKey, Entry, Plan, Record, ResultsFile, entries, report, rows};
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

/// Writes table and figures of all records with the plan's settings. Returns text and a JSON
/// object.
pub(super) fn write(
    plan: &Plan,
    results: &ResultsFile,
    context: &FigureContext<'_>,
    options: &Options,
    with_figures: bool,
) -> Result<(String, serde_json::Value)> {
    let found: Vec<(CellKey, Option<&Record>)> = context
        .jobs
        .iter()
        .map(|job| (job.key.clone(), results.find(&job.key, &job.hash)))
        .collect();
    let done: Vec<&Record> = found.iter().filter_map(|(_, record)| *record).collect();
    let rows = rows(&found);
    let numbers = entries(plan, &rows);
    let figures = match with_figures {
        true => figures::draw_all(plan, &rows, context)?,
        false => Vec::new(),
    };
    let mut text = format!("{}\n", plan.title);
    let missing = found.len() - done.len();
    if missing > 0 {
        text += &format!("{missing} of {} cells are not trained yet\n", found.len());
    }
    let mut files = Vec::new();
    if !numbers.is_empty() {
        let origin = format!(
            "`{}`: {} of {} cells, commit {}",
            options.origin,
            done.len(),
            found.len(),
            commits(&done)
        );
        let page = page(plan, &numbers, &origin, &figures);
        files.push(save(context.stem, "md", &page)?);
        files.push(save(context.stem, "csv", &report::csv(&numbers))?);
        text += &format!("\n{}\n", report::text(plan, &numbers));
    }
    for path in &files {
        text += &format!("wrote {}\n", path.display());
    }
    // Figures that were not updated have a remark.
    for path in &figures {
        text += &format!("figure {}\n", path.display());
    }
    let mut json = report::json(&numbers);
    json["missing"] = missing.into();
    json["figures"] = serde_json::to_value(&figures)?;
    Ok((text, json))
}

/// The versions that made the records.
fn commits(done: &[&Record]) -> String {
    let mut commits: Vec<&str> = done.iter().map(|record| record.commit.as_str()).collect();
    commits.sort_unstable();
    commits.dedup();
    commits.join(", ")
}

fn save(stem: &Path, extension: &str, content: &str) -> Result<PathBuf> {
    let path = PathBuf::from(format!("{}.{extension}", stem.display()));
    cpcvae_data::write_atomically(&path, content.as_bytes())
        .with_context(|| format!("the table {} cannot be written", path.display()))?;
    Ok(path)
}

/// The table with its origin, and the figures.
fn page(plan: &Plan, numbers: &[Entry], origin: &str, figures: &[PathBuf]) -> String {
    let mut page = format!(
        "# {}\n\n{origin}. Mean ± standard deviation over draws of labels, weights and noise; \
         what is chosen is chosen on validation rows, and test rows are looked at once, after \
         training.\n\n{}",
        plan.title,
        report::markdown(plan, numbers)
    );
    for figure in figures {
        let file = figure.file_name().unwrap_or_default().to_string_lossy();
        if let Some(name) = file.strip_suffix(".png") {
            page += &format!("\n![{name}]({file})\n");
        }
    }
    page
}
