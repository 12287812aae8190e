//! The final estimate: the settings found and the defaults are each trained once more and evaluated
//! on rows that the search never saw.

use super::{Error, Result, Tuning, Unseen};
use crate::config::RunConfig;
use crate::infer::Evaluation;
use crate::infer::quality::{Estimate as Share, share};
use crate::run::{RunFolder, RunReport, run};
use crate::train::{StopReason, TrainingInfo, Watch};
use cpcvae_data::{Source, Split};
use cpcvae_search::Trial;

/// Figures on rows that no trial has seen.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// With the settings that were found.
    pub found: Evaluation,
    /// With the default settings.
    pub defaults: Evaluation,
}

impl Estimate {
    /// Accuracies with their intervals: found, defaults. `None` if labels are not classes.
    pub fn accuracies(&self) -> Option<(Share, Share)> {
        let of = |evaluation: &Evaluation| share(evaluation.accuracy?, evaluation.labelled);
        Some((of(&self.found)?, of(&self.defaults)?))
    }
}

impl Tuning {
    /// `None` if there are no such rows, or a stop was asked for.
    pub(super) fn estimate(&self, best: &Trial, watch: &dyn Watch) -> Result<Option<Estimate>> {
        if matches!(self.unseen, Unseen::Nothing(_)) {
            return Ok(None);
        }
        let found = self.settings_of(best)?;
        let name = format!("trial-{:04}", best.number);
        let Some(found) = self.measure(&name, &found, watch)? else {
            return Ok(None);
        };
        let defaults = self.measure("defaults", &self.base, watch)?;
        Ok(defaults.map(|defaults| Estimate { found, defaults }))
    }

    /// Trains in `final/NAME`, unless that is done, and evaluates on the rows that were set aside.
    fn measure(
        &self,
        name: &str,
        config: &RunConfig,
        watch: &dyn Watch,
    ) -> Result<Option<Evaluation>> {
        let folder = RunFolder::at(self.folder.join("final").join(name));
        let report: RunReport = match folder.is_finished() {
            true => folder.read_report()?,
            false => {
                let mut observer = watch.training(&TrainingInfo {
                    name: format!("final {name}"),
                    part: 0,
                    parts: 1,
                });
                let source = self.with_unseen(config)?;
                let observer = observer.as_mut();
                let run = run(config, source, Some(&folder), &self.device, observer)?;
                if run.report.fit.stop == StopReason::Interrupted {
                    return Ok(None);
                }
                run.report
            }
        };
        match report.test {
            Some(test) => Ok(Some(test)),
            None => Err(Error::file(folder.path(), "has no figures on test rows")),
        }
    }

    /// The rows of the search, with the unseen rows as test rows.
    fn with_unseen(&self, config: &RunConfig) -> Result<Source> {
        let test = match &self.unseen {
            Unseen::Fold(rows) => rows.clone(),
            Unseen::Test if self.source.test.is_none() => self.own_test(config)?,
            _ => Vec::new(),
        };
        Ok(Source {
            rows: self.source.rows.clone(),
            test: self.source.test.clone(),
            split: Some(Split {
                test,
                ..self.split.clone()
            }),
        })
    }

    /// The test rows of the original split.
    fn own_test(&self, config: &RunConfig) -> Result<Vec<u32>> {
        let prepared = crate::prepare::Prepared::new(self.source.clone(), config, None)?;
        Ok(prepared.training.split.test)
    }
}
