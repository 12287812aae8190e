//! The processes that `mpirun` started, as ranks of one training.

#[cfg(feature = "mpi")]
mod mpi;

use crate::exit::ExitCode;
use crate::{printer, with_causes};
use anyhow::{Result, bail};
use cpcvae::train::{Alone, Communicator};
use std::sync::Arc;

/// Environment variables with the number of processes: of Open MPI, and of MPICH and Slurm.
const SIZES: [&str; 2] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"];

/// This process and the others of the same launch.
pub(crate) struct Ranks {
    communicator: Arc<dyn Communicator>,
    is_launched: bool,
    #[cfg(feature = "mpi")]
    mpi: Option<mpi::Mpi>,
}

impl Ranks {
    /// Connects to the other processes, if any. To be called once per process.
    pub(crate) fn join() -> Result<Self> {
        let sizes = SIZES.iter().filter_map(|name| std::env::var(name).ok());
        let size = sizes.filter_map(|size| size.parse().ok()).next();
        match size {
            Some(size) => Self::launched(size),
            None => Ok(Self::alone(false)),
        }
    }

    fn alone(is_launched: bool) -> Self {
        Self {
            communicator: Arc::new(Alone),
            is_launched,
            #[cfg(feature = "mpi")]
            mpi: None,
        }
    }

    #[cfg(feature = "mpi")]
    fn launched(_: usize) -> Result<Self> {
        let mpi = mpi::Mpi::start()?;
        Ok(Self {
            communicator: mpi.communicator(),
            is_launched: true,
            mpi: Some(mpi),
        })
    }

    #[cfg(not(feature = "mpi"))]
    fn launched(size: usize) -> Result<Self> {
        if size > 1 {
            bail!(
                "a launcher started {size} processes, but this build of cpcvae has no MPI: build it \
                 with `cargo build --release --features mpi`, or start one process"
            );
        }
        Ok(Self::alone(true))
    }

    /// The interface for the library.
    pub(crate) fn communicator(&self) -> Arc<dyn Communicator> {
        Arc::clone(&self.communicator)
    }

    /// Whether this is rank 0.
    pub(crate) fn leads(&self) -> bool {
        self.communicator.rank() == 0
    }

    /// The number of processes, if a launcher started them.
    pub(crate) fn count(&self) -> Option<usize> {
        self.is_launched.then(|| self.communicator.size())
    }

    /// What rank 0 has sent so far, as a sentence.
    pub(crate) fn sent(&self) -> Option<String> {
        #[cfg(feature = "mpi")]
        if let Some(mpi) = self.mpi.as_ref().filter(|_| self.communicator.size() > 1) {
            return Some(mpi.sent());
        }
        None
    }

    /// Only one process could read standard input.
    pub(crate) fn check_source(&self, source: &str) -> Result<()> {
        if source == "-" && self.communicator.size() > 1 {
            bail!("several processes cannot read standard input; name a file");
        }
        Ok(())
    }

    /// Ends this process's part. If it failed, all processes are ended, so that none waits for it.
    pub(crate) fn leave(self, result: Result<ExitCode>) -> Result<ExitCode> {
        if let (Err(error), true) = (&result, self.communicator.size() > 1) {
            let rank = self.communicator.rank();
            printer::say(format!("rank {rank}: {}", with_causes(error).trim_end()));
            #[cfg(feature = "mpi")]
            mpi::abort();
        }
        result
    }
}
