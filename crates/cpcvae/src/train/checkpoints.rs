//! The last and the best model of a training, in a folder or in memory.

use super::checkpoint::{self, LoopState};
use super::pseudo_labels::AssignedLabels;
use super::{Adam, Parameters};
use crate::error::{Error, Result};
use crate::model::Model;
use std::path::{Path, PathBuf};

/// The content of a checkpoint.
pub(super) type Earlier = (Model, Adam, Option<AssignedLabels>, LoopState);

/// The last and the best checkpoint of a training.
#[derive(Debug)]
pub(super) enum Checkpoints {
    /// `last.safetensors` and `best.safetensors` in this folder: a killed training can be resumed.
    Folder(PathBuf),
    /// The best model only: training cannot be resumed after the process ends.
    Memory(Option<Parameters>),
}

impl Checkpoints {
    /// In `checkpoints` of a run's folder, which is created.
    pub(super) fn in_folder(run: &Path) -> Result<Self> {
        let folder = run.join("checkpoints");
        std::fs::create_dir_all(&folder).map_err(|error| Error::file(&folder, error))?;
        Ok(Self::Folder(folder))
    }

    pub(super) fn in_memory() -> Self {
        Self::Memory(None)
    }

    /// The file of the last checkpoint; an empty path where there is none.
    pub(super) fn last_path(&self) -> PathBuf {
        match self {
            Self::Folder(folder) => folder.join("last.safetensors"),
            Self::Memory(_) => PathBuf::new(),
        }
    }

    /// The checkpoint to resume from, read into a fresh model.
    pub(super) fn last(&self, fresh: impl FnOnce() -> Model) -> Result<Option<Earlier>> {
        match self.last_path() {
            path if path.exists() => checkpoint::load(&path, fresh()).map(Some),
            _ => Ok(None),
        }
    }

    pub(super) fn save_last(
        &self,
        model: &Model,
        adam: &Adam,
        assigned: Option<&AssignedLabels>,
        state: &LoopState,
    ) -> Result<()> {
        match self {
            Self::Folder(_) => checkpoint::save(&self.last_path(), model, adam, assigned, state),
            Self::Memory(_) => {
                checkpoint::check_finite(&Parameters::of(model), state, Path::new(""))
            }
        }
    }

    pub(super) fn save_best(&mut self, model: &Model, state: &LoopState) -> Result<()> {
        match self {
            Self::Folder(folder) => {
                let path = folder.join("best.safetensors");
                checkpoint::save(&path, model, &Adam::default(), None, state)
            }
            Self::Memory(best) => {
                let parameters = Parameters::of(model);
                checkpoint::check_finite(&parameters, state, Path::new(""))?;
                *best = Some(parameters);
                Ok(())
            }
        }
    }

    /// The best model, read into a fresh one.
    pub(super) fn best(&self, fresh: Model) -> Result<Model> {
        match self {
            Self::Folder(folder) => {
                let (model, ..) = checkpoint::load(&folder.join("best.safetensors"), fresh)?;
                Ok(model)
            }
            Self::Memory(Some(best)) => best.clone().apply(fresh).map_err(Error::Mismatch),
            Self::Memory(None) => Ok(fresh),
        }
    }
}
