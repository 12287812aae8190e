//! `cpcvae score`: how probable rows are.

use crate::args::ScoreArgs;
use crate::exit::ExitCode;
use crate::opened;
use crate::output::{cells, check_out, lines_of_parts, numbers, write_table};
use crate::passthrough::Passthrough;
use crate::printer::{Printer, count};
use anyhow::Result;
use cpcvae::estimator::WantedLabels;
use serde_json::json;

/// Scores and writes one line a row, and the means.
pub(crate) fn run(args: &ScoreArgs, printer: Printer) -> Result<ExitCode> {
    check_out(args.out.as_deref(), &args.rows.data)?;
    let model = opened::model(&args.model)?;
    let asked = opened::rows(&model, &args.rows, &args.model.place, WantedLabels::None)?;
    let passthrough = Passthrough::of(&asked, &args.passthrough)?;
    let rows = asked.data.clone();
    let (mut elbo, mut log_likelihood) = (0.0, 0.0);
    let parts = model.score_parts(&rows, args.samples as usize)?;
    let lines = lines_of_parts(parts, |first, scores| {
        let line = |row: usize| {
            let scores = [scores.elbo[row], scores.log_likelihood[row]];
            elbo += f64::from(scores[0]);
            log_likelihood += f64::from(scores[1]);
            let mut line = passthrough.line(first + row);
            line.extend(cells(&scores));
            line
        };
        (0..scores.elbo.len()).map(line).collect()
    });
    if args.out.is_some() || !printer.json {
        let mut columns = passthrough.columns();
        columns.extend(numbers(["elbo", "log_likelihood"]));
        write_table(args.out.as_deref(), &columns, lines, printer)?;
    } else {
        for line in lines {
            line?;
        }
    }
    elbo /= rows.len().max(1) as f64;
    log_likelihood /= rows.len().max(1) as f64;
    let text = format!(
        "mean of {} rows: ELBO {elbo:.4}, log-likelihood {log_likelihood:.4} nats ({} draws)",
        count(rows.len()),
        args.samples
    );
    if args.out.is_none() && !printer.json {
        // Standard output has the table.
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
