//! `cpcvae score`: how probable rows are.

use crate::args::ScoreArgs;
use crate::carried::Carried;
use crate::opened::{Model, WantedLabels};
use crate::output::{cells, write_csv};
use crate::printer::{Printer, count};
use anyhow::Result;
use serde_json::json;
use std::process::ExitCode;

/// Scores and writes one line a row, and the means.
pub fn run(args: &ScoreArgs, printer: Printer) -> Result<ExitCode> {
    let model = Model::open(&args.model)?;
    let asked = model.rows(&args.rows, WantedLabels::None)?;
    let carried = Carried::of(&asked, &args.carried)?;
    let rows = model.prepare(&asked.data)?;
    let mut scores = model
        .trained
        .inference
        .score(&rows.features, args.samples as usize)?;
    let preprocess = &model.trained.card.preprocess;
    for (row, elbo) in scores.elbo.iter_mut().enumerate() {
        let shift = preprocess.log_density_shift(rows.features.row(row));
        *elbo += shift;
        scores.log_likelihood[row] += shift;
    }
    if args.out.is_some() || !printer.json {
        let mut header = carried.header();
        header.extend(["elbo", "log_likelihood"].map(String::from));
        let lines = (0..rows.len()).map(|row| {
            let mut line = carried.line(row);
            line.extend(cells(&[scores.elbo[row], scores.log_likelihood[row]]));
            line
        });
        write_csv(args.out.as_deref(), &header, lines, printer)?;
    }
    let (elbo, log_likelihood) = (mean(&scores.elbo), mean(&scores.log_likelihood));
    let text = format!(
        "mean of {} rows: ELBO {elbo:.4}, log-likelihood {log_likelihood:.4} nats ({} draws)",
        count(rows.len()),
        args.samples
    );
    if args.out.is_none() && !printer.json {
        // Standard output holds the table.
        printer.note(text);
        return Ok(ExitCode::SUCCESS);
    }
    let value = json!({
        "run": args.model.run,
        "data": args.rows.data,
        "rows": rows.len(),
        "samples": args.samples,
        "elbo": elbo,
        "log_likelihood": log_likelihood,
        "out": args.out,
    });
    printer.answer(&(text + "\n"), &value)?;
    Ok(ExitCode::SUCCESS)
}

fn mean(values: &[f32]) -> f64 {
    values.iter().map(|value| f64::from(*value)).sum::<f64>() / values.len().max(1) as f64
}
