//! A fitted model and its properties.

use super::{HeldOutDetails, Suspect};
use crate::calibration::Calibration;
use crate::compare::{Comparison, Verdict};
use crate::config::RunConfig;
use crate::device::Device;
use crate::ensemble::{Ensemble, Voter};
use crate::model::Target;
use crate::nearest::NearestRows;
use crate::run::{Card, RunFolder, RunReport, Trained};
use cpcvae_data::{Layout, Split};

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
}
