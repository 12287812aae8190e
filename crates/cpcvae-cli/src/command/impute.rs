//! `cpcvae impute`: imputes missing cells.

use crate::args::ImputeArgs;
use crate::exit::ExitCode;
use crate::opened;
use crate::output::{OutColumn, check_out, kind_of, lines_of_parts, numbers, write_table};
use crate::printer::{Printer, count};
use anyhow::{Result, bail};
use cpcvae::estimator::WantedLabels;
use cpcvae::infer::Filling;
use cpcvae_data::{CellKind, Column, Layout, MissingValues, RawColumn, RawTable};
use std::cell::Cell;
use std::collections::HashMap;

/// Imputes, and writes the otherwise unchanged table.
pub(crate) fn run(args: &ImputeArgs, printer: Printer) -> Result<ExitCode> {
    check_out(args.out.as_deref(), &args.rows.data)?;
    let model = opened::model(&args.model)?;
    let Layout::Columns(of_model) = model.layout() else {
        bail!("missing cells are filled in tables, and this model was trained on images");
    };
    let rows = opened::rows(&model, &args.rows, &args.model.place, WantedLabels::None)?;
    let Some(table) = rows.raw else {
        bail!(
            "`{}` has no missing cells; name a table of your own",
            args.rows.data
        );
    };
    let missing = MissingValues::new(model.missing_values());
    let columns = columns(&table, of_model);
    let fillings: Vec<Filling> = match args.samples {
        0 => vec![Filling::Mean],
        samples => (0..samples as usize).map(Filling::Draw).collect(),
    };
    let several = fillings.len() > 1;
    let mut written: Vec<OutColumn> = numbers(several.then_some("draw")).collect();
    written.extend(columns.iter().map(|column| {
        let kind = column
            .of_model
            .map_or(CellKind::Text, |(_, column)| kind_of(column));
        (column.raw.name.clone(), kind)
    }));
    let filled_in = Cell::new(0);
    let mut draws = Vec::new();
    for filling in &fillings {
        draws.push(model.impute_parts(&rows.data, *filling, args.iterations as usize)?);
    }
    let lines = draws.into_iter().enumerate().flat_map(|(draw, parts)| {
        let (columns, missing, filled_in) = (&columns, &missing, &filled_in);
        lines_of_parts(parts, move |start, filled| {
            let line = |row: usize| {
                let first = several.then(|| draw.to_string());
                let rest = columns.iter().map(|column| {
                    let text = column.filling(start + row, missing, filled.row(row));
                    filled_in.set(filled_in.get() + usize::from(text.is_some() && draw == 0));
                    text.unwrap_or_else(|| column.raw.text(start + row))
                });
                first.into_iter().chain(rest).collect()
            };
            (0..filled.rows).map(line).collect()
        })
    });
    write_table(args.out.as_deref(), &written, lines, printer)?;
    printer.note(format!(
        "{} of {} cells filled in",
        count(filled_in.get()),
        count(table.rows * of_model.len())
    ));
    Ok(ExitCode::SUCCESS)
}

/// A column of the table, and the source of its missing cells.
struct Filled<'a> {
    raw: &'a RawColumn,
    /// Its index among the model's columns, if it is one of them.
    of_model: Option<(usize, &'a Column)>,
}

/// All columns of the table in their order.
fn columns<'a>(table: &'a RawTable, of_model: &'a [Column]) -> Vec<Filled<'a>> {
    let places: HashMap<&str, usize> = of_model.iter().map(|c| &c.name[..]).zip(0..).collect();
    let of_model = |raw: &RawColumn| {
        let place = *places.get(&raw.name[..])?;
        Some((place, &of_model[place]))
    };
    let all = table.columns.iter().chain(&table.beside);
    all.map(|raw| Filled {
        raw,
        of_model: of_model(raw),
    })
    .collect()
}

impl Filled<'_> {
    /// The imputed value of a missing cell.
    fn filling(&self, row: usize, missing: &MissingValues, filled: &[f32]) -> Option<String> {
        let (place, column) = self.of_model?;
        let is_missing = self.raw.is_missing(row, missing);
        is_missing.then(|| column.cell(column.nearest(filled[place])))
    }
}
