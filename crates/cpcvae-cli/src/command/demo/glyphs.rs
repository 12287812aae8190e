//! The image part of the demo: samples and reconstructions.

use super::DemoModel;
use anyhow::{Context, Result};
use cpcvae::estimator::{Estimator, Fit};
use cpcvae::infer::{CodeSource, Reconstruction};
use cpcvae_data::Source;
use cpcvae_lab::figure::image_grid;
use cpcvae_lab::pictures::{reconstructions, samples};
use std::path::{Path, PathBuf};

/// The heading of the table.
pub(crate) const SETTING: &str = "glyphs: 5 labels for each of 10 classes, 4,950 unlabelled images, 1,000 \
                           fresh test images";

/// A network and a number of steps for about three minutes in total.
pub(crate) fn adjust(estimator: Estimator) -> Estimator {
    estimator
        .hidden(&[128, 128])
        .code(22)
        .learning_rate(2e-3)
        .steps(2000)
        .set("model.activation", "elu")
        .set("model.transform.canvas", 1.25)
        .set("train.labelled_per_batch", 50)
        .set("train.unlabelled_per_batch", 50)
}

/// Class-conditional samples of each method; originals, reconstructions and aligned
/// reconstructions of CPC-VAE.
pub(super) fn draw(models: &[DemoModel], source: &Source, out: &Path) -> Result<Vec<PathBuf>> {
    let mut figures = Vec::new();
    for model in models {
        let path = out.join(format!("glyphs-samples-{}.png", model.method));
        image_grid(&samples(model.fitted.trained(), CodeSource::Fitted)?, &path)?;
        figures.push(path);
    }
    // The main method's samples first.
    figures.sort_by_key(|path| !path.ends_with("glyphs-samples-cpc.png"));
    if let Some(cpc) = models.iter().find(|model| model.method == "cpc") {
        let path = out.join("glyphs-reconstructions.png");
        let test = source.test.as_ref().context("glyphs have test rows")?;
        let kinds = [
            ("reconstruction", Reconstruction::Mean),
            ("aligned", Reconstruction::Aligned),
            ("sampled, moved", Reconstruction::Transformed),
        ];
        image_grid(&reconstructions(cpc.fitted.trained(), test, &kinds)?, &path)?;
        figures.push(path);
    }
    Ok(figures)
}
