//! `cpcvae suggest`: the rows most worth labelling.

use crate::args::SuggestArgs;
use crate::carried::{Carried, cells as column_cells};
use crate::data_name::DataName;
use crate::opened::{LabelColumns, Model};
use crate::output::write_csv;
use crate::printer::{Printer, count};
use anyhow::{Result, bail};
use cpcvae::answers::{Answers, DENSITY_DRAWS, log_densities};
use cpcvae::infer::calibrate::at_temperature;
use cpcvae::infer::{Typical, entropy, largest, suggest};
use cpcvae::model::Target;
use cpcvae_data::{Dataset, read_csv_texts};
use std::process::ExitCode;

/// Scores the unlabelled rows and writes the chosen ones, the best first.
pub fn run(args: &SuggestArgs, printer: Printer) -> Result<ExitCode> {
    let model = Model::open(&args.model)?;
    let Target::Classes(names) = &model.trained.card.shape.target else {
        bail!("rows are suggested by how sure their class is, and this model predicts no classes");
    };
    let all = model.features(&args.data)?;
    let carried = Carried::read(&args.carried, &model, &args.data)?;
    let candidates = unlabelled(&model, &args.data, &all)?;
    if candidates.is_empty() {
        bail!(
            "all {} rows of `{}` have labels already",
            count(all.len()),
            args.data
        );
    }
    let rows = all.select(&candidates);
    let prepared = model.prepare(&rows)?;
    let inference = &model.trained.inference;
    let codes = inference.encode(&prepared.features)?.mean;
    let mut probabilities = inference.predict(&prepared.features, 0)?;
    let answers = model.answers()?.unwrap_or_else(Answers::unknown);
    at_temperature(&mut probabilities.values, names.len(), answers.temperature);

    let log_p = log_densities(&model.trained, rows)?;
    // A run without training rows' densities: how usual among the rows asked about.
    let typical = answers
        .typical
        .or_else(|| Typical::new(&log_p, DENSITY_DRAWS));
    let percentile = |row: usize| typical.as_ref().map_or(0.0, |t| t.percentile(log_p[row]));
    let unsure = |row: usize| entropy(probabilities.row(row));
    let worth: Vec<f64> = (0..prepared.len())
        .map(|row| unsure(row) * f64::from(percentile(row)) / 100.0)
        .collect();
    let chosen = suggest(&worth, &codes, args.count as usize);

    let mut header = carried.header();
    header.extend(["label", "entropy", "percentile"].map(String::from));
    let lines = chosen.iter().map(|&row| {
        let mut line = carried.line(candidates[row] as usize);
        line.push(names[largest(probabilities.row(row))].clone());
        line.extend([unsure(row) as f32, percentile(row)].map(|value| value.to_string()));
        line
    });
    write_csv(args.out.as_deref(), &header, lines, printer)?;
    printer.note(format!(
        "{} of {} rows without a label",
        count(chosen.len()),
        count(candidates.len())
    ));
    Ok(ExitCode::SUCCESS)
}

/// Rows without a label: all of a built-in data set, and of a table without the label column.
fn unlabelled(model: &Model, data: &str, rows: &Dataset) -> Result<Vec<u32>> {
    let everything = || (0..rows.len() as u32).collect::<Vec<u32>>();
    let DataName::File(path) = DataName::parse(data)? else {
        return Ok(everything());
    };
    let labels = model.label_columns();
    let table = read_csv_texts(&path)?;
    let has_labels = labels
        .iter()
        .all(|name| column_cells(&table, name).is_some());
    if labels.is_empty() || !has_labels {
        return Ok(everything());
    }
    let labelled = model.labelled(data, LabelColumns::default())?;
    let is_open = |row: &u32| !labelled.labels.is_known(*row);
    Ok(everything().into_iter().filter(is_open).collect())
}
