//! The arrangement of panels and their titles.

use super::figures::{FigureContext, ShownModel};
use crate::experiment::{Axis, CellKey};
use crate::figure::{ScatterPanel, scatter_panels_with_legend};
use anyhow::Result;
use std::path::PathBuf;

/// Rows of panels with their titles.
#[derive(Default)]
pub(super) struct Panels {
    /// The panels.
    pub rows: Vec<Vec<ScatterPanel>>,
    /// What distinguishes the rows; empty if there is only one.
    pub titles: Vec<String>,
}

impl Panels {
    /// Draws them with a legend of the classes.
    pub(super) fn save(
        &self,
        context: &FigureContext<'_>,
        name: &str,
        classes: &[String],
    ) -> Result<Vec<PathBuf>> {
        context.save(name, |path| {
            let Self { rows, titles } = self;
            Ok(scatter_panels_with_legend(rows, titles, classes, path)?)
        })
    }
}

/// Makes a panel for each model: rows as given by the axes, methods side by side.
pub(crate) fn arrange(
    shown_models: &[ShownModel<'_>],
    axes: &[Axis],
    panel: impl Fn(&ShownModel<'_>) -> Result<ScatterPanel>,
) -> Result<Panels> {
    let mut panels = Panels::default();
    let mut first_row: Vec<String> = Vec::new();
    let groups = shown_models.chunk_by(|a, b| row_title(&a.key, axes) == row_title(&b.key, axes));
    for group in groups {
        let names: Vec<String> = group
            .iter()
            .map(|shown_model| panel_title(shown_models, &shown_model.key, axes))
            .collect();
        // Titles above the first row apply to the rows below it, if they have the same columns.
        let repeats = names == first_row;
        if first_row.is_empty() {
            first_row.clone_from(&names);
        }
        let mut row = Vec::new();
        for (shown_model, name) in group.iter().zip(names) {
            let accuracy = shown_model.record.metrics.accuracy;
            row.push(ScatterPanel {
                title: if repeats { String::new() } else { name },
                corner: accuracy
                    .map(|share| format!("{:.1}%", 100.0 * share))
                    .unwrap_or_default(),
                ..panel(shown_model)?
            });
        }
        panels.rows.push(row);
        panels.titles.push(row_title(&group[0].key, axes));
    }
    if axes.is_empty() {
        panels.titles.clear();
    }
    Ok(panels)
}

fn of_axis(key: &CellKey, axis: Axis) -> String {
    match axis {
        Axis::Setting => key.setting.clone(),
        Axis::Labels => format!("{} labels", key.labels),
        Axis::Code => format!("code {}", key.code),
    }
}

fn row_title(key: &CellKey, axes: &[Axis]) -> String {
    let parts: Vec<String> = axes.iter().map(|axis| of_axis(key, *axis)).collect();
    parts.join(", ")
}

/// The method, and what else distinguishes the models within a row.
fn panel_title(shown_models: &[ShownModel<'_>], key: &CellKey, axes: &[Axis]) -> String {
    let mut title = key.method.clone();
    for axis in [Axis::Setting, Axis::Labels, Axis::Code] {
        let own = of_axis(key, axis);
        let differs = shown_models
            .iter()
            .any(|other| of_axis(&other.key, axis) != own);
        if differs && !axes.contains(&axis) {
            title += &format!(", {own}");
        }
    }
    title
}
