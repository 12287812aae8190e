//! `cpcvae reconstruct`: reconstructions of rows.

use crate::args::{PassthroughArgs, ReconstructArgs, ReconstructionKind};
use crate::exit::ExitCode;
use crate::opened;
use crate::output::{check_out, feature_cells, is_figure, layout_columns, write_table};
use crate::passthrough::Passthrough;
use crate::printer::Printer;
use anyhow::Result;
use cpcvae::estimator::WantedLabels;
use cpcvae::infer::Reconstruction;
use cpcvae_data::{Dataset, Matrix};
use cpcvae_lab::figure::image_grid;
use cpcvae_lab::pictures::{grid, images};
use std::path::Path;

/// Images side by side in a figure.
const ACROSS: usize = 10;
/// The default number of images in a figure.
const IN_FIGURE: usize = 20;

/// Reconstructs and writes a table or a figure.
pub(crate) fn run(args: &ReconstructArgs, printer: Printer) -> Result<ExitCode> {
    check_out(args.out.as_deref(), &args.rows.data)?;
    let model = opened::model(&args.model)?;
    let asked = opened::rows(&model, &args.rows, &args.model.place, WantedLabels::None)?;
    let passthrough = Passthrough::of(&asked, &PassthroughArgs::default())?;
    let rows = &asked.data;
    let out = args.out.as_deref();
    let wanted = match args.first {
        Some(rows) => rows as usize,
        None if is_figure(out) => IN_FIGURE,
        None => rows.len(),
    };
    let first: Vec<u32> = (0..rows.len().min(wanted) as u32).collect();
    let rows = rows.select(&first);
    let (kind, name) = match args.kind {
        ReconstructionKind::Mean => (Reconstruction::Mean, "reconstructed"),
        ReconstructionKind::Sampled => (Reconstruction::Sampled, "sampled"),
        ReconstructionKind::Aligned => (Reconstruction::Aligned, "aligned"),
        ReconstructionKind::Transformed => (Reconstruction::Transformed, "transformed"),
    };
    let made = model.reconstruct(&rows, kind)?;
    match out.filter(|_| is_figure(out)) {
        Some(path) => draw(&rows, &made, name, path, printer)?,
        None => {
            let mut columns = passthrough.columns();
            columns.extend(layout_columns(&rows.layout));
            let lines = (0..made.rows).map(|row| {
                let mut line = passthrough.line(row);
                line.extend(feature_cells(&rows.layout, made.row(row)));
                Ok(line)
            });
            write_table(out, &columns, lines, printer)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Lines of originals, each above the line of their reconstructions.
fn draw(rows: &Dataset, made: &Matrix, name: &str, path: &Path, printer: Printer) -> Result<()> {
    let mut grid = grid(&rows.layout)?;
    let (originals, made) = (images(&rows.features.matrix()), images(made));
    for (originals, made) in originals.chunks(ACROSS).zip(made.chunks(ACROSS)) {
        grid.images.extend([originals.to_vec(), made.to_vec()]);
        grid.row_labels
            .extend(["original".to_string(), name.to_string()]);
    }
    image_grid(&grid, path)?;
    printer.note(format!("wrote {}", path.display()));
    Ok(())
}
