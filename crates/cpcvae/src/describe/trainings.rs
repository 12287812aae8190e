//! Models for the comparison, stored in the run's folder if it has one.

use crate::config::RunConfig;
use crate::error::{Error, Result};
use crate::run::{RunFolder, Trained, run};
use crate::train::Observer;
use burn::tensor::Device;
use cpcvae_data::{Source, Split};

/// The model of these settings and rows. With a folder, a finished model there is loaded, a stopped
/// training resumes, and a model of other settings or rows is replaced. `None` when the observer
/// asked for a stop.
pub(super) fn trained(
    config: &RunConfig,
    source: Source,
    folder: Option<&RunFolder>,
    device: &Device,
    observer: &mut dyn Observer,
) -> Result<Option<Trained>> {
    let Some(folder) = folder else {
        let run = run(config, source, None, device, observer)?;
        return Ok(run.trained.map(|trained| trained.with_seed(config.seed)));
    };
    if folder.path().exists() && !is_of(folder, config, source.split.as_ref()) {
        let path = folder.path();
        std::fs::remove_dir_all(path).map_err(|error| Error::file(path, error))?;
    }
    if !folder.is_finished() {
        let run = run(config, source, Some(folder), device, observer)?;
        if run.trained.is_none() {
            return Ok(None);
        }
        // Only the model is needed from here on. Failing to remove a folder is harmless.
        let _ = std::fs::remove_dir_all(folder.path().join("checkpoints"));
    }
    Trained::open(folder, device, config.seed).map(Some)
}

/// The folder of a model of that name.
pub(super) fn folder(run: Option<&RunFolder>, name: &str) -> Option<RunFolder> {
    let path = run?.path().join("quality").join(name);
    Some(RunFolder::at(path))
}

/// Whether the folder is of a training with these settings on these rows.
fn is_of(folder: &RunFolder, config: &RunConfig, split: Option<&Split>) -> bool {
    let stored = Split::load(folder.path().join("split.json")).ok();
    folder.config().is_ok_and(|of_run| of_run == *config) && stored.as_ref() == split
}
