//! `cpcvae suggest`: the rows most worth labelling.

use crate::args::SuggestArgs;
use crate::opened::{Model, WantedLabels};
use crate::output::{check_out, write_csv};
use crate::passthrough::Passthrough;
use crate::printer::{Printer, count};
use anyhow::{Result, bail};
use cpcvae::calibration::{Calibration, DENSITY_DRAWS, log_densities};
use cpcvae::infer::calibrate::at_temperature;
use cpcvae::infer::{Typical, entropy, largest, suggest};
use cpcvae::model::Target;
use std::process::ExitCode;

/// Scores the unlabelled rows and writes the chosen ones, the best first.
pub fn run(args: &SuggestArgs, printer: Printer) -> Result<ExitCode> {
    check_out(args.out.as_deref(), &args.rows.data)?;
    let model = Model::open(&args.model)?;
    let Target::Classes(names) = &model.trained.card.shape.target else {
        bail!("rows are suggested by how sure their class is, and this model predicts no classes");
    };
    let asked = model.rows(&args.rows, WantedLabels::WhereThere)?;
    let passthrough = Passthrough::of(&asked, &args.passthrough)?;
    let all = &asked.data;
    let is_open = |row: &u32| !all.labels.is_known(*row);
    let candidates: Vec<u32> = (0..all.len() as u32).filter(is_open).collect();
    if candidates.is_empty() {
        bail!(
            "all {} rows of `{}` have labels already",
            count(all.len()),
            args.rows.data
        );
    }
    let rows = all.select(&candidates);
    let prepared = model.prepare(&rows)?;
    let inference = &model.trained.inference;
    let codes = inference.encode(&prepared.features)?.mean;
    let mut probabilities = inference.predict(&prepared.features, 0)?;
    let answers = model.answers()?.unwrap_or_else(Calibration::unknown);
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

    let mut header = passthrough.header();
    header.extend(["label", "entropy", "percentile"].map(String::from));
    let lines = chosen.iter().map(|&row| {
        let mut line = passthrough.line(candidates[row] as usize);
        line.push(names[largest(probabilities.row(row))].clone());
        line.extend([unsure(row) as f32, percentile(row)].map(|value| value.to_string()));
        Ok(line)
    });
    write_csv(args.out.as_deref(), &header, lines, printer)?;
    printer.note(format!(
        "{} of {} rows without a label",
        count(chosen.len()),
        count(candidates.len())
    ));
    Ok(ExitCode::SUCCESS)
}
