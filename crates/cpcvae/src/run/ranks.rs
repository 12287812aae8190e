//! One training by several processes: rank 0 runs it and sends the settings, the others assist.

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

/// What rank 0 sends to the other ranks.
#[derive(Serialize, Deserialize)]
struct Job {
    config: RunConfig,
    split: Split,
    /// Whether training resumes from a checkpoint, which is sent next.
    goes_on: bool,
}

/// Sends a training that starts or resumes to the other ranks. Called on rank 0.
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
    // Nothing is sent if this number of ranks is not possible.
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

/// Ends [`assist`] on the other ranks: rank 0 has nothing more to train.
pub fn dismiss(ranks: &dyn Communicator) -> Result<()> {
    ranks.broadcast(&mut Vec::new())
}

/// Assists in the trainings of rank 0 until it has no more. `open` opens the data that the settings
/// name; it is called once. Nothing is written.
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

/// Fails if ranks have different rows.
fn check_rows(ranks: &dyn Communicator, rows: &Dataset) -> Result<()> {
    let sums = serde_json::to_vec(&Fingerprint::of(rows)).expect("plain numbers serialise");
    agree(ranks, "rows", crc32fast::hash(&sums))
}
