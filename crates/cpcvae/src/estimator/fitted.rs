//! A fitted model: its properties, saving and loading.

use super::{HeldOutDetails, Suspect};
use crate::calibration::{Calibration, Figures};
use crate::compare::{Comparison, Verdict};
use crate::config::RunConfig;
use crate::device::{Device, Precision, device};
use crate::ensemble::{Ensemble, Voter};
use crate::error::{Error, Result};
use crate::model::Target;
use crate::nearest::NearestRows;
use crate::run::{Card, Run, RunFolder, RunReport, Trained};
use cpcvae_data::{Layout, Split};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A trained model with its calibration and reports. Its predictions are in the user's units.
///
/// ```
/// use cpcvae::prelude::*;
///
/// let rows: Vec<[f32; 1]> = (0..60).map(|i| [(i % 2 * 9 + i % 5) as f32]).collect();
/// let labels = (0..60).map(|i| (i < 8).then_some(["low", "high"][i % 2]));
/// let data = Dataset::from_rows(&rows, Labels::classes(labels))?;
/// let fitted = Pc::new().steps(100).hold_out(false).fit(&data)?;
///
/// let folder = std::env::temp_dir().join(format!("cpcvae-doc-{}", std::process::id()));
/// fitted.save(&folder)?;
/// let same = Fitted::load(&folder)?;
/// assert_eq!(same.predict(&rows)?.outputs, fitted.predict(&rows)?.outputs);
/// # std::fs::remove_dir_all(&folder).ok();
/// # Ok::<(), cpcvae::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Fitted {
    pub(super) config: RunConfig,
    pub(super) trained: Trained,
    pub(super) ensemble: Option<Ensemble>,
    pub(super) nearest: Option<NearestRows>,
    pub(super) calibration: Calibration,
    pub(super) comparison: Option<Comparison>,
    pub(super) details: Option<HeldOutDetails>,
    pub(super) suspects: Vec<Suspect>,
    pub(super) held_out: HeldOutState,
    pub(super) report: RunReport,
    pub(super) split: Split,
    pub(super) metrics: Vec<u8>,
    pub(super) folder: Option<RunFolder>,
    pub(super) device: Device,
}

/// `report.json`: the reports of training and of held-out labels.
#[derive(Serialize, Deserialize)]
struct StoredReport {
    #[serde(flatten)]
    report: RunReport,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    comparison: Option<Comparison>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    held_out_details: Option<HeldOutDetails>,
    /// The voters of an ensemble with their weights.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    ensemble: Vec<Voter>,
    /// Labels that are probably wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    suspects: Vec<Suspect>,
    /// Figures on held-out labels, as in `answers.json`, and the comparison in words; only for
    /// readers of the file.
    #[serde(default, skip_serializing_if = "Option::is_none", skip_deserializing)]
    held_out: Option<Figures>,
    #[serde(default, skip_serializing_if = "Option::is_none", skip_deserializing)]
    verdict: Option<Verdict>,
}

/// Whether predictions were evaluated on held-out labels.
///
/// ```
/// use cpcvae::estimator::HeldOutState;
/// # use cpcvae::prelude::*;
/// # let rows: Vec<[f32; 2]> =
/// #     (0..60).map(|i| [(i % 2 * 9 + i % 5) as f32, (i % 7) as f32]).collect();
/// # let labels = (0..60).map(|i| (i < 20).then_some(["low", "high"][i % 2]));
/// # let data = Dataset::from_rows(&rows, Labels::classes(labels))?;
/// let fitted = Pc::new().steps(50).hold_out(false).fit(&data)?;
/// assert_eq!(*fitted.held_out(), HeldOutState::NotAsked);
/// # Ok::<(), cpcvae::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeldOutState {
    /// They were.
    Measured,
    /// It was not requested.
    NotAsked,
    /// Not possible, and why.
    Impossible(String),
    /// A stop was asked for before all labels were held out; the model is finished.
    Stopped,
}

impl Fitted {
    /// Loads a finished run.
    pub fn load(folder: impl AsRef<Path>) -> Result<Self> {
        Self::load_on(folder, "cpu")
    }

    /// The same on another device: `cpu`, `wgpu`, `cuda` or `metal`.
    pub fn load_on(folder: impl AsRef<Path>, device_name: &str) -> Result<Self> {
        Self::load_with(folder, device_name, None)
    }

    /// The same with another precision than that of its training, if given.
    pub fn load_with(
        folder: impl AsRef<Path>,
        device_name: &str,
        precision: Option<Precision>,
    ) -> Result<Self> {
        let path = folder.as_ref();
        if !path.is_dir() {
            return Err(Error::file(path, "there is no folder of a run here"));
        }
        let folder = RunFolder::at(path);
        let device = device(device_name)?;
        folder.check_files()?;
        let trained = Trained::open_with(&folder, &device, precision, 0)?;
        let calibration = Calibration::load(&folder)?.unwrap_or_else(Calibration::unknown);
        let StoredReport {
            held_out: _,
            verdict: _,
            report,
            comparison,
            held_out_details: details,
            ensemble: _,
            suspects,
        } = folder.read_report()?;
        let ensemble = Ensemble::load(&folder, &trained.card.shape.target)?;
        Ok(Self {
            nearest: NearestRows::load(&folder, &trained.card)?,
            config: folder.config()?,
            trained,
            held_out: match calibration.held_out {
                Some(_) => HeldOutState::Measured,
                None => HeldOutState::NotAsked,
            },
            ensemble,
            calibration,
            comparison,
            details,
            suspects,
            report,
            split: folder.split()?,
            metrics: folder.metrics()?,
            folder: Some(folder),
            device,
        })
    }

    /// Writes everything into a folder that [`Fitted::load`] and the command line can open.
    pub fn save(&self, folder: impl AsRef<Path>) -> Result<()> {
        let folder = RunFolder::at(folder.as_ref());
        let metrics = match &self.folder {
            Some(own) if own.path() == folder.path() => return Ok(()),
            Some(own) => own.metrics()?,
            None => self.metrics.clone(),
        };
        let run = Run {
            config: self.config.clone(),
            report: self.report.clone(),
            split: self.split.clone(),
            trained: Some(self.trained.clone()),
            metrics,
        };
        run.save(&folder)?;
        if let Some(ensemble) = &self.ensemble {
            ensemble.save(&folder)?;
        }
        if let Some(nearest) = &self.nearest {
            nearest.save(&folder)?;
        }
        self.calibration.save(&folder)?;
        folder.write_report(&self.stored_report())
    }

    /// The same, independent of the folder that it was loaded from, which may be deleted.
    pub fn in_memory(self) -> Self {
        Self {
            folder: None,
            ..self
        }
    }

    /// The same with another seed for random draws; the default is 0.
    pub fn with_seed(&self, seed: u64) -> Self {
        Self {
            trained: self.trained.with_seed(seed),
            ..self.clone()
        }
    }

    /// The complete settings of its training.
    pub fn config(&self) -> &RunConfig {
        &self.config
    }

    /// The report of training, with the figures on test rows if there are any.
    pub fn report(&self) -> &RunReport {
        &self.report
    }

    /// The metadata of the model.
    pub fn card(&self) -> &Card {
        &self.trained.card
    }

    /// The underlying model for prepared rows.
    pub fn trained(&self) -> &Trained {
        &self.trained
    }

    /// Which rows trained, validated and tested.
    pub fn split(&self) -> &Split {
        &self.split
    }

    /// Calibration, and the figures on held-out labels.
    pub fn calibration(&self) -> &Calibration {
        &self.calibration
    }

    /// Whether predictions were evaluated on held-out labels.
    pub fn held_out(&self) -> &HeldOutState {
        &self.held_out
    }

    /// The method and its baselines on held-out rows, if they were compared.
    pub fn comparison(&self) -> Option<&Comparison> {
        self.comparison.as_ref()
    }

    /// Held-out predictions, counted by class and by confidence, if labels are classes.
    pub fn held_out_details(&self) -> Option<&HeldOutDetails> {
        self.details.as_ref()
    }

    /// Labels of the training rows that are probably wrong, the most doubtful first; available if
    /// labels were held out.
    pub fn suspects(&self) -> &[Suspect] {
        &self.suspects
    }

    /// The verdict in words: whether the unlabelled rows help, by how much, and how certain that
    /// is.
    pub fn verdict(&self) -> Option<Verdict> {
        let compared = self.comparison.as_ref()?;
        compared.labels_only.as_ref()?;
        Some(compared.verdict())
    }

    /// Names of the classes; empty where labels are continuous or there are none.
    pub fn classes(&self) -> &[String] {
        match &self.card().shape.target {
            Target::Classes(names) => names,
            Target::Values(_) | Target::Nothing => &[],
        }
    }

    /// The layout of a row.
    pub fn layout(&self) -> &Layout {
        &self.card().preprocess.layout
    }

    /// Every term of the objective over time: one JSON object a line.
    pub fn history(&self) -> &[u8] {
        &self.metrics
    }

    /// The voters with their weights: the network first, then the members of the ensemble. Empty if
    /// the network predicts alone.
    pub fn voters(&self) -> Vec<Voter> {
        let voters = |ensemble: &Ensemble| ensemble.voters(&self.card().method);
        self.ensemble.as_ref().map(voters).unwrap_or_default()
    }

    fn stored_report(&self) -> StoredReport {
        StoredReport {
            held_out: self.calibration.held_out.clone(),
            verdict: self.verdict(),
            report: self.report.clone(),
            comparison: self.comparison.clone(),
            held_out_details: self.details.clone(),
            ensemble: self.voters(),
            suspects: self.suspects.clone(),
        }
    }

    pub(super) fn keep_calibration(&self) -> Result<()> {
        match &self.folder {
            Some(folder) => {
                if let Some(ensemble) = &self.ensemble {
                    ensemble.save(folder)?;
                }
                if let Some(nearest) = &self.nearest {
                    nearest.save(folder)?;
                }
                self.calibration.save(folder)
            }
            None => Ok(()),
        }
    }

    pub(super) fn keep_report(&self) -> Result<()> {
        match &self.folder {
            Some(folder) => folder.write_report(&self.stored_report()),
            None => Ok(()),
        }
    }
}
