//! Running a search: which trial is next, and its result.

use super::claim::Claim;
use super::{
    Ask, Error, ExternalSampler, Result, Sampler, Trial, TrialState, TuneOptions, Tuning, spaces,
};
use crate::parallel_runs::parallel_runs;
use crate::train::Watch;
use cpcvae_search::{Limits, Outcome};
use std::collections::BTreeMap;
use std::time::Instant;

/// The search gives up if this many trials fail from the first on.
const FAILURES: usize = 3;

impl Tuning {
    /// Works until there are enough trials, or the time is over. Returns whether it finished;
    /// otherwise a stop was asked for, and the same call continues.
    pub fn search(&self, options: &TuneOptions<'_>, watch: &dyn Watch) -> Result<bool> {
        let limits = Limits {
            trials: options.trials,
            until: options.time.map(|time| Instant::now() + time),
        };
        // Each item is a trial; there are no more of them than trials.
        let pieces = options.trials.max(1);
        let ended = parallel_runs(pieces, options.jobs, |_| {
            match self.next(options, &limits)? {
                None => Ok(Some(())),
                Some((trial, _claim)) => self.work(&trial, watch),
            }
        })?;
        Ok(ended.is_some())
    }

    /// Works on one trial: that of a number, which is in the journal already, or the next one.
    /// `None` if there is none left, or a stop was asked for.
    pub fn one_trial(
        &self,
        number: Option<usize>,
        options: &TuneOptions<'_>,
        watch: &dyn Watch,
    ) -> Result<Option<Trial>> {
        let limits = Limits {
            trials: options.trials,
            until: None,
        };
        let next = match number {
            None => self.next(options, &limits)?,
            Some(number) => {
                self.study().read()?;
                let trial = self.study().trial(number)?;
                if trial.state.is_finished() {
                    return Ok(Some(trial));
                }
                let Some(claim) = Claim::of(&self.folder, number)? else {
                    let problem = format!("another worker has trial {number} already");
                    return Err(Error::file(&self.folder, problem));
                };
                Some((trial, claim))
            }
        };
        let Some((trial, _claim)) = next else {
            return Ok(None);
        };
        match self.work(&trial, watch)? {
            None => Ok(None),
            Some(()) => Ok(Some(self.study().trial(trial.number)?)),
        }
    }

    /// An unfinished trial of a killed worker, otherwise a new one; `None` if there are enough.
    fn next(&self, options: &TuneOptions<'_>, limits: &Limits) -> Result<Option<(Trial, Claim)>> {
        self.study().read()?;
        let running =
            |trial: &Trial| trial.state == TrialState::Running && !trial.params.is_empty();
        let left: Vec<usize> = self
            .study()
            .trials()
            .iter()
            .filter(|trial| running(trial))
            .map(|trial| trial.number)
            .collect();
        for number in left {
            if let Some(claim) = Claim::of(&self.folder, number)? {
                // Its worker may have finished it just before releasing the lock.
                self.study().read()?;
                let trial = self.study().trial(number)?;
                if running(&trial) {
                    return Ok(Some((trial, claim)));
                }
            }
        }
        match options.ask {
            Ask::Sampler(sampler) => self.ask(sampler, limits),
            Ask::Other(asker) => self.ask_other(asker, limits),
        }
    }

    /// The first trial has the default settings, as far as they are in the space.
    fn ask(&self, sampler: Sampler, limits: &Limits) -> Result<Option<(Trial, Claim)>> {
        let mut claim = Ok(None);
        let trial = self
            .study()
            .ask(&self.space, sampler, self.base.seed, limits, |number| {
                // Claimed before other workers can see it.
                claim = Claim::of(&self.folder, number);
                (number == 0).then(|| self.defaults())
            })?;
        Ok(trial.zip(claim?))
    }

    fn defaults(&self) -> BTreeMap<String, f64> {
        let (params, _) = self.space.trial_of(&|key| spaces::setting(&self.base, key));
        params
    }

    fn ask_other(
        &self,
        asker: ExternalSampler<'_>,
        limits: &Limits,
    ) -> Result<Option<(Trial, Claim)>> {
        let _alone = Claim::to_ask(&self.folder)?;
        self.study().read()?;
        let count = self.study().trials().len();
        let is_late = limits.until.is_some_and(|until| Instant::now() >= until);
        if count >= limits.trials || is_late {
            return Ok(None);
        }
        if count == 0 {
            return self.ask(Sampler::Random, limits);
        }
        let number = asker(&self.folder)?;
        self.study().read()?;
        let trial = self.study().trial(number)?;
        Ok(Some(trial).zip(Claim::of(&self.folder, number)?))
    }

    /// Trains a trial and reports to the study. `None` when a stop was asked for.
    fn work(&self, trial: &Trial, watch: &dyn Watch) -> Result<Option<()>> {
        let Some(outcome) = self.train(trial, watch)? else {
            return Ok(None);
        };
        let mut study = self.study();
        study.tell(trial.id, outcome.clone())?;
        let best = study.best();
        let trials = study.trials();
        drop(study);
        let value = |trial: &Trial| {
            trial
                .value
                .map_or("-".into(), |value| format!("{value:.4}"))
        };
        let ended = match &outcome {
            Outcome::Failed(problem) => format!("failed: {problem}"),
            Outcome::Pruned => "stopped early".into(),
            Outcome::Complete(value) => format!("{} {value:.4}", self.loss_name()),
        };
        let best = best.map_or(String::new(), |best| {
            format!(" (best {}, of trial {})", value(&best), best.number)
        });
        watch.note(&format!("trial {}: {ended}{best}", trial.number));
        let failed = |trial: &Trial| trial.state == TrialState::Failed;
        match outcome {
            Outcome::Failed(problem) if trials.len() >= FAILURES && trials.iter().all(failed) => {
                Err(Error::Mismatch(format!(
                    "the first {} trials all failed, the last with: {problem}",
                    trials.len()
                )))
            }
            _ => Ok(Some(())),
        }
    }
}
