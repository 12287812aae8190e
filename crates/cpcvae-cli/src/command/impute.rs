//! `cpcvae impute`: missing cells filled in.

use crate::args::ImputeArgs;
use crate::carried::cells;
use crate::data_name::DataName;
use crate::opened::Model;
use crate::output::write_csv;
use crate::printer::{Printer, count};
use anyhow::{Result, bail};
use cpcvae::infer::Filling;
use cpcvae_data::{Dataset, Labels, Layout, Matrix, RawTable, read_csv_texts};
use std::path::Path;
use std::process::ExitCode;

/// Fills in and writes the table as it was otherwise.
pub fn run(args: &ImputeArgs, printer: Printer) -> Result<ExitCode> {
    let model = Model::open(&args.model)?;
    let layout = &model.trained.card.preprocess.layout;
    let path = match (DataName::parse(&args.data)?, layout) {
        (DataName::File(path), Layout::Columns(_)) => path,
        _ => bail!(
            "missing cells are filled in tables: name a .csv or .tsv file, and the run of one"
        ),
    };
    let table = read_csv_texts(&path)?;
    let gaps = features(&table, layout, &path)?;
    let missing = gaps.values.iter().filter(|cell| cell.is_nan()).count();
    let prepared = prepare(&model, &gaps)?;
    let fill = |filling| -> Result<Matrix> {
        let inference = &model.trained.inference;
        let filled = inference.impute(&prepared, filling, args.iterations as usize)?;
        Ok(model.trained.card.preprocess.invert(filled))
    };
    let fillings: Vec<Filling> = match args.samples {
        0 => vec![Filling::Mean],
        samples => (0..samples as usize).map(Filling::Draw).collect(),
    };
    let several = fillings.len() > 1;
    let mut header: Vec<String> = several.then(|| "draw".to_string()).into_iter().collect();
    header.extend(table.columns.iter().map(|column| column.name.clone()));
    let mut lines = Vec::new();
    for (draw, filling) in fillings.into_iter().enumerate() {
        let filled = fill(filling)?;
        let columns = filled_columns(&table, layout, &gaps, &filled);
        for row in 0..table.rows {
            let first = several.then(|| draw.to_string());
            let rest = columns.iter().map(|column| column[row].clone());
            lines.push(first.into_iter().chain(rest).collect());
        }
    }
    write_csv(args.out.as_deref(), &header, lines.into_iter(), printer)?;
    printer.note(format!(
        "{} of {} cells filled in",
        count(missing),
        count(gaps.values.len())
    ));
    Ok(ExitCode::SUCCESS)
}

/// The model's columns of the table, NaN where a cell is missing.
fn features(table: &RawTable, layout: &Layout, path: &Path) -> Result<Matrix> {
    let mut values = vec![0.0; table.rows * layout.width()];
    for column in 0..layout.width() {
        let name = layout.column_name(column);
        let Some(cells) = cells(table, &name) else {
            bail!(
                "{}: there is no column `{name}`, which the model was trained on; add it, blank \
                 where nothing is known",
                path.display()
            );
        };
        for (row, cell) in cells.iter().enumerate() {
            let Some(value) = number(cell) else {
                bail!(
                    "{}, row {} (counted from 1), column `{name}`: `{cell}` is not a number; \
                     leave the cell blank if it is missing",
                    path.display(),
                    row + 1
                );
            };
            values[row * layout.width() + column] = value;
        }
    }
    Ok(Matrix::new(table.rows, layout.width(), values)?)
}

/// A cell's number, NaN for a missing one; nothing for any other text.
fn number(cell: &str) -> Option<f32> {
    const MISSING: [&str; 5] = ["", "na", "nan", "null", "n/a"];
    match cell.to_ascii_lowercase().as_str() {
        text if MISSING.contains(&text) => Some(f32::NAN),
        "true" => Some(1.0),
        "false" => Some(0.0),
        text => text.parse().ok().filter(|value: &f32| value.is_finite()),
    }
}

/// The features as the model sees them, NaN where a cell is missing.
fn prepare(model: &Model, gaps: &Matrix) -> Result<Matrix> {
    let mut whole = gaps.clone();
    for cell in whole.values.iter_mut().filter(|cell| cell.is_nan()) {
        *cell = 0.0;
    }
    let layout = model.trained.card.preprocess.layout.clone();
    let rows = Dataset::new("the table", whole, layout, Labels::None)?;
    let mut prepared = model.prepare(&rows)?.features;
    for (cell, gap) in prepared.values.iter_mut().zip(&gaps.values) {
        if gap.is_nan() {
            *cell = f32::NAN;
        }
    }
    Ok(prepared)
}

/// All columns of the table as text, with the filled cells in their places.
fn filled_columns(
    table: &RawTable,
    layout: &Layout,
    gaps: &Matrix,
    filled: &Matrix,
) -> Vec<Vec<String>> {
    let of_model: Vec<String> = (0..layout.width()).map(|c| layout.column_name(c)).collect();
    let names = table.columns.iter().map(|column| column.name.as_str());
    names
        .map(|name| {
            let mut texts = cells(table, name).unwrap_or_default();
            if let Some(column) = of_model.iter().position(|of_model| of_model == name) {
                for (row, text) in texts.iter_mut().enumerate() {
                    if gaps.row(row)[column].is_nan() {
                        *text = filled.row(row)[column].to_string();
                    }
                }
            }
            texts
        })
        .collect()
}
