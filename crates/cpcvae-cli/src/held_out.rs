//! Cross-fits of the command line: trainings one after the other, with progress.

use crate::printer::Printer;
use crate::progress::Progress;
use anyhow::{Context, Result};
use cpcvae::config::RunConfig;
use cpcvae::crossfit::{CrossFit, HeldOut};
use cpcvae::device::Device;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Where trainings run, and who hears of them.
pub struct Trainer<'a> {
    /// The device.
    pub device: &'a Device,
    /// How much is said.
    pub printer: Printer,
    /// Whether a stop was asked for.
    pub stop: Arc<AtomicBool>,
}

impl Trainer<'_> {
    /// Trains all parts of a cross-fit under `folder`, those that are finished there left out.
    /// Nothing when a stop was asked for; the same call goes on from there.
    pub fn held_out(
        &self,
        fit: &CrossFit<'_>,
        config: &RunConfig,
        name: &str,
        folder: &Path,
    ) -> Result<Option<HeldOut>> {
        let mut all: Option<HeldOut> = None;
        for part in 0..fit.parts() {
            let title = format!("{name} {}/{}", part + 1, fit.parts());
            let mut progress = Progress::new(&title, self.printer.quiet, Arc::clone(&self.stop));
            let answered = fit.train(part, config, folder, self.device, &mut progress);
            progress.finish();
            let answered = answered.with_context(|| {
                format!(
                    "{name} could not be trained without the labels of {}",
                    fit.name(part)
                )
            })?;
            let Some(answered) = answered else {
                return Ok(None);
            };
            match &mut all {
                Some(all) => all.extend(answered),
                None => all = Some(answered),
            }
        }
        Ok(all)
    }
}
