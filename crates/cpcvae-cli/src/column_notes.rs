//! Prints how a table's columns are interpreted.

use crate::printer::{Printer, count, percent};
use cpcvae_data::{Table, Task};
use cpcvae_lab::table::TextTable;

/// Columns listed one by one; of wider tables, only those that are not plain numbers.
const SHOWN: usize = 30;

/// Prints the kinds of the columns, and warnings about the table.
pub(crate) fn print(table: &Table, printer: Printer) {
    let columns = &table.columns;
    let is_plain =
        |kind: &str, missing: f64| kind == "number" && missing == 0.0 && columns.len() > SHOWN;
    let shown: Vec<Vec<String>> = columns
        .iter()
        .filter(|column| !is_plain(column.kind, column.missing))
        .take(SHOWN)
        .map(|column| {
            vec![
                column.name.clone(),
                column.kind.to_string(),
                column.why.clone(),
                percent(column.missing),
                column.range.clone(),
            ]
        })
        .collect();
    let left_out = columns.len() - shown.len();
    if !shown.is_empty() {
        let header = ["column", "kind", "why", "missing", "values"];
        let text = TextTable {
            header: header.map(String::from).to_vec(),
            rows: shown,
        };
        printer.note(text.to_text().trim_end());
    }
    if left_out > 0 {
        let of_kind = |kind: &str| columns.iter().filter(|column| column.kind == kind).count();
        let kinds: Vec<String> = ["number", "flag", "category", "count"]
            .into_iter()
            .filter(|kind| of_kind(kind) > 0)
            .map(|kind| format!("{} of kind {kind}", count(of_kind(kind))))
            .collect();
        printer.note(format!(
            "{} columns are not listed; in all there are {}",
            count(left_out),
            kinds.join(", ")
        ));
    }
    if let Some(chosen) = &table.task {
        let task = match chosen.task {
            Task::Classify => "classify",
            Task::Regress => "regress",
        };
        printer.note(format!(
            "task: {task} ({}); --task says another",
            chosen.why
        ));
    }
    warn(&table.warnings, printer);
    if table.warnings.iter().any(|text| text.contains("`data.")) {
        printer.note("hint: --id NAME, --column NAME=KIND and --ignore NAME are these settings");
    }
}

/// Prints warnings.
pub(crate) fn warn(warnings: &[String], printer: Printer) {
    for warning in warnings {
        printer.warn(warning);
    }
}
