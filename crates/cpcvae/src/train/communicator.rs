//! Communication between processes (ranks) that train one model together.

use crate::error::{Error, Result};
use std::fmt;

/// The ranks of a training, from the view of one of them. All ranks call the same functions in the
/// same order.
///
/// ```
/// use cpcvae::train::{Alone, Communicator};
///
/// let mut bytes = vec![1, 2];
/// Alone.broadcast(&mut bytes)?;
/// assert_eq!((Alone.rank(), Alone.size(), bytes), (0, 1, vec![1, 2]));
/// # Ok::<(), cpcvae::Error>(())
/// ```
pub trait Communicator: fmt::Debug + Send + Sync {
    /// The number of this rank, from 0. Only rank 0 writes files.
    fn rank(&self) -> usize;

    /// The number of ranks.
    fn size(&self) -> usize;

    /// Sends `out` to the rank `with` and receives `into` from it. Both sides know both lengths.
    fn swap(&self, with: usize, out: &[u8], into: &mut [u8]) -> Result<()>;

    /// Sends the bytes of rank 0 to all ranks.
    fn broadcast(&self, bytes: &mut Vec<u8>) -> Result<()>;
}

/// A single process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alone;

impl Communicator for Alone {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        1
    }

    fn swap(&self, with: usize, _: &[u8], _: &mut [u8]) -> Result<()> {
        let problem = format!("there is no rank {with}, only one process");
        Err(Error::Mismatch(problem))
    }

    fn broadcast(&self, _: &mut Vec<u8>) -> Result<()> {
        Ok(())
    }
}

/// Sums the `values` of all ranks; each rank gets the sums.
///
/// Neighbours add first, then pairs, then groups of four: if each rank has the sum of an aligned
/// half, quarter and so on of the terms, the result is that of one process which adds in the order of
/// a binary tree. Each round halves the part that a rank continues with (recursive halving), and the
/// sums are distributed in reverse order: a rank sends at most twice the size of `values`. `received`
/// is a buffer that is reused.
pub(super) fn sum(
    ranks: &dyn Communicator,
    values: &mut [f32],
    received: &mut Vec<f32>,
) -> Result<()> {
    received.resize(values.len().div_ceil(2), 0.0);
    let mut own = 0..values.len();
    let mut rounds = Vec::new();
    for distance in distances(ranks) {
        let middle = own.start + own.len() / 2;
        let (lower, upper) = (own.start..middle, middle..own.end);
        let is_lower = ranks.rank() & distance == 0;
        let (kept, given) = match is_lower {
            true => (lower, upper),
            false => (upper, lower),
        };
        let received = &mut received[..kept.len()];
        let with = ranks.rank() ^ distance;
        ranks.swap(with, bytes(&values[given]), bytes_mut(received))?;
        for (value, other) in values[kept.clone()].iter_mut().zip(received) {
            *value += *other; // addition is commutative
        }
        rounds.push((with, own, middle, is_lower));
        own = kept;
    }
    for (with, whole, middle, is_lower) in rounds.into_iter().rev() {
        let (lower, upper) = values[whole.clone()].split_at_mut(middle - whole.start);
        let (out, into) = match is_lower {
            true => (lower, upper),
            false => (upper, lower),
        };
        ranks.swap(with, bytes(out), bytes_mut(into))?;
    }
    Ok(())
}

/// Fails if the checksums of `what` differ between ranks.
pub(crate) fn agree(ranks: &dyn Communicator, what: &str, checksum: u32) -> Result<()> {
    for distance in distances(ranks) {
        let with = ranks.rank() ^ distance;
        let mut other = [0; 4];
        ranks.swap(with, &checksum.to_le_bytes(), &mut other)?;
        if other != checksum.to_le_bytes() {
            return Err(Error::Mismatch(format!(
                "ranks {} and {with} have different {what}: all ranks need the same program, data and \
                 kind of processor (`CPCVAE_ISA` selects the same instructions)",
                ranks.rank()
            )));
        }
    }
    Ok(())
}

/// The distance to the partner in each round.
fn distances(ranks: &dyn Communicator) -> impl Iterator<Item = usize> {
    let size = ranks.size();
    (0..).map(|round| 1 << round).take_while(move |d| *d < size)
}

fn bytes(values: &[f32]) -> &[u8] {
    bytemuck::cast_slice(values)
}

fn bytes_mut(values: &mut [f32]) -> &mut [u8] {
    bytemuck::cast_slice_mut(values)
}
