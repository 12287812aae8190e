//! `cpcvae impute`: missing cells filled in.

use crate::args::ImputeArgs;
use crate::opened::{Model, WantedLabels};
use crate::output::write_csv;
use crate::printer::{Printer, count};
use anyhow::{Result, bail};
use cpcvae::infer::Filling;
use cpcvae_data::{Column, Layout, Matrix, RawColumn, RawTable};
use std::process::ExitCode;

/// Fills in and writes the table as it was otherwise.
pub fn run(args: &ImputeArgs, printer: Printer) -> Result<ExitCode> {
    let model = Model::open(&args.model)?;
    let preprocess = &model.trained.card.preprocess;
    let Layout::Columns(of_model) = &preprocess.layout else {
        bail!("missing cells are filled in tables, and this model was trained on images");
    };
    let rows = model.rows(&args.rows, WantedLabels::None)?;
    let Some(table) = rows.raw else {
        bail!(
            "`{}` has no missing cells; name a table of your own",
            args.rows.data
        );
    };
    let columns = columns(&table, of_model, model.missing_values());
    let missing = columns.iter().map(Filled::gaps).sum();
    let prepared = preprocess.apply_with_gaps(rows.data)?.features;
    let fillings: Vec<Filling> = match args.samples {
        0 => vec![Filling::Mean],
        samples => (0..samples as usize).map(Filling::Draw).collect(),
    };
    let several = fillings.len() > 1;
    let mut header: Vec<String> = several.then(|| "draw".to_string()).into_iter().collect();
    header.extend(columns.iter().map(|column| column.raw.name.clone()));
    let mut lines = Vec::new();
    for (draw, filling) in fillings.into_iter().enumerate() {
        let inference = &model.trained.inference;
        let filled = inference.impute(&prepared, filling, args.iterations as usize)?;
        let filled = preprocess.invert(filled);
        for row in 0..table.rows {
            let first = several.then(|| draw.to_string());
            let rest = columns.iter().map(|column| column.cell(row, &filled));
            lines.push(first.into_iter().chain(rest).collect());
        }
    }
    write_csv(args.out.as_deref(), &header, lines.into_iter(), printer)?;
    printer.note(format!(
        "{} of {} cells filled in",
        count(missing),
        count(table.rows * of_model.len())
    ));
    Ok(ExitCode::SUCCESS)
}

/// A column of the table, and where its missing cells come from.
struct Filled<'a> {
    raw: &'a RawColumn,
    /// Its place among the model's columns, if it is one of them.
    of_model: Option<(usize, &'a Column)>,
    /// Which cells are missing; empty for a column that the model does not know.
    missing: Vec<bool>,
}

/// All columns of the table in their order.
fn columns<'a>(
    table: &'a RawTable,
    of_model: &'a [Column],
    missing_values: &[String],
) -> Vec<Filled<'a>> {
    let all = table.columns.iter().chain(&table.beside);
    all.map(|raw| {
        let known = of_model.iter().enumerate();
        let of_model = known.clone().find(|(_, column)| column.name == raw.name);
        Filled {
            raw,
            of_model,
            missing: match of_model {
                Some(_) => raw.missing_cells(missing_values),
                None => Vec::new(),
            },
        }
    })
    .collect()
}

impl Filled<'_> {
    fn gaps(&self) -> usize {
        self.missing.iter().filter(|missing| **missing).count()
    }

    /// The cell as it was, or its filling.
    fn cell(&self, row: usize, filled: &Matrix) -> String {
        match self.of_model {
            Some((place, column)) if self.missing[row] => column.cell(filled.row(row)[place]),
            _ => self.raw.text(row),
        }
    }
}
