//! Answers as tables and figures.

use crate::printer::Printer;
use anyhow::{Context, Result, bail};
use cpcvae_data::{Layout, Matrix};
use cpcvae_lab::figure::Grid;
use std::io::Write;
use std::path::Path;

/// Writes a table as CSV, line by line as they come: to the file, whole or not at all, or to
/// standard output.
pub fn write_csv(
    out: Option<&Path>,
    header: &[String],
    rows: impl Iterator<Item = Result<Vec<String>>>,
    printer: Printer,
) -> Result<()> {
    let Some(path) = out else {
        return write_lines(std::io::stdout().lock(), header, rows);
    };
    cpcvae::train::write_through(path, |file| write_lines(file, header, rows))?;
    printer.note(format!("wrote {}", path.display()));
    Ok(())
}

/// Refuses to write answers over the rows that they are about.
pub fn check_out(out: Option<&Path>, data: &str) -> Result<()> {
    let same = |out: &Path| Some(out.canonicalize().ok()? == Path::new(data).canonicalize().ok()?);
    match out {
        Some(out) if same(out) == Some(true) => bail!(
            "`--out {}` is the file with the data, which would be overwritten; choose another name",
            out.display()
        ),
        _ => Ok(()),
    }
}

fn write_lines(
    out: impl Write,
    header: &[String],
    mut rows: impl Iterator<Item = Result<Vec<String>>>,
) -> Result<()> {
    // What cannot be answered at all is best said before anything is written.
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

/// The numbers of a row as cells that read back as the same numbers.
pub fn cells(values: &[f32]) -> impl Iterator<Item = String> {
    values.iter().map(f32::to_string)
}

/// The values of a row as cells: levels as text, blank where a value is missing.
pub fn feature_cells(layout: &Layout, values: &[f32]) -> Vec<String> {
    match layout {
        Layout::Columns(columns) => {
            let cells = columns.iter().zip(values);
            cells.map(|(column, value)| column.cell(*value)).collect()
        }
        Layout::Image { .. } => cells(values).collect(),
    }
}

/// The names of a layout's columns; pixels are named by their place.
pub fn column_names(layout: &Layout) -> impl Iterator<Item = String> {
    (0..layout.width()).map(|column| layout.column_name(column))
}

/// Whether the file is to be a figure.
pub fn is_figure(out: Option<&Path>) -> bool {
    let extension = out.and_then(Path::extension).and_then(|text| text.to_str());
    extension.is_some_and(|text| matches!(text.to_ascii_lowercase().as_str(), "png" | "svg"))
}

/// An empty grid for images of this layout.
pub fn grid(layout: &Layout) -> Result<Grid> {
    match layout {
        Layout::Image {
            height,
            width,
            channels,
        } => Ok(Grid {
            height: *height,
            width: *width,
            channels: *channels,
            ..Grid::default()
        }),
        Layout::Columns(_) => {
            bail!("a grid of images needs a model of images; write a .csv file for a table")
        }
    }
}

/// The rows of a matrix as images.
pub fn images(rows: &Matrix) -> Vec<Vec<f32>> {
    (0..rows.rows).map(|row| rows.row(row).to_vec()).collect()
}
