//! The last and the best model of a training, in a folder or in memory.

use super::checkpoint::{self, LoopState};
use super::pseudo_labels::AssignedLabels;
use super::{Adam, Parameters, TensorFile};
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
    /// The best model alone, beside the bytes of a checkpoint to go on from: nothing goes on after
    /// the process ends.
    Memory {
        best: Option<Parameters>,
        last: Option<Vec<u8>>,
    },
}

impl Checkpoints {
    /// In `checkpoints` of a run's folder, which is created.
    pub(super) fn in_folder(run: &Path) -> Result<Self> {
        let folder = run.join("checkpoints");
        cpcvae_data::create_folder(&folder).map_err(|error| Error::file(&folder, error))?;
        Ok(Self::Folder(folder))
    }

    /// Training goes on from the bytes of a checkpoint, where there are any.
    pub(super) fn in_memory(last: Option<Vec<u8>>) -> Self {
        Self::Memory { best: None, last }
    }

    /// The file of the last checkpoint; an empty path where there is none.
    pub(super) fn last_path(&self) -> PathBuf {
        match self {
            Self::Folder(folder) => folder.join("last.safetensors"),
            Self::Memory { .. } => PathBuf::new(),
        }
    }

    /// The checkpoint to resume from, read into a fresh model.
    pub(super) fn last(&self, fresh: impl FnOnce() -> Model) -> Result<Option<Earlier>> {
        let path = self.last_path();
        let file = match self {
            Self::Folder(_) if path.exists() => TensorFile::load(&path)?,
            Self::Memory {
                last: Some(bytes), ..
            } => TensorFile::from_bytes(bytes, Path::new("the checkpoint of rank 0"))?,
            _ => return Ok(None),
        };
        checkpoint::read(&file, &path, fresh()).map(Some)
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
            Self::Memory { .. } => {
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
            Self::Memory { best, .. } => {
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
                let path = folder.join("best.safetensors");
                let (model, ..) = checkpoint::read(&TensorFile::load(&path)?, &path, fresh)?;
                Ok(model)
            }
            Self::Memory {
                best: Some(best), ..
            } => best.clone().apply(fresh).map_err(Error::Mismatch),
            Self::Memory { best: None, .. } => Ok(fresh),
        }
    }
}
