//! One training by several processes: rank 0 runs it and says what is to be trained, the others take
//! part.

use super::RunFolder;
use super::fingerprint::Fingerprint;
use crate::config::RunConfig;
use crate::error::{Error, Result};
use crate::plan::train_plan;
use crate::prepare::Prepared;
use crate::train::{self, Communicator, Observer, TrainPlan, agree};
use burn::tensor::Device;
use cpcvae_data::{Dataset, Source, Split};
use serde::{Deserialize, Serialize};

/// What the other ranks need to know of a training.
#[derive(Serialize, Deserialize)]
struct Job {
    config: RunConfig,
    split: Split,
    /// Whether there is a checkpoint to go on from, which is sent next.
    goes_on: bool,
}

/// Tells the other ranks of a training that is about to begin, or to go on, on rank 0.
pub(super) fn announce(
    ranks: &dyn Communicator,
    config: &RunConfig,
    plan: &TrainPlan,
    split: &Split,
    rows: &Dataset,
    folder: Option<&RunFolder>,
) -> Result<()> {
    if ranks.size() == 1 {
        return Ok(());
    }
    // They hear of nothing that cannot be.
    train::check_ranks(plan, ranks)?;
    let path = folder.map(RunFolder::last_checkpoint_path);
    let checkpoint = match path.filter(|path| path.exists()) {
        Some(path) => Some(std::fs::read(&path).map_err(|error| Error::file(&path, error))?),
        None => None,
    };
    let job = Job {
        config: config.clone(),
        split: split.clone(),
        goes_on: checkpoint.is_some(),
    };
    let mut bytes = serde_json::to_vec(&job).expect("plain values serialise");
    ranks.broadcast(&mut bytes)?;
    if let Some(mut checkpoint) = checkpoint {
        ranks.broadcast(&mut checkpoint)?;
    }
    check_rows(ranks, rows)
}

/// Lets the other ranks go: rank 0 has nothing more to train.
pub fn dismiss(ranks: &dyn Communicator) -> Result<()> {
    ranks.broadcast(&mut Vec::new())
}

/// Takes part in the trainings of rank 0 until it has no more. `open` opens the data, as the settings
/// say; it is asked once. Nothing is written.
pub fn assist(
    ranks: &dyn Communicator,
    device: &Device,
    open: impl Fn(&RunConfig) -> Result<Source>,
    observer: &mut dyn Observer,
) -> Result<()> {
    let mut opened = None;
    loop {
        let mut bytes = Vec::new();
        ranks.broadcast(&mut bytes)?;
        if bytes.is_empty() {
            return Ok(());
        }
        let job: Job = serde_json::from_slice(&bytes)
            .map_err(|error| Error::Mismatch(format!("rank 0 is another program: {error}")))?;
        let mut checkpoint = Vec::new();
        if job.goes_on {
            ranks.broadcast(&mut checkpoint)?;
        }
        let rows: &Dataset = match &mut opened {
            Some(rows) => rows,
            none => none.insert(open(&job.config)?.rows),
        };
        check_rows(ranks, rows)?;
        let source = Source {
            rows: rows.clone(),
            test: None,
            split: Some(job.split),
        };
        let prepared = Prepared::new(source, &job.config, None)?;
        let plan = train_plan(&job.config, &prepared)?;
        let checkpoint = job.goes_on.then_some(checkpoint);
        let data = &prepared.training;
        train::assist(ranks, &plan, data, checkpoint, device, observer)?;
    }
}

/// All ranks learn from the same rows.
fn check_rows(ranks: &dyn Communicator, rows: &Dataset) -> Result<()> {
    let sums = serde_json::to_vec(&Fingerprint::of(rows)).expect("plain numbers serialise");
    agree(ranks, "rows", crc32fast::hash(&sums))
}
