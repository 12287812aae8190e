//! Searching settings: many trainings, each with other settings, judged by validation rows or by
//! labels that are held out; then an honest figure on rows that no trial has seen.
//!
//! The search is a folder: `journal.log`, a study that Optuna and its dashboard open; a run folder a
//! trial in `trials/`; `best.toml`, settings for `fit`. Whoever opens it works on it, as many as there
//! are, on any machine that sees the folder, and what a killed worker left behind is taken up.
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
mod spaces;
mod trial;

pub use cpcvae_search::{Pruner, Sampler, Space, Trial, TrialState};
pub use estimate::Estimate;
pub use found::Found;
pub use objective::{Objective, Unseen};

use crate::config::{Request, RunConfig};
use crate::crossfit::Folding;
use crate::device::Device;
use crate::error::{Error, Remedy, Result};
use crate::estimator::Estimator;
use crate::parallel_runs::parallel_runs;
use crate::train::Watch;
use claim::Claim;
use cpcvae_data::{Dataset, Source, Split, write_atomically};
use cpcvae_search::{Limits, Outcome, Study};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The study's name in its journal.
pub const STUDY: &str = "cpcvae";
/// Trials where nothing is said.
const TRIALS: usize = 50;
/// Trials that may fail one after the other from the first on, before the search gives up.
const FAILURES: usize = 3;

/// Somebody else who chooses what is tried: gets the folder of the search, writes a trial into its
/// journal, and gives its number.
pub type Asker<'a> = &'a (dyn Fn(&Path) -> Result<usize> + Sync);

/// Who chooses what is tried.
#[derive(Clone, Copy)]
pub enum Ask<'a> {
    /// A sampler of ours.
    Sampler(Sampler),
    /// Somebody else, such as Optuna.
    Other(Asker<'a>),
}

/// How a search is done. Of all but the space and the folder, each worker has his own.
#[derive(Clone)]
pub struct TuneOptions<'a> {
    /// The folder of the search.
    pub folder: PathBuf,
    /// Trials in all, those of other workers and those that failed among them.
    pub trials: usize,
    /// A time after which no trial begins.
    pub time: Option<Duration>,
    /// Trials beside each other, each with its share of the threads.
    pub jobs: usize,
    /// What is tried, as the text of a file and its name; the method's own space where nothing is
    /// said.
    pub space: Option<(String, String)>,
    /// Who chooses what is tried.
    pub ask: Ask<'a>,
    /// Which trials are stopped early.
    pub pruner: Pruner,
}

impl TuneOptions<'_> {
    /// Fifty trials, chosen by TPE, the worse half of them stopped early.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            trials: TRIALS,
            time: None,
            jobs: 1,
            space: None,
            ask: Ask::Sampler(Sampler::Tpe),
            pruner: Pruner::MEDIAN,
        }
    }
}

/// A search that was opened.
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
    /// Opens the search in the options' folder, or begins it. One that is there has to be the same
    /// in all that decides on a trial's value.
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

    /// What would be searched in these rows.
    pub fn space_for(
        estimator: &Estimator,
        rows: &Dataset,
        options: &TuneOptions<'_>,
    ) -> Result<Space> {
        let request = estimator.request();
        let base = request.settings_for(rows)?;
        spaces::space_of(options.space.as_ref(), &base, request)
    }

    /// What is searched, kept beside the journal and compared with what is there.
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
                let said = format!("{} by {}", self.loss_name(), self.judged_by());
                return Ok(self.study().set_attr("made smaller", json!(said))?);
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
                    "a search with other {key} was begun in this folder (see search.json there); go \
                     on with the same, or begin another one in another folder"
                ),
            )
            .with_remedy(Remedy::OtherFolder)),
        }
    }

    fn study(&self) -> MutexGuard<'_, Study> {
        self.study.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is made smaller.
    pub fn loss_name(&self) -> &'static str {
        objective::loss_name(&self.source.rows, &self.base)
    }

    /// What trials are judged by, in words.
    pub fn judged_by(&self) -> String {
        match self.objective {
            Objective::Validation { rows } => format!("{rows} validation rows"),
            Objective::CrossFit { rows, folds } => {
                format!("{rows} labels held out in {} folds", folds.min(rows))
            }
        }
    }

    /// What trials are judged by.
    pub fn objective(&self) -> Objective {
        self.objective
    }

    /// What no trial sees.
    pub fn unseen(&self) -> &Unseen {
        &self.unseen
    }

    /// What is tried.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// Works until there are enough trials, or it is late. Says whether it came to its end; otherwise
    /// a stop was asked for, and the same call goes on.
    pub fn search(&self, options: &TuneOptions<'_>, watch: &dyn Watch) -> Result<bool> {
        let limits = Limits {
            trials: options.trials,
            until: options.time.map(|time| Instant::now() + time),
        };
        // Each piece is a trial; there are no more of them than trials.
        let pieces = options.trials.max(1);
        let ended = parallel_runs(pieces, options.jobs, |_| {
            match self.next(options, &limits)? {
                None => Ok(Some(())),
                Some((trial, _claim)) => self.work(&trial, watch),
            }
        })?;
        Ok(ended.is_some())
    }

    /// Works on one trial: that of a number, which is in the journal already, or the next one. Nothing
    /// where there is none left, or a stop was asked for.
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
                    let problem = format!("somebody works on trial {number} already");
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

    /// A trial that a worker left behind, else a new one; nothing where there are enough.
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
                // He may have ended it just before he let go.
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

    /// The first trial is what would be done without a search, as far as the space has it.
    fn ask(&self, sampler: Sampler, limits: &Limits) -> Result<Option<(Trial, Claim)>> {
        let mut claim = Ok(None);
        let trial = self
            .study()
            .ask(&self.space, sampler, self.base.seed, limits, |number| {
                // Claimed before others can see it.
                claim = Claim::of(&self.folder, number);
                (number == 0).then(|| self.defaults())
            })?;
        Ok(trial.zip(claim?))
    }

    fn defaults(&self) -> std::collections::BTreeMap<String, f64> {
        let (params, _) = self.space.trial_of(&|key| spaces::setting(&self.base, key));
        params
    }

    fn ask_other(&self, asker: Asker<'_>, limits: &Limits) -> Result<Option<(Trial, Claim)>> {
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

    /// Trains a trial and tells the study. Nothing when a stop was asked for.
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
