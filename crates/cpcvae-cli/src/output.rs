//! Writes results as tables and figures.

use crate::printer::Printer;
use anyhow::{Context, Result, bail};
use cpcvae_data::{CellKind, Column, ColumnKind, Layout};
use std::io::Write;
use std::path::Path;

/// A column of a table that is written: its name and the kind of its cells.
pub(crate) type OutColumn = (String, CellKind);

/// Columns of numbers.
pub(crate) fn numbers<N: Into<String>>(
    names: impl IntoIterator<Item = N>,
) -> impl Iterator<Item = OutColumn> {
    let names = names.into_iter();
    names.map(|name| (name.into(), CellKind::Number))
}

/// Writes a table line by line: atomically to the file, or to standard output. Parquet if the
/// file's name has that extension, otherwise CSV.
pub(crate) fn write_table(
    out: Option<&Path>,
    columns: &[OutColumn],
    rows: impl Iterator<Item = Result<Vec<String>>>,
    printer: Printer,
) -> Result<()> {
    let header: Vec<String> = columns.iter().map(|(name, _)| name.clone()).collect();
    let Some(path) = out else {
        return write_lines(std::io::stdout().lock(), &header, rows);
    };
    match is_parquet(path) {
        true => write_parquet(path, columns, rows)?,
        false => {
            cpcvae_data::write_through(path, |file| write_lines(file, &header, rows))?;
        }
    }
    printer.note(format!("wrote {}", path.display()));
    Ok(())
}

fn is_parquet(path: &Path) -> bool {
    let extension = path.extension().and_then(|text| text.to_str());
    extension.is_some_and(|text| text.eq_ignore_ascii_case("parquet"))
}

#[cfg(feature = "parquet")]
fn write_parquet(
    path: &Path,
    columns: &[(String, CellKind)],
    rows: impl Iterator<Item = Result<Vec<String>>>,
) -> Result<()> {
    cpcvae_data::write_through(path, |file| {
        let mut writer = cpcvae_data::ParquetWriter::new(file, path, columns)?;
        for row in rows {
            writer.push(row?)?;
        }
        Ok(writer.finish()?)
    })
}

#[cfg(not(feature = "parquet"))]
fn write_parquet(
    path: &Path,
    _: &[(String, CellKind)],
    _: impl Iterator<Item = Result<Vec<String>>>,
) -> Result<()> {
    bail!(
        "{}: this build does not write Parquet; build it with `--features parquet`, or name a \
         .csv file",
        path.display()
    )
}

/// Refuses to overwrite the input rows.
pub(crate) fn check_out(out: Option<&Path>, data: &str) -> Result<()> {
    let same = |out: &Path| Some(out.canonicalize().ok()? == Path::new(data).canonicalize().ok()?);
    match out {
        Some(out) if same(out) == Some(true) => bail!(
            "`--out {}` is the file with the data, which would be overwritten; choose another name",
            out.display()
        ),
        _ => Ok(()),
    }
}

/// Lines of results in parts; `lines` gets the number of a part's first row, and the part.
pub(crate) fn lines_of_parts<P>(
    parts: impl Iterator<Item = cpcvae::Result<P>>,
    mut lines: impl FnMut(usize, P) -> Vec<Vec<String>>,
) -> impl Iterator<Item = Result<Vec<String>>> {
    let mut first = 0;
    parts.flat_map(move |part| match part {
        Err(error) => vec![Err(error.into())],
        Ok(part) => {
            let lines = lines(first, part);
            first += lines.len();
            lines.into_iter().map(Ok).collect()
        }
    })
}

fn write_lines(
    out: impl Write,
    header: &[String],
    mut rows: impl Iterator<Item = Result<Vec<String>>>,
) -> Result<()> {
    // Errors on the first part are reported before anything is written.
    let first = rows.next().transpose()?;
    let mut writer = csv::WriterBuilder::new()
        .buffer_capacity(1 << 16)
        .from_writer(out);
    writer.write_record(header)?;
    for row in first.map(Ok).into_iter().chain(rows) {
        writer.write_record(&row?)?;
    }
    writer.flush().context("the table cannot be written")
}

/// The numbers of a row as cells that read back exactly.
pub(crate) fn cells(values: &[f32]) -> impl Iterator<Item = String> {
    values.iter().map(f32::to_string)
}

/// Generated values of a row as cells of its columns: levels as text, whole numbers if all were
/// whole, blank if a value is missing.
pub(crate) fn feature_cells(layout: &Layout, values: &[f32]) -> Vec<String> {
    match layout {
        Layout::Columns(columns) => {
            let cells = columns.iter().zip(values);
            let cell = |(column, value): (&Column, &f32)| column.cell(column.nearest(*value));
            cells.map(cell).collect()
        }
        Layout::Image { .. } => cells(values).collect(),
    }
}

/// A layout's columns; pixels are named by their position.
pub(crate) fn layout_columns(layout: &Layout) -> impl Iterator<Item = OutColumn> {
    (0..layout.width()).map(|place| {
        let kind = match layout {
            Layout::Columns(columns) => kind_of(&columns[place]),
            Layout::Image { .. } => CellKind::Number,
        };
        (layout.column_name(place), kind)
    })
}

/// Levels and dates are written as text.
pub(crate) fn kind_of(column: &Column) -> CellKind {
    match (&column.kind, column.time) {
        (ColumnKind::Category(_), _) | (_, Some(_)) => CellKind::Text,
        _ => CellKind::Number,
    }
}

/// Whether the file is a figure.
pub(crate) fn is_figure(out: Option<&Path>) -> bool {
    let extension = out.and_then(Path::extension).and_then(|text| text.to_str());
    extension.is_some_and(|text| matches!(text.to_ascii_lowercase().as_str(), "png" | "svg"))
}
