//! `cpcvae suggest`: the rows most worth labelling.

use crate::args::SuggestArgs;
use crate::opened;
use crate::output::{check_out, write_csv};
use crate::passthrough::Passthrough;
use crate::printer::{Printer, count};
use anyhow::Result;
use cpcvae::estimator::WantedLabels;
use std::process::ExitCode;

/// Scores the unlabelled rows and writes the chosen ones, the best first.
pub fn run(args: &SuggestArgs, printer: Printer) -> Result<ExitCode> {
    check_out(args.out.as_deref(), &args.rows.data)?;
    let model = opened::model(&args.model)?;
    let wanted = WantedLabels::WhereThere;
    let rows = opened::rows(&model, &args.rows, &args.model.place, wanted)?;
    let passthrough = Passthrough::of(&rows, &args.passthrough)?;
    let suggestions = model.suggest(&rows.data, args.count as usize)?;
    let mut header = passthrough.header();
    header.extend(["label", "entropy", "percentile"].map(String::from));
    let lines = suggestions.iter().map(|suggestion| {
        let mut line = passthrough.line(suggestion.row);
        line.push(suggestion.label.clone());
        let numbers = [suggestion.entropy as f32, suggestion.percentile];
        line.extend(numbers.map(|value| value.to_string()));
        Ok(line)
    });
    write_csv(args.out.as_deref(), &header, lines, printer)?;
    let unlabelled = rows.data.len() - rows.data.labelled_rows().len();
    printer.note(format!(
        "{} of {} rows without a label",
        count(suggestions.len()),
        count(unlabelled)
    ));
    Ok(ExitCode::SUCCESS)
}
