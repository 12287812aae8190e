//! Cross-fits of the command line: all their trainings, with progress.

use crate::printer::Printer;
use crate::progress::Progress;
use anyhow::{Context, Result};
use cpcvae::config::RunConfig;
use cpcvae::crossfit::{CrossFit, HeldOut};
use cpcvae::device::Device;
use cpcvae::parallel_runs::parallel_runs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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
        // Of trainings beside each other, one shows how far it is.
        let is_shown = AtomicBool::new(false);
        let parts = parallel_runs(fit.parts(), fit.at_once(self.device), |part| {
            let title = format!("{name} {}/{}", part + 1, fit.parts());
            let is_first = !is_shown.swap(true, Ordering::SeqCst);
            let quiet = self.printer.quiet || !is_first;
            let mut progress = Progress::new(&title, quiet, Arc::clone(&self.stop));
            let answered = fit.train(part, config, folder, self.device, &mut progress);
            progress.finish();
            if is_first {
                is_shown.store(false, Ordering::SeqCst);
            }
            answered.with_context(|| {
                format!(
                    "{name} could not be trained without the labels of {}",
                    fit.name(part)
                )
            })
        })?;
        Ok(parts.and_then(|parts| {
            parts.into_iter().reduce(|mut all, part| {
                all.extend(part);
                all
            })
        }))
    }
}
