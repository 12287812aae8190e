//! Predictions over the plane: the paper's first figure.

use super::figures::Studio;
use super::panels::arrange;
use crate::experiment::{Axis, FigurePlan, Row};
use crate::figure::ScatterPanel;
use crate::pictures::{labelled_points, predictions_of};
use anyhow::{Result, bail};
use std::path::PathBuf;

/// A panel for each model: test rows in the colour of their prediction, labelled rows as
/// diamonds in that of their class.
pub fn draw(
    figure: &FigurePlan,
    axes: &[Axis],
    rows: &[&Row<'_>],
    studio: &Studio<'_>,
) -> Result<Vec<PathBuf>> {
    let exhibits = studio.exhibits(figure, rows)?;
    let Some(first) = exhibits.first() else {
        return Ok(Vec::new());
    };
    if first.source.rows.width() != 2 {
        bail!("`regions` is for data of two columns; use `code-map`");
    }
    let panels = arrange(&exhibits, axes, |exhibit| {
        Ok(ScatterPanel {
            labelled: labelled_points(&exhibit.source.rows, &exhibit.labelled),
            ..predictions_of(&exhibit.trained, exhibit.test()?)?
        })
    })?;
    let classes = first.source.rows.class_names();
    let classes: Vec<String> = classes.iter().map(|name| format!("class {name}")).collect();
    panels.save(studio, &figure.name, &classes)
}
