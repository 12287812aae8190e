//! `cpcvae suggest`: rows to label next.

use crate::args::SuggestArgs;
use crate::exit::ExitCode;
use crate::opened;
use crate::output::{check_out, numbers, write_table};
use crate::passthrough::Passthrough;
use crate::printer::{Printer, count};
use anyhow::{Result, bail};
use cpcvae::estimator::{Fitted, HeldOutState, OpenedRows, Suspect, WantedLabels};
use cpcvae_data::CellKind;

/// Scores the unlabelled rows and writes the chosen ones, the best first.
pub(crate) fn run(args: &SuggestArgs, printer: Printer) -> Result<ExitCode> {
    check_out(args.out.as_deref(), &args.rows.data)?;
    let model = opened::model(&args.model)?;
    let wanted = WantedLabels::WhereThere;
    let rows = opened::rows(&model, &args.rows, &args.model.place, wanted)?;
    let passthrough = Passthrough::of(&rows, &args.passthrough)?;
    if args.doubtful {
        return doubtful(args, &model, &rows, &passthrough, printer);
    }
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

/// Writes labels that may be wrong. They are identified by row numbers, so the table must be the
/// training table.
fn doubtful(
    args: &SuggestArgs,
    model: &Fitted,
    rows: &OpenedRows,
    passthrough: &Passthrough<'_>,
    printer: Printer,
) -> Result<ExitCode> {
    if *model.held_out() != HeldOutState::Measured {
        bail!(
            "labels are doubted by models that did not see them, and none were held out in this \
             run; fit without --no-crossfit"
        );
    }
    let names = rows.data.class_names();
    let label_of = |row: usize| {
        let class = rows.data.labels.class_of(u32::try_from(row).ok()?)?;
        names.get(class as usize)
    };
    let is_there = |suspect: &&Suspect| {
        suspect.row < rows.data.len() && label_of(suspect.row) == Some(&suspect.label)
    };
    if let Some(other) = model.suspects().iter().find(|suspect| !is_there(suspect)) {
        bail!(
            "`{}` is not the table that was fitted: row {} had the label `{}` there",
            rows.data.name,
            other.row,
            other.label
        );
    }
    let mut columns = passthrough.columns();
    columns.push(("label".into(), CellKind::Text));
    columns.extend(numbers(["p_label"]));
    columns.push(("likely".into(), CellKind::Text));
    columns.extend(numbers(["p_likely"]));
    let chosen: Vec<&Suspect> = model.suspects().iter().take(args.count as usize).collect();
    let lines = chosen.iter().map(|suspect| {
        let mut line = passthrough.line(suspect.row);
        line.push(suspect.label.clone());
        line.push((suspect.probability as f32).to_string());
        line.push(suspect.likely.clone());
        line.push((suspect.likely_probability as f32).to_string());
        Ok(line)
    });
    write_table(args.out.as_deref(), &columns, lines, printer)?;
    printer.note(format!(
        "{} of {} doubtful labels",
        count(chosen.len()),
        count(model.suspects().len())
    ));
    Ok(ExitCode::SUCCESS)
}
