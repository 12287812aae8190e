//! The remaining work of a `fit`: the number of trainings, and none for a finished run.

use super::Estimator;
use super::fitted::{Fitted, HeldOutState};
use crate::compare::{self, Comparison, Workplace};
use crate::config::RunConfig;
use crate::device::Device;
use crate::error::Result;
use crate::run::RunFolder;
use crate::train::Watch;
use cpcvae_data::Dataset;

impl Estimator {
    /// The most trainings of a fit: a class may have too few labels for all folds.
    pub(super) fn trainings(&self, config: &RunConfig, data: &Dataset) -> usize {
        if !self.holds_out(config, data) {
            return 1;
        }
        let folding = self.folding(data, config.seed);
        let methods = match self.held_out.compare {
            true => 1 + compare::trained_baselines(config),
            false => 1,
        };
        1 + folding.folds * folding.repeats.max(1) * methods
    }

    /// The run to resume, if it is finished already: folds that were removed need not be trained
    /// again.
    pub(super) fn finished(
        &self,
        folder: Option<&RunFolder>,
        config: &RunConfig,
        data: &Dataset,
        device: &Device,
        watch: &dyn Watch,
    ) -> Result<Option<Fitted>> {
        let Some(fitted) = self.measured(folder, config, data)? else {
            return Ok(None);
        };
        if !self.held_out.keep_folds {
            let place = Workplace {
                device,
                folder: self.folder.clone(),
                watch,
            };
            place.remove_folds(&self.folding(data, config.seed));
        }
        Ok(Some(fitted))
    }

    /// The run to resume, if its model is trained and labels were held out.
    pub(super) fn measured(
        &self,
        folder: Option<&RunFolder>,
        config: &RunConfig,
        data: &Dataset,
    ) -> Result<Option<Fitted>> {
        let goes_on = folder.filter(|folder| self.resume && folder.is_finished());
        let Some(folder) = goes_on.filter(|_| self.holds_out(config, data)) else {
            return Ok(None);
        };
        if folder.config()? != *config {
            return Ok(None); // which is refused when the run goes on
        }
        folder.check_data(data)?;
        // Damaged files are made again.
        let Ok(fitted) = Fitted::load_with(folder.path(), &self.device, None) else {
            return Ok(None);
        };
        let folding = self.folding(data, config.seed);
        let is_compared = |found: &Comparison| {
            let has_baselines = found.labels_only.is_some() || !self.held_out.compare;
            found.folds == folding.folds && has_baselines
        };
        let is_measured = *fitted.held_out() == HeldOutState::Measured
            && fitted.comparison().is_some_and(is_compared);
        Ok(is_measured.then_some(fitted))
    }
}
