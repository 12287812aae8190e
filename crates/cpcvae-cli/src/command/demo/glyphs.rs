//! The image part of the demo: what each model generates, and how CPC-VAE sees images.

use super::Contestant;
use crate::output::{grid, images};
use anyhow::{Context, Result};
use cpcvae::config::RunConfig;
use cpcvae::infer::{CodeSource, Inference, Reconstruction, RejectionLimits};
use cpcvae::model::{ActivationName, Target};
use cpcvae::run::Trained;
use cpcvae_data::{Dataset, Matrix, Source};
use cpcvae_lab::figure::{Grid, image_grid};
use std::path::{Path, PathBuf};

/// What the table shows.
pub const SETTING: &str = "glyphs: 5 labels for each of 10 classes, 4,950 unlabelled images, 1,000 \
                           fresh test images";

/// Samples of each class in a figure.
const SAMPLES: usize = 8;
/// Test images that are reconstructed.
const RECONSTRUCTED: usize = 14;

/// A network and a number of steps for three minutes in all.
pub fn adjust(config: &mut RunConfig) {
    config.model.hidden = vec![128, 128];
    config.model.transform.canvas = 1.25;
    config.model.code = 22;
    config.train.labelled_per_batch = 50;
    config.train.unlabelled_per_batch = 50;
    config.model.activation = ActivationName::Elu;
    config.train.learning_rate = 2e-3;
    config.train.steps = 2000;
}

/// Class-conditional samples of each method; originals, reconstructions and aligned
/// reconstructions of CPC-VAE.
pub(super) fn draw(
    contestants: &[Contestant],
    source: &Source,
    out: &Path,
) -> Result<Vec<PathBuf>> {
    let mut figures = Vec::new();
    for contestant in contestants {
        let path = out.join(format!("glyphs-samples-{}.png", contestant.method));
        image_grid(&samples(&contestant.trained, CodeSource::Fitted)?, &path)?;
        figures.push(path);
    }
    // The main method's samples first.
    figures.sort_by_key(|path| !path.ends_with("glyphs-samples-cpc.png"));
    if let Some(cpc) = contestants
        .iter()
        .find(|contestant| contestant.method == "cpc")
    {
        let path = out.join("glyphs-reconstructions.png");
        let test = source.test.as_ref().context("glyphs have test rows")?;
        let kinds = [
            ("reconstruction", Reconstruction::Mean),
            ("aligned", Reconstruction::Aligned),
            ("sampled, moved", Reconstruction::Transformed),
        ];
        image_grid(&reconstructions(&cpc.trained, test, &kinds)?, &path)?;
        figures.push(path);
    }
    Ok(figures)
}

/// How sure the predictor has to be of a sample's class: as in the paper, or less where the model
/// never is.
const THRESHOLDS: [f32; 3] = [0.95, 0.5, 0.2];

/// A column for each class; its label says where samples are less sure than the paper's, or
/// where there are none.
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

/// The first test images, and below them what each kind of reconstruction makes of them.
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
