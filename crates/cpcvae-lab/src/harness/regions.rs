//! Predictions over the plane: the paper's first figure.

use super::figures::FigureContext;
use super::panels::arrange;
use crate::experiment::{Axis, FigurePlan, Row};
use crate::figure::ScatterPanel;
use crate::pictures::{labelled_points, predictions_of};
use anyhow::{Result, bail};
use std::path::PathBuf;

/// One panel for each model: test rows in the colour of their prediction, labelled rows as diamonds
/// in that of their class.
pub(super) fn draw(
    figure: &FigurePlan,
    axes: &[Axis],
    rows: &[&Row<'_>],
    context: &FigureContext<'_>,
) -> Result<Vec<PathBuf>> {
    let shown_models = context.shown_models(figure, rows)?;
    let Some(first) = shown_models.first() else {
        return Ok(Vec::new());
    };
    if first.source.rows.width() != 2 {
        bail!("`regions` is for data of two columns; use `code-map`");
    }
    let panels = arrange(&shown_models, axes, |shown_model| {
        Ok(ScatterPanel {
            labelled: labelled_points(&shown_model.source.rows, &shown_model.labelled),
            ..predictions_of(&shown_model.trained, shown_model.test()?)?
        })
    })?;
    let classes = first.source.rows.class_names();
    let classes: Vec<String> = classes.iter().map(|name| format!("class {name}")).collect();
    panels.save(context, &figure.name, &classes)
}
