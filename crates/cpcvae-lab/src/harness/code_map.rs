//! Test rows on a map of two-dimensional codes: the paper's second figure.

use super::figures::{FigureContext, ShownModel};
use super::panels::arrange;
use crate::experiment::{Axis, FigurePlan, Row};
use crate::figure::{Regions, ScatterPanel};
use anyhow::{Result, bail};
use cpcvae::infer::largest;
use cpcvae::model::ModelKind;
use cpcvae::run::Trained;
use cpcvae_data::{Dataset, Matrix};
use std::path::PathBuf;

/// Test rows that are shown.
const SHOWN: usize = 2000;
/// Share of the codes that may be outside, at each end of each axis: a few outliers would leave no
/// room for the others.
const OUTSIDE: f32 = 0.005;
/// Half the side of the map, and of the square whose codes are shown, as multiples of the wider
/// range: a panel has a margin around its points, which the map should fill.
const MAP: f32 = 0.58;
const SHOWN_PART: f32 = 0.515;
/// Cells along each side of the map of predictions.
const CELLS: usize = 150;

type Points = Vec<([f32; 2], u32)>;

/// One panel for each model: codes in the colour of their true class, over the predictions for
/// codes if the model predicts from codes.
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
    let classes = first.source.rows.class_names();
    arrange(&shown_models, axes, panel)?.save(context, &figure.name, classes)
}

fn panel(shown_model: &ShownModel<'_>) -> Result<ScatterPanel> {
    let trained = &shown_model.trained;
    let shape = &trained.card.shape;
    if shape.code != 2 || shape.kind == ModelKind::Classifier {
        bail!(
            "{}: `code-map` is for codes of two dimensions; select others with `only`",
            shown_model.key
        );
    }
    let test = shown_model.test()?;
    let first: Vec<u32> = (0..test.len().min(SHOWN) as u32).collect();
    let shown = codes(trained, &test.select(&first))?;
    if shown.is_empty() {
        bail!("{}: no test row has a class to show", shown_model.key);
    }
    let ranges = [range(&shown, 0), range(&shown, 1)];
    let ([x, y], inner) = (square(ranges, MAP), square(ranges, SHOWN_PART));
    let inside = |([a, b], _): &([f32; 2], u32)| {
        (inner[0][0]..=inner[0][1]).contains(a) && (inner[1][0]..=inner[1][1]).contains(b)
    };
    let labelled = codes(
        trained,
        &shown_model.source.rows.select(&shown_model.labelled),
    )?;
    let shown: Points = shown.into_iter().filter(inside).collect();
    Ok(ScatterPanel {
        points: shown.iter().map(|(place, _)| *place).collect(),
        classes: shown.iter().map(|(_, class)| *class).collect(),
        labelled: labelled.into_iter().filter(inside).collect(),
        regions: match shape.kind.predicts_from_codes() {
            true => Some(regions(trained, x, y)?),
            false => None,
        },
        ..ScatterPanel::default()
    })
}

/// Means of the codes of rows with a class.
fn codes(trained: &Trained, rows: &Dataset) -> Result<Points> {
    let prepared = trained.card.preprocess.apply(rows.clone())?;
    let codes = trained.inference.encode(&prepared.features)?.mean;
    let known = (0..rows.len()).filter_map(|row| {
        let class = rows.labels.class_of(row as u32)?;
        Some(([codes.row(row)[0], codes.row(row)[1]], class))
    });
    Ok(known.collect())
}

/// The range of nearly all codes along an axis; there must be some.
fn range(points: &Points, axis: usize) -> [f32; 2] {
    let mut values: Vec<f32> = points.iter().map(|(place, _)| place[axis]).collect();
    values.sort_by(f32::total_cmp);
    let at = |share: f32| values[((values.len() - 1) as f32 * share).round() as usize];
    [at(OUTSIDE), at(1.0 - OUTSIDE)]
}

/// A square around both ranges, whose half side is `half` times the wider one.
fn square(ranges: [[f32; 2]; 2], half: f32) -> [[f32; 2]; 2] {
    let widths = ranges.map(|range| range[1] - range[0]);
    let side = widths[0].max(widths[1]).max(1e-3);
    ranges.map(|range| {
        let centre = 0.5 * (range[0] + range[1]);
        [centre - half * side, centre + half * side]
    })
}

/// Predictions for codes on a grid.
fn regions(trained: &Trained, x: [f32; 2], y: [f32; 2]) -> Result<Regions> {
    let at = |range: [f32; 2], cell: usize| {
        range[0] + (range[1] - range[0]) * (cell as f32 + 0.5) / CELLS as f32
    };
    let places = (0..CELLS * CELLS).flat_map(|cell| [at(x, cell % CELLS), at(y, cell / CELLS)]);
    let places = Matrix::new(CELLS * CELLS, 2, places.collect())?;
    let probs = trained.inference.predict_codes(&places)?;
    let best: Vec<usize> = (0..probs.rows).map(|row| largest(probs.row(row))).collect();
    Ok(Regions {
        x,
        y,
        columns: CELLS,
        rows: CELLS,
        class: best.iter().map(|class| *class as u32).collect(),
        confidence: best
            .iter()
            .enumerate()
            .map(|(row, class)| probs.row(row)[*class])
            .collect(),
    })
}
