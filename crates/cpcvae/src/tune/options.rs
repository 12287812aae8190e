//! Options of a search.

use super::{Pruner, Result, Sampler};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The default number of trials.
const TRIALS: usize = 50;

/// An external sampler: gets the folder of the search, writes a trial into its journal, and returns
/// its number.
pub type ExternalSampler<'a> = &'a (dyn Fn(&Path) -> Result<usize> + Sync);

/// What chooses the settings of trials.
#[derive(Clone, Copy)]
pub enum Ask<'a> {
    /// A built-in sampler.
    Sampler(Sampler),
    /// An external one, such as Optuna.
    Other(ExternalSampler<'a>),
}

/// Options of a search. All but the space and the folder may differ between workers.
#[derive(Clone)]
pub struct TuneOptions<'a> {
    /// The folder of the search.
    pub folder: PathBuf,
    /// Trials in total, including those of other workers and failed ones.
    pub trials: usize,
    /// No trial is started after this time.
    pub time: Option<Duration>,
    /// Trials in parallel, each with its share of the threads.
    pub jobs: usize,
    /// The search space, as the text of a file and its name; the method's own space by default.
    pub space: Option<(String, String)>,
    /// What chooses the settings of trials.
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
