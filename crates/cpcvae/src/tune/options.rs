//! How a search is done.

use super::{Pruner, Result, Sampler};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Trials where nothing is said.
const TRIALS: usize = 50;

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
