//! The half-moon part of the demo: the paper's first figure, and what each model generates.

use super::Contestant;
use crate::printer::percent;
use anyhow::{Context, Result};
use cpcvae::config::RunConfig;
use cpcvae::infer::{CodeSource, largest};
use cpcvae::run::Trained;
use cpcvae_data::{Dataset, HalfMoonLabels, Labels, Layout, Matrix, Source};
use cpcvae_lab::figure::{Regions, ScatterPanel, scatter_panels};
use std::path::{Path, PathBuf};

/// What the table shows.
pub const SETTING: &str = "half-moon in the paper's setting: 6 evenly spaced labels, 994 unlabelled \
                           rows, which are also the test rows";

/// Rows drawn from each model.
const SAMPLES: usize = 600;
/// What all panels show of the plane: the few samples beyond it are left out.
const VIEW: ([f32; 2], [f32; 2]) = ([-1.9, 2.9], [-1.3, 1.8]);
/// Cells along each side of the map of predictions.
const CELLS: usize = 120;

/// The paper's setting, and steps for a minute in all.
pub fn adjust(config: &mut RunConfig) {
    config.data.half_moon_labels = HalfMoonLabels::EvenlySpaced;
    config.train.steps = 3000;
    config.train.log_every = 20;
}

/// One row of panels with predictions, one with samples in the colours that the model gives them.
/// Their codes come from where those of training rows lie; M2 draws from its prior.
pub(super) fn draw(
    contestants: &[Contestant],
    source: &Source,
    out: &Path,
) -> Result<Vec<PathBuf>> {
    let test = source.test.as_ref().context("half-moon has test rows")?;
    let split = source
        .split
        .as_ref()
        .context("half-moon says which rows have labels")?;
    let labelled = labelled_points(&source.rows, &split.labelled);
    let (mut predictions, mut samples) = (Vec::new(), Vec::new());
    for contestant in contestants {
        let panel = ScatterPanel {
            title: title(contestant.method).into(),
            labelled: labelled.clone(),
            corner: percent(contestant.accuracy),
            ..predictions_of(&contestant.trained, test)?
        };
        let regions = panel.regions.clone();
        predictions.push(panel);
        let preprocess = &contestant.trained.card.preprocess;
        let drawn = preprocess.invert(contestant.trained.inference.sample(
            SAMPLES,
            true,
            CodeSource::Fitted,
        )?);
        let drawn = in_view(drawn);
        samples.push(ScatterPanel {
            points: points(&drawn),
            classes: classes(&contestant.trained, drawn, &test.layout)?,
            // The same map behind, so that both rows have one scale.
            regions,
            ..ScatterPanel::default()
        });
    }
    let path = out.join("half-moon.png");
    let titles = ["predictions", "samples"].map(String::from);
    scatter_panels(&[predictions, samples], &titles, &path)?;
    Ok(vec![path])
}

/// The rows with that number and their classes, for diamonds.
pub fn labelled_points(rows: &Dataset, numbers: &[u32]) -> Vec<([f32; 2], u32)> {
    let features = rows.features.matrix();
    let labelled = numbers.iter().filter_map(|row| {
        let place = point(&features, *row as usize);
        Some((place, rows.labels.class_of(*row)?))
    });
    labelled.collect()
}

/// Rows in the colours of their predictions, over a map of predictions.
pub fn predictions_of(trained: &Trained, rows: &Dataset) -> Result<ScatterPanel> {
    Ok(ScatterPanel {
        points: points(&rows.features.matrix()),
        classes: classes(trained, rows.features.matrix(), &rows.layout)?,
        regions: Some(regions(trained, &rows.layout)?),
        ..ScatterPanel::default()
    })
}

/// The rows that the panels show.
fn in_view(rows: Matrix) -> Matrix {
    let within = |range: [f32; 2], value: f32| range[0] <= value && value <= range[1];
    let shown: Vec<u32> = (0..rows.rows as u32)
        .filter(|row| {
            let [x, y] = point(&rows, *row as usize);
            within(VIEW.0, x) && within(VIEW.1, y)
        })
        .collect();
    rows.select(&shown)
}

/// Predicted classes and their probability on a grid over the plane.
fn regions(trained: &Trained, layout: &Layout) -> Result<Regions> {
    let (x, y) = VIEW;
    let at = |range: [f32; 2], i: usize| {
        range[0] + (range[1] - range[0]) * (i as f32 + 0.5) / CELLS as f32
    };
    let places = (0..CELLS * CELLS).flat_map(|cell| [at(x, cell % CELLS), at(y, cell / CELLS)]);
    let places = Matrix::new(CELLS * CELLS, 2, places.collect())?;
    let probs = probabilities(trained, places, layout)?;
    let best = |row: usize| largest(probs.row(row));
    Ok(Regions {
        x,
        y,
        columns: CELLS,
        rows: CELLS,
        class: (0..probs.rows).map(|row| best(row) as u32).collect(),
        confidence: (0..probs.rows)
            .map(|row| probs.row(row)[best(row)])
            .collect(),
    })
}

fn classes(trained: &Trained, features: Matrix, layout: &Layout) -> Result<Vec<u32>> {
    let probs = probabilities(trained, features, layout)?;
    Ok((0..probs.rows)
        .map(|row| largest(probs.row(row)) as u32)
        .collect())
}

fn probabilities(trained: &Trained, features: Matrix, layout: &Layout) -> Result<Matrix> {
    let rows = Dataset::new("plane", features, layout.clone(), Labels::None)?;
    let prepared = trained.card.preprocess.apply(rows)?;
    Ok(trained.inference.predict(&prepared.features, 0)?)
}

fn point(features: &Matrix, row: usize) -> [f32; 2] {
    let row = features.row(row);
    [row[0], row[1]]
}

fn points(features: &Matrix) -> Vec<[f32; 2]> {
    (0..features.rows).map(|row| point(features, row)).collect()
}

fn title(method: &str) -> &'static str {
    match method {
        "vae-then-mlp" => "VAE-then-MLP",
        "pc" => "PC-VAE",
        "cpc" => "CPC-VAE",
        _ => "M2",
    }
}
