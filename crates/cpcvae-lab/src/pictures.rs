//! Visualisation of a model: samples and reconstructions as grids of images, predictions over the
//! plane.

use crate::figure::{Grid, Regions, ScatterPanel};
use anyhow::{Result, bail};
use cpcvae::infer::{CodeSource, Inference, Reconstruction, RejectionLimits, largest};
use cpcvae::model::Target;
use cpcvae::run::Trained;
use cpcvae_data::{Dataset, Labels, Layout, Matrix};

/// Samples of each class in a figure.
const SAMPLES: usize = 8;
/// Test images that are reconstructed.
const RECONSTRUCTED: usize = 14;
/// The part of the plane that all panels show; the few samples outside are left out.
const VIEW: ([f32; 2], [f32; 2]) = ([-1.9, 2.9], [-1.3, 1.8]);
/// Cells along each side of the map of predictions.
const CELLS: usize = 120;

/// Acceptance thresholds of the predicted probability of a sample's class: the paper's, and lower
/// ones for models that never reach it.
const THRESHOLDS: [f32; 3] = [0.95, 0.5, 0.2];

/// A column for each class; its label says if samples have a lower threshold than the paper's, or
/// if there are none.
pub fn samples(trained: &Trained, codes: CodeSource) -> Result<Grid> {
    let card = &trained.card;
    let mut grid = grid(&card.preprocess.layout)?;
    let Target::Classes(names) = &card.shape.target else {
        return Ok(grid);
    };
    let blank = vec![vec![1.0; card.shape.features]; SAMPLES];
    let mut columns = Vec::new();
    for (class, name) in names.iter().enumerate() {
        let (label, column) = match of_class(&trained.inference, class, codes) {
            Some((threshold, rows)) => {
                let label = match threshold == THRESHOLDS[0] {
                    true => name.clone(),
                    false => format!("{name}: p>{threshold}"),
                };
                (label, images(&card.preprocess.invert(rows)))
            }
            None => (format!("{name}: none"), blank.clone()),
        };
        grid.column_labels.push(label);
        columns.push(column);
    }
    grid.images = (0..SAMPLES)
        .map(|row| columns.iter().map(|column| column[row].clone()).collect())
        .collect();
    Ok(grid)
}

/// Samples of a class at the highest threshold that gives enough, with that threshold.
fn of_class(inference: &Inference, class: usize, codes: CodeSource) -> Option<(f32, Matrix)> {
    THRESHOLDS.into_iter().find_map(|threshold| {
        let limits = RejectionLimits {
            codes,
            threshold,
            draws: 50_000,
        };
        let samples = inference.sample_class(class, SAMPLES, false, limits).ok()?;
        Some((threshold, samples.features))
    })
}

/// The first test images, and below them each kind of reconstruction.
pub fn reconstructions(
    trained: &Trained,
    test: &Dataset,
    kinds: &[(&str, Reconstruction)],
) -> Result<Grid> {
    let preprocess = &trained.card.preprocess;
    let rows: Vec<u32> = (0..RECONSTRUCTED as u32).collect();
    let originals = test.select(&rows);
    let prepared = preprocess.apply(originals.clone())?;
    let mut grid = grid(&preprocess.layout)?;
    grid.images.push(images(&originals.features.matrix()));
    grid.row_labels.push("original".into());
    for (label, kind) in kinds {
        let rows = trained.inference.reconstruct(&prepared.features, *kind)?;
        grid.images.push(images(&preprocess.invert(rows)));
        grid.row_labels.push((*label).into());
    }
    Ok(grid)
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

/// The rows inside the view.
pub fn in_view(rows: Matrix) -> Matrix {
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

/// The predicted class of each row.
pub fn classes(trained: &Trained, features: Matrix, layout: &Layout) -> Result<Vec<u32>> {
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

/// Rows of two columns as points.
pub fn points(features: &Matrix) -> Vec<[f32; 2]> {
    (0..features.rows).map(|row| point(features, row)).collect()
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
