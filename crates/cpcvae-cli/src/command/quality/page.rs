//! A page of images: samples by class, reconstructions, aligned reconstructions.

use anyhow::Result;
use cpcvae::describe::{Drawn, Measured, Parts, Way};
use cpcvae::infer::Reconstruction;
use cpcvae::run::Trained;
use cpcvae_lab::figure::image_grid;
use cpcvae_lab::pictures::{grid, images};
use std::path::Path;

/// Images side by side.
const ACROSS: usize = 12;
/// Classes shown of each way to draw.
const CLASSES: usize = 10;

/// Draws the page.
pub fn draw(trained: &Trained, parts: &Parts, drawn: &[Drawn], path: &Path) -> Result<()> {
    let preprocess = &trained.card.preprocess;
    let mut grid = grid(&preprocess.layout)?;
    for drawn in drawn {
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
    let first: Vec<u32> = (0..parts.measured.len().min(ACROSS) as u32).collect();
    let rows = parts.measured.select(&first);
    let prepared = preprocess.apply(rows.clone())?;
    grid.row_labels.push(match parts.kind {
        Measured::Test => "test images".into(),
        Measured::Validation => "validation images".into(),
    });
    grid.images.push(images(&rows.features.matrix()));
    let mut kinds = vec![(Reconstruction::Mean, "reconstructed")];
    if trained.card.shape.transform.is_some() {
        kinds.push((Reconstruction::Aligned, "aligned"));
    }
    for (kind, name) in kinds {
        let made = trained.inference.reconstruct(&prepared.features, kind)?;
        grid.row_labels.push(name.into());
        grid.images.push(images(&preprocess.invert(made)));
    }
    Ok(image_grid(&grid, path)?)
}
