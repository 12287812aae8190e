//! The image part of the demo: what each model generates, and how CPC-VAE sees images.

use super::Contestant;
use crate::output::{grid, images};
use anyhow::{Context, Result};
use cpcvae::config::RunConfig;
use cpcvae::infer::{Inference, Reconstruction, RejectionLimits};
use cpcvae::model::{ActivationName, Target};
use cpcvae_data::{Matrix, Source};
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
pub fn draw(contestants: &[Contestant], source: &Source, out: &Path) -> Result<Vec<PathBuf>> {
    let mut figures = Vec::new();
    for contestant in contestants {
        let path = out.join(format!("glyphs-samples-{}.png", contestant.method));
        image_grid(&samples(contestant)?, &path)?;
        figures.push(path);
    }
    // The main method's samples first.
    figures.sort_by_key(|path| !path.ends_with("glyphs-samples-cpc.png"));
    if let Some(cpc) = contestants
        .iter()
        .find(|contestant| contestant.method == "cpc")
    {
        let path = out.join("glyphs-reconstructions.png");
        image_grid(&reconstructions(cpc, source)?, &path)?;
        figures.push(path);
    }
    Ok(figures)
}

/// A column for each class. A class that the model never gives with confidence stays empty.
fn samples(contestant: &Contestant) -> Result<Grid> {
    let card = &contestant.trained.card;
    let mut grid = grid(&card.preprocess.layout)?;
    let Target::Classes(names) = &card.shape.target else {
        return Ok(grid);
    };
    let blank = vec![vec![1.0; card.shape.features]; SAMPLES];
    let columns: Vec<Vec<Vec<f32>>> = (0..names.len())
        .map(
            |class| match of_class(&contestant.trained.inference, class) {
                Some(rows) => images(&card.preprocess.invert(rows)),
                None => blank.clone(),
            },
        )
        .collect();
    grid.images = (0..SAMPLES)
        .map(|row| columns.iter().map(|column| column[row].clone()).collect())
        .collect();
    grid.column_labels = names.clone();
    Ok(grid)
}

/// Samples of a class at the paper's threshold, or at a lower one where that class is rare.
fn of_class(inference: &Inference, class: usize) -> Option<Matrix> {
    [0.95, 0.5].into_iter().find_map(|threshold| {
        let limits = RejectionLimits {
            threshold,
            draws: 50_000,
        };
        let samples = inference.sample_class(class, SAMPLES, false, limits).ok()?;
        Some(samples.features)
    })
}

fn reconstructions(contestant: &Contestant, source: &Source) -> Result<Grid> {
    let preprocess = &contestant.trained.card.preprocess;
    let test = source.test.as_ref().context("glyphs have test rows")?;
    let rows: Vec<u32> = (0..RECONSTRUCTED as u32).collect();
    let originals = test.select(&rows);
    let prepared = preprocess.apply(originals.clone())?;
    let mut grid = grid(&preprocess.layout)?;
    grid.images.push(images(&originals.features));
    grid.row_labels.push("original".into());
    let kinds = [
        ("reconstruction", Reconstruction::Mean),
        ("aligned", Reconstruction::Aligned),
        ("sampled, moved", Reconstruction::Transformed),
    ];
    for (label, kind) in kinds {
        let rows = contestant
            .trained
            .inference
            .reconstruct(&prepared.features, kind)?;
        grid.images.push(images(&preprocess.invert(rows)));
        grid.row_labels.push(label.into());
    }
    Ok(grid)
}
