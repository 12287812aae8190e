//! The half-moon part of the demo: the paper's first figure, and samples of each model.

use super::DemoModel;
use crate::printer::percent;
use anyhow::{Context, Result};
use cpcvae::estimator::{Estimator, Fit, SampleOptions};
use cpcvae_data::Source;
use cpcvae_lab::figure::{ScatterPanel, scatter_panels};
use cpcvae_lab::pictures::{classes, in_view, labelled_points, points, predictions_of};
use std::path::{Path, PathBuf};

/// The heading of the table.
pub(crate) const SETTING: &str = "half-moon in the paper's setting: 6 evenly spaced labels, 994 unlabelled \
                           rows, which are also the test rows";

/// Rows drawn from each model.
const SAMPLES: usize = 600;

/// The paper's setting, and steps for about a minute in total.
pub(crate) fn adjust(estimator: Estimator) -> Estimator {
    estimator
        .set("data.half_moon_labels", "evenly-spaced")
        .set("train.log_every", 20)
        .steps(3000)
}

/// One row of panels with predictions, one with samples in the colours of their predictions. Codes
/// are drawn from the fitted mixtures; M2 draws from its prior.
pub(super) fn draw(models: &[DemoModel], source: &Source, out: &Path) -> Result<Vec<PathBuf>> {
    let test = source.test.as_ref().context("half-moon has test rows")?;
    let split = source
        .split
        .as_ref()
        .context("half-moon says which rows have labels")?;
    let labelled = labelled_points(&source.rows, &split.labelled);
    let (mut predictions, mut samples) = (Vec::new(), Vec::new());
    for model in models {
        let panel = ScatterPanel {
            title: title(model.method).into(),
            labelled: labelled.clone(),
            corner: percent(model.accuracy),
            ..predictions_of(model.fitted.trained(), test)?
        };
        let regions = panel.regions.clone();
        predictions.push(panel);
        let options = SampleOptions {
            noisy: true,
            ..SampleOptions::default()
        };
        let drawn = model.fitted.sample_with(SAMPLES, options)?;
        let drawn = in_view(drawn);
        samples.push(ScatterPanel {
            points: points(&drawn),
            classes: classes(model.fitted.trained(), drawn, &test.layout)?,
            // The same background, so that both rows have one scale.
            regions,
            ..ScatterPanel::default()
        });
    }
    let path = out.join("half-moon.png");
    let titles = ["predictions", "samples"].map(String::from);
    scatter_panels(&[predictions, samples], &titles, &path)?;
    Ok(vec![path])
}

fn title(method: &str) -> &'static str {
    match method {
        "vae-then-mlp" => "VAE-then-MLP",
        "pc" => "PC-VAE",
        "cpc" => "CPC-VAE",
        _ => "M2",
    }
}
