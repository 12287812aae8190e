//! Batches gathered while the previous step computes.

use crate::{Batch, BatchPlan, DataError, Dataset, Result};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::{self, JoinHandle};

/// The most batches in the queue.
const DEPTH: usize = 4;

/// An endless iterator of batches, or of the plan's shards of them, gathered by a thread of its own.
///
/// The thread ends when this is dropped.
#[derive(Debug)]
pub struct Prefetch {
    // An `Option` so that `drop` can close the queue before it joins the thread.
    batches: Option<Receiver<Batch>>,
    worker: Option<JoinHandle<()>>,
}

impl Prefetch {
    /// Checks all rows of the plan once and starts gathering at `first_step`.
    pub fn start(data: Arc<Dataset>, plan: BatchPlan, first_step: u64) -> Result<Prefetch> {
        plan.check(&data)?;
        let (sender, batches) = sync_channel(DEPTH);
        let gather_all = move || {
            for step in first_step.. {
                for shard in plan.own_shards() {
                    if sender.send(plan.batch(&data, step, shard)).is_err() {
                        return; // nobody listens any more
                    }
                }
            }
        };
        let worker = thread::Builder::new()
            .name("batches".into())
            .spawn(gather_all)
            .map_err(|error| DataError::Batch(format!("no thread could be started: {error}")))?;
        Ok(Prefetch {
            batches: Some(batches),
            worker: Some(worker),
        })
    }
}

impl Iterator for Prefetch {
    type Item = Batch;

    fn next(&mut self) -> Option<Batch> {
        self.batches.as_ref()?.recv().ok()
    }
}

impl Drop for Prefetch {
    fn drop(&mut self) {
        // Closing the queue wakes a worker that waits for space in it.
        drop(self.batches.take());
        if let Some(worker) = self.worker.take() {
            let _ = worker.join();
        }
    }
}
