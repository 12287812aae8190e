//! A page of images: samples by class, reconstructions, aligned reconstructions.

use anyhow::Result;
use cpcvae::describe::{Measured, Way};
use cpcvae::estimator::{Fitted, Quality};
use cpcvae::infer::Reconstruction;
use cpcvae_lab::figure::image_grid;
use cpcvae_lab::pictures::{grid, images};
use std::path::Path;

/// Images side by side.
const ACROSS: usize = 12;
/// Classes shown for each way of drawing.
const CLASSES: usize = 10;

/// Draws the page.
pub(super) fn draw(model: &Fitted, found: &Quality, path: &Path) -> Result<()> {
    let mut grid = grid(model.layout())?;
    for drawn in &found.drawn {
        let way = match drawn.way {
            Way::Prior => "prior",
            Way::Fitted => "fitted codes",
            Way::Direct => "p(x|y)",
        };
        for group in drawn.groups.iter().take(CLASSES) {
            let mut made = images(&group.rows);
            made.truncate(ACROSS);
            let class = group.class.as_ref();
            let class = class.map_or(String::new(), |class| format!(", class {class}"));
            let none = if made.is_empty() { " (none found)" } else { "" };
            grid.row_labels.push(format!("{way}{class}{none}"));
            grid.images.push(made);
        }
    }
    let first: Vec<u32> = (0..found.measured.len().min(ACROSS) as u32).collect();
    let rows = found.measured.select(&first);
    grid.row_labels.push(match found.kind() {
        Measured::Test => "test images".into(),
        Measured::Validation => "validation images".into(),
    });
    grid.images.push(images(&rows.features.matrix()));
    let mut kinds = vec![(Reconstruction::Mean, "reconstructed")];
    if model.card().shape.transform.is_some() {
        kinds.push((Reconstruction::Aligned, "aligned"));
    }
    for (kind, name) in kinds {
        grid.row_labels.push(name.into());
        grid.images.push(images(&model.reconstruct(&rows, kind)?));
    }
    Ok(image_grid(&grid, path)?)
}
