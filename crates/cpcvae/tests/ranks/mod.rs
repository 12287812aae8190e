//! Ranks that are threads of one process, each with a pool of one thread as a process has its own.

use cpcvae::train::Communicator;
use cpcvae::{Error, Result};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

/// One of the ranks. What is sent to a rank that has gone is an error.
#[derive(Debug)]
pub struct Thread {
    rank: usize,
    /// By rank; a rank's line to itself is not used.
    to: Vec<Sender<Vec<u8>>>,
    from: Vec<Mutex<Receiver<Vec<u8>>>>,
}

impl Thread {
    fn send(&self, to: usize, bytes: &[u8]) -> Result<()> {
        let sent = self.to[to].send(bytes.to_vec());
        sent.map_err(|_| Error::Mismatch(format!("rank {to} has gone")))
    }

    fn receive(&self, from: usize) -> Result<Vec<u8>> {
        let line = self.from[from].lock().expect("one thread alone has it");
        let received = line.recv();
        received.map_err(|_| Error::Mismatch(format!("rank {from} has gone")))
    }
}

impl Communicator for Thread {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.to.len()
    }

    fn swap(&self, with: usize, out: &[u8], into: &mut [u8]) -> Result<()> {
        self.send(with, out)?;
        let received = self.receive(with)?;
        assert_eq!(received.len(), into.len(), "either side knows both lengths");
        into.copy_from_slice(&received);
        Ok(())
    }

    fn broadcast(&self, bytes: &mut Vec<u8>) -> Result<()> {
        match self.rank {
            0 => (1..self.size()).try_for_each(|rank| self.send(rank, bytes)),
            _ => {
                *bytes = self.receive(0)?;
                Ok(())
            }
        }
    }
}

fn threads(size: usize) -> Vec<Thread> {
    let mut to: Vec<Vec<_>> = (0..size).map(|_| Vec::new()).collect();
    let mut from: Vec<Vec<_>> = (0..size).map(|_| Vec::new()).collect();
    for sender in &mut to {
        for receiver in &mut from {
            let (sending, receiving) = channel();
            sender.push(sending);
            receiver.push(Mutex::new(receiving));
        }
    }
    let lines = to.into_iter().zip(from).enumerate();
    lines
        .map(|(rank, (to, from))| Thread { rank, to, from })
        .collect()
}

/// What each of `size` ranks makes of `work`, in their order.
pub fn on_ranks<T: Send>(size: usize, work: impl Fn(Arc<Thread>) -> T + Sync) -> Vec<T> {
    let work = &work;
    std::thread::scope(|scope| {
        let spawned: Vec<_> = threads(size)
            .into_iter()
            .map(|rank| {
                scope.spawn(move || {
                    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
                    pool.expect("a pool").install(|| work(Arc::new(rank)))
                })
            })
            .collect();
        let ended = spawned.into_iter().map(|thread| thread.join());
        ended.map(|made| made.expect("no panic")).collect()
    })
}
