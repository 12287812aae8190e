//! Ranks connected by MPI. One thread at a time sends messages, not necessarily the main thread.

use anyhow::{Result, bail};
use cpcvae::train::Communicator;
use mpi::environment::Universe;
use mpi::point_to_point::send_receive_into;
use mpi::topology::{Communicator as _, SimpleCommunicator};
use mpi::traits::Root;
use mpi::{Rank, Threading};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Counts of MPI have 31 bits.
const MOST_BYTES: usize = 1 << 30;

/// MPI, which is finalized when this is dropped.
pub(super) struct Mpi {
    // Dropped before the universe: after a panic, finalizing would wait for ranks that wait for this one.
    _guard: Guard,
    _universe: Universe,
    communicator: Arc<World>,
}

impl Mpi {
    pub(super) fn start() -> Result<Self> {
        let Some((universe, threading)) = mpi::initialize_with_threading(Threading::Serialized)
        else {
            bail!("MPI was started in this process before");
        };
        if threading < Threading::Serialized {
            bail!(
                "this MPI library allows calls from the main thread only; use one with MPI_THREAD_SERIALIZED"
            );
        }
        let world = universe.world();
        let communicator = World {
            rank: world.rank() as usize,
            size: world.size() as usize,
            bytes: AtomicU64::new(0),
            messages: AtomicU64::new(0),
            nanoseconds: AtomicU64::new(0),
        };
        Ok(Self {
            _guard: Guard,
            _universe: universe,
            communicator: Arc::new(communicator),
        })
    }

    pub(super) fn communicator(&self) -> Arc<dyn Communicator> {
        self.communicator.clone()
    }

    /// What this rank has sent, as a sentence.
    pub(super) fn sent(&self) -> String {
        let World {
            size,
            bytes,
            messages,
            nanoseconds,
            ..
        } = &*self.communicator;
        let get = |count: &AtomicU64| count.load(Ordering::Relaxed);
        format!(
            "{size} ranks: this one sent {} bytes in {} messages, which took {:.3} s",
            get(bytes),
            get(messages),
            Duration::from_nanos(get(nanoseconds)).as_secs_f64()
        )
    }
}

/// Ends all ranks.
pub(super) fn abort() -> ! {
    SimpleCommunicator::world().abort(1)
}

struct Guard;

impl Drop for Guard {
    fn drop(&mut self) {
        if std::thread::panicking() {
            abort();
        }
    }
}

/// All processes of the launch. MPI's handle cannot be sent to other threads, so each call gets a new
/// one, which costs nothing.
#[derive(Debug)]
struct World {
    rank: usize,
    size: usize,
    bytes: AtomicU64,
    messages: AtomicU64,
    nanoseconds: AtomicU64,
}

impl World {
    fn note(&self, bytes: usize, begin: Instant) {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        self.messages.fetch_add(1, Ordering::Relaxed);
        let nanoseconds = begin.elapsed().as_nanos() as u64;
        self.nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
    }
}

impl Communicator for World {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn swap(&self, with: usize, out: &[u8], into: &mut [u8]) -> cpcvae::Result<()> {
        let begin = Instant::now();
        let world = SimpleCommunicator::world();
        let other = world.process_at_rank(with as Rank);
        let (mut out_left, mut into_left) = (out, into);
        while !(out_left.is_empty() && into_left.is_empty()) {
            let (now, later) = out_left.split_at(out_left.len().min(MOST_BYTES));
            let most = into_left.len().min(MOST_BYTES);
            let (space, rest) = into_left.split_at_mut(most);
            send_receive_into(now, &other, space, &other);
            (out_left, into_left) = (later, rest);
        }
        self.note(out.len(), begin);
        Ok(())
    }

    fn broadcast(&self, bytes: &mut Vec<u8>) -> cpcvae::Result<()> {
        let begin = Instant::now();
        let world = SimpleCommunicator::world();
        let root = world.process_at_rank(0);
        let mut length = bytes.len() as u64;
        root.broadcast_into(&mut length);
        bytes.resize(length as usize, 0);
        for part in bytes.chunks_mut(MOST_BYTES) {
            root.broadcast_into(part);
        }
        let sent = if self.rank == 0 { bytes.len() } else { 0 };
        self.note(sent, begin);
        Ok(())
    }
}
