//! Where cross-fits are trained: all parts, or one of them.

use crate::config::RunConfig;
use crate::crossfit::{CrossFit, Folding, HeldOut};
use crate::error::{Error, Result};
use crate::parallel_runs::parallel_runs;
use crate::train::{TrainingInfo, Watch};
use burn::tensor::Device;
use std::path::{Path, PathBuf};

/// The folder of the folds' runs.
const FOLDS: &str = "crossfit";

/// The environment of cross-fits.
pub struct Workplace<'a> {
    /// The device.
    pub device: &'a Device,
    /// The run's folder; `None` for trainings in memory.
    pub folder: Option<PathBuf>,
    /// Receives the progress of trainings.
    pub watch: &'a dyn Watch,
}

impl Workplace<'_> {
    /// Trains all unfinished parts of a cross-fit in `folder`. `None` when a stop was asked for;
    /// with a folder the same call resumes.
    pub fn hold_out(
        &self,
        fit: &CrossFit<'_>,
        config: &RunConfig,
        name: &str,
        folder: Option<&Path>,
    ) -> Result<Option<HeldOut>> {
        let parts = parallel_runs(fit.parts(), fit.at_once(self.device), |part| {
            self.hold_out_part(fit, part, config, name, folder)
        })?;
        Ok(parts.and_then(|parts| {
            parts.into_iter().reduce(|mut all, part| {
                all.extend(part);
                all
            })
        }))
    }

    /// The same for one part.
    pub(crate) fn hold_out_part(
        &self,
        fit: &CrossFit<'_>,
        part: usize,
        config: &RunConfig,
        name: &str,
        folder: Option<&Path>,
    ) -> Result<Option<HeldOut>> {
        let mut observer = self.watch.training(&TrainingInfo {
            name: name.into(),
            part,
            parts: fit.parts(),
        });
        let answered = fit.train(part, config, folder, self.device, observer.as_mut());
        answered.map_err(|error| Error::Part {
            what: format!(
                "{name} could not be trained without the labels of {}",
                fit.name(part)
            ),
            source: Box::new(error),
        })
    }

    /// The folder for the folds of a method.
    pub(super) fn folder_of(&self, folding: &Folding, name: &str) -> Option<PathBuf> {
        let folder = self.folder.as_ref()?;
        Some(folds_folder(folder, folding).join(name))
    }

    /// Removes the runs of the folds, which are not needed after the comparison. Failing to remove
    /// a folder is harmless.
    pub(crate) fn remove_folds(&self, folding: &Folding) {
        if let Some(folder) = &self.folder {
            let folder = folds_folder(folder, folding);
            let _ = std::fs::remove_dir_all(&folder);
            // Folders for other numbers of folds may still be there.
            let _ = folder.parent().map(std::fs::remove_dir);
        }
    }
}

/// The folder of all folds of a run.
pub(crate) fn folds_folder(run: &Path, folding: &Folding) -> PathBuf {
    run.join(FOLDS).join(format!("{}-folds", folding.folds))
}
