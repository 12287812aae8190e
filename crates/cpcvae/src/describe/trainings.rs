//! Trainings beside a run, in its folder: taken again where they are finished.

use crate::config::RunConfig;
use crate::error::{Error, Result};
use crate::run::{RunFolder, Trained, run};
use crate::train::Observer;
use burn::tensor::Device;
use cpcvae_data::{Source, Split};

/// The model of these settings and rows: the one in the folder, or a new one there, or the rest of
/// one that was stopped. A model of other settings or rows makes way. Nothing when the observer
/// asked for a stop; the next call goes on.
pub(super) fn trained(
    config: &RunConfig,
    source: Source,
    folder: &RunFolder,
    device: &Device,
    observer: &mut dyn Observer,
) -> Result<Option<Trained>> {
    if folder.path().exists() && !is_of(folder, config, source.split.as_ref()) {
        let path = folder.path();
        std::fs::remove_dir_all(path).map_err(|error| Error::file(path, error))?;
    }
    if !folder.is_finished() {
        let run = run(config, source, Some(folder), device, observer)?;
        if run.trained.is_none() {
            return Ok(None);
        }
        // Only the model is needed from here on. A folder that cannot be removed does no harm.
        let _ = std::fs::remove_dir_all(folder.path().join("checkpoints"));
    }
    Trained::open(folder, device, config.seed).map(Some)
}

/// Whether the folder is of a training with these settings on these rows.
fn is_of(folder: &RunFolder, config: &RunConfig, split: Option<&Split>) -> bool {
    let stored = Split::load(folder.path().join("split.json")).ok();
    folder.config().is_ok_and(|of_run| of_run == *config) && stored.as_ref() == split
}
