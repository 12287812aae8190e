//! The plain VAE that a model's density is compared with.

use super::{Parts, trainings};
use crate::config::RunConfig;
use crate::error::{Error, Remedy, Result};
use crate::method::DataKind;
use crate::run::{RunFolder, Trained};
use crate::train::Observer;
use burn::tensor::Device;
use cpcvae_data::{Layout, Source};

/// Trains method `vae` with the run's network, likelihood, floor, transform, schedule and length on
/// the run's training rows, in `quality/vae` of the run's folder if it has one; a finished training
/// there is loaded, as in [`train_classifier`](super::train_classifier).
pub fn train_plain_vae(
    parts: &Parts,
    config: &RunConfig,
    folder: Option<&RunFolder>,
    device: &Device,
    observer: &mut dyn Observer,
) -> Result<Option<Trained>> {
    let source = Source {
        rows: parts.rows.clone(),
        test: None,
        split: Some(parts.split.clone()),
    };
    let folder = trainings::folder(folder, "vae");
    trainings::trained(
        &of_run(config, &parts.rows.layout)?,
        source,
        folder.as_ref(),
        device,
        observer,
    )
}

/// The settings of a run with the method `vae`.
fn of_run(config: &RunConfig, layout: &Layout) -> Result<RunConfig> {
    let kind = kind_of(layout);
    let plain = RunConfig::defaults("vae", kind, &config.data.source)?;
    Ok(RunConfig {
        seed: config.seed,
        data: config.data.clone(),
        model: config.model.clone(),
        train: config.train.clone(),
        ..plain
    })
}

/// Tables or images.
pub(super) fn kind_of(layout: &Layout) -> DataKind {
    match layout {
        Layout::Columns(_) => DataKind::Table,
        Layout::Image { .. } => DataKind::Images,
    }
}

/// Refuses to compare densities that differ in more than the quality of the model.
pub fn check_comparable(trained: &Trained, other: &Trained) -> Result<()> {
    let (card, beside) = (&trained.card, &other.card);
    let (ours, theirs) = (&card.shape, &beside.shape);
    let problem = if ours.likelihood != theirs.likelihood {
        format!(
            "the run has the likelihood {:?}, the one beside it {:?}",
            ours.likelihood, theirs.likelihood
        )
    } else if ours.scale_floor != theirs.scale_floor {
        format!(
            "`model.scale_floor` of the run is {}, of the one beside it {}",
            ours.scale_floor, theirs.scale_floor
        )
    } else if card.preprocess.layout != beside.preprocess.layout {
        format!(
            "the run was trained on `{}`, the one beside it on `{}`",
            card.data, beside.data
        )
    } else {
        return Ok(());
    };
    Err(Error::Mismatch(format!(
        "log p(x) of these runs cannot be compared: {problem}; compare with a plain VAE that is \
         trained like the run"
    ))
    .with_remedy(Remedy::TrainPlainVae))
}
