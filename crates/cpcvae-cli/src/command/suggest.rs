//! `cpcvae suggest`: the rows most worth labelling.

use crate::args::SuggestArgs;
use crate::opened;
use crate::output::{check_out, numbers, write_table};
use crate::passthrough::Passthrough;
use crate::printer::{Printer, count};
use anyhow::Result;
use cpcvae::estimator::WantedLabels;
use cpcvae_data::CellKind;
use std::process::ExitCode;

/// Scores the unlabelled rows and writes the chosen ones, the best first.
pub fn run(args: &SuggestArgs, printer: Printer) -> Result<ExitCode> {
    check_out(args.out.as_deref(), &args.rows.data)?;
    let model = opened::model(&args.model)?;
    let wanted = WantedLabels::WhereThere;
    let rows = opened::rows(&model, &args.rows, &args.model.place, wanted)?;
    let passthrough = Passthrough::of(&rows, &args.passthrough)?;
    let suggestions = model.suggest(&rows.data, args.count as usize)?;
    let mut columns = passthrough.columns();
    columns.push(("label".into(), CellKind::Text));
    columns.extend(numbers(["entropy", "percentile"]));
    let lines = suggestions.iter().map(|suggestion| {
        let mut line = passthrough.line(suggestion.row);
        line.push(suggestion.label.clone());
        let numbers = [suggestion.entropy as f32, suggestion.percentile];
        line.extend(numbers.map(|value| value.to_string()));
        Ok(line)
    });
    write_table(args.out.as_deref(), &columns, lines, printer)?;
    let unlabelled = rows.data.len() - rows.data.labelled_rows().len();
    printer.note(format!(
        "{} of {} rows without a label",
        count(suggestions.len()),
        count(unlabelled)
    ));
    Ok(ExitCode::SUCCESS)
}
