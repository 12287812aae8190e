//! The folder of a fitted model: saving and loading.

use super::Fitted;
use super::fitted::HeldOutState;
use super::held_out_details::HeldOutDetails;
use super::suspects::Suspect;
use crate::calibration::{Calibration, Figures};
use crate::compare::{Comparison, Verdict};
use crate::device::{Precision, device};
use crate::ensemble::{Ensemble, Voter};
use crate::error::{Error, Result};
use crate::nearest::NearestRows;
use crate::run::{Run, RunFolder, RunReport, Trained};
use serde::{Deserialize, Serialize};
use std::path::Path;

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
