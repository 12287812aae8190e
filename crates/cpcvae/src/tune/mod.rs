//! Hyperparameter search: many trainings with different settings, evaluated on validation rows or
//! held-out labels; then an unbiased estimate on rows that no trial has seen.
//!
//! The search is a folder: `journal.log`, a study that Optuna and its dashboard can open; a run
//! folder for each trial in `trials/`; `best.toml`, settings for `fit`. Any number of workers, on
//! any machine that sees the folder, can open it and work on it; unfinished trials of a killed
//! worker are continued.
//!
//! ```
//! use cpcvae::prelude::*;
//! use cpcvae::tune::{TuneOptions, Tuning};
//! # let rows: Vec<[f32; 2]> =
//! #     (0..90).map(|i| [(i % 2 * 9 + i % 5) as f32, (i % 7) as f32]).collect();
//! # let labels = (0..90).map(|i| (i < 30).then_some(["low", "high"][i % 2]));
//! # let data = Dataset::from_rows(&rows, Labels::classes(labels))?;
//! # let folder = std::env::temp_dir().join(format!("cpcvae-tune-{}", std::process::id()));
//! let estimator = Estimator::named("pc").steps(20).folds(2);
//! let options = TuneOptions { trials: 3, ..TuneOptions::new(&folder) };
//! let tuning = Tuning::open(&estimator, data, &options)?;
//! tuning.search(&options, &Silent)?;
//! let found = tuning.finish(&Silent)?;
//! assert_eq!(found.trials.len(), 3);
//! # std::fs::remove_dir_all(&folder).ok();
//! # Ok::<(), cpcvae::Error>(())
//! ```

mod claim;
mod estimate;
mod found;
mod objective;
mod options;
mod search;
mod spaces;
mod trial;

pub use cpcvae_search::{Pruner, Sampler, Space, Trial, TrialState};
pub use estimate::Estimate;
pub use found::Found;
pub use objective::{Objective, Unseen};
pub use options::{Ask, ExternalSampler, TuneOptions};

use crate::config::{Request, RunConfig};
use crate::crossfit::Folding;
use crate::device::Device;
use crate::error::{Error, Remedy, Result};
use crate::estimator::Estimator;
use cpcvae_data::{Dataset, Source, Split, write_atomically};
use cpcvae_search::Study;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The study's name in its journal.
pub const STUDY: &str = "cpcvae";

/// An opened search.
#[derive(Debug)]
pub struct Tuning {
    request: Request,
    base: RunConfig,
    source: Source,
    /// The rows of all trials.
    split: Split,
    unseen: Unseen,
    objective: Objective,
    folding: Folding,
    space: Space,
    pruner: Pruner,
    folder: PathBuf,
    device: Device,
    study: Mutex<Study>,
}

impl Tuning {
    /// Opens the search in the options' folder, or creates it. An existing one must agree in
    /// everything that affects a trial's value.
    pub fn open(
        estimator: &Estimator,
        data: impl Into<Source>,
        options: &TuneOptions<'_>,
    ) -> Result<Self> {
        let source: Source = data.into();
        let request = estimator.request().clone();
        let base = request.settings_for(&source.rows)?;
        let space = spaces::space_of(options.space.as_ref(), &base, &request)?;
        let (split, unseen) = objective::set_aside(&source, &base)?;
        let folding = estimator.folding(&source.rows, base.seed);
        let objective = Objective::of(&base, &split, &folding)?;
        let folder = options.folder.clone();
        let tuning = Self {
            study: Mutex::new(Study::open(&folder.join("journal.log"), STUDY)?),
            device: estimator.place()?,
            pruner: options.pruner,
            request,
            base,
            source,
            split,
            unseen,
            objective,
            folding,
            space,
            folder,
        };
        tuning.check_same()?;
        Ok(tuning)
    }

    /// The search space for these rows.
    pub fn space_for(
        estimator: &Estimator,
        rows: &Dataset,
        options: &TuneOptions<'_>,
    ) -> Result<Space> {
        let request = estimator.request();
        let base = request.settings_for(rows)?;
        spaces::space_of(options.space.as_ref(), &base, request)
    }

    /// What is searched, stored beside the journal and compared with an existing file.
    fn check_same(&self) -> Result<()> {
        let now = json!({
            "data": self.source.rows.name,
            "settings": self.base.to_toml(),
            "objective": self.objective,
            "unseen": self.unseen,
            "space": self.space.to_json()["parameters"],
        });
        let path = self.folder.join("search.json");
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let text = serde_json::to_string_pretty(&now).expect("plain values serialise");
                write_atomically(&path, text.as_bytes())?;
                let objective = format!("{} by {}", self.loss_name(), self.evaluated_on());
                return Ok(self.study().set_attr("made smaller", json!(objective))?);
            }
            Err(error) => return Err(Error::file(&path, error)),
        };
        let before: Value =
            serde_json::from_str(&text).map_err(|error| Error::file(&path, error))?;
        let differing = ["data", "settings", "objective", "unseen", "space"];
        match differing.iter().find(|key| now[**key] != before[**key]) {
            None => Ok(()),
            Some(key) => Err(Error::file(
                &self.folder,
                format!(
                    "a search with other {key} was started in this folder (see search.json there); go \
                     on with the same, or begin another one in another folder"
                ),
            )
            .with_remedy(Remedy::OtherFolder)),
        }
    }

    fn study(&self) -> MutexGuard<'_, Study> {
        self.study.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The name of the loss that is minimised.
    pub fn loss_name(&self) -> &'static str {
        objective::loss_name(&self.source.rows, &self.base)
    }

    /// What trials are evaluated on, in words.
    pub fn evaluated_on(&self) -> String {
        match self.objective {
            Objective::Validation { rows } => format!("{rows} validation rows"),
            Objective::CrossFit { rows, folds } => {
                format!("{rows} labels held out in {} folds", folds.min(rows))
            }
        }
    }

    /// What trials are evaluated on.
    pub fn objective(&self) -> Objective {
        self.objective
    }

    /// The rows that no trial sees.
    pub fn unseen(&self) -> &Unseen {
        &self.unseen
    }

    /// The search space.
    pub fn space(&self) -> &Space {
        &self.space
    }
}
