//! A pool of large buffers that are reused in the next step.
//!
//! Each step makes tensors of the same sizes. Allocating them anew costs page faults and clearing,
//! a good part of a step's time. So the fused operations take their outputs from a pool, and return
//! buffers that they no longer need.

use super::cpu::tensor;
use burn_flex::FlexTensor;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

/// Smaller buffers are left to the allocator.
const SMALLEST: usize = 4 * 1024;

/// The most buffers of one length that are kept: as many as the layers of one width in a deep
/// network hold between two steps.
const MOST_OF_A_LENGTH: usize = 64;

/// Unused buffers, by length.
#[derive(Debug, Default)]
pub(super) struct Buffers(Mutex<BTreeMap<usize, Vec<Vec<f32>>>>);

impl Buffers {
    /// A buffer for `length` numbers with unspecified content; all must be written before they are
    /// read.
    pub(super) fn take(&self, length: usize) -> Vec<f32> {
        let found = self.lock().get_mut(&length).and_then(Vec::pop);
        found.unwrap_or_else(|| vec![0.0; length])
    }

    /// Returns the buffer of a tensor to the pool, if it has no other handle.
    pub(super) fn give_back(&self, used: FlexTensor) {
        let is_whole =
            used.is_contiguous() && used.bytes().len() == 4 * used.layout().num_elements();
        if used.is_unique()
            && is_whole
            && let Ok(values) = used.into_data().try_into_vec::<f32>()
            && values.len() >= SMALLEST
        {
            let mut unused = self.lock();
            let same = unused.entry(values.len()).or_default();
            if same.len() < MOST_OF_A_LENGTH {
                same.push(values);
            }
        }
    }

    /// A tensor of this shape, filled by `write`, which must write every number.
    pub(super) fn filled(&self, shape: &[usize], write: impl FnOnce(&mut [f32])) -> FlexTensor {
        let mut values = self.take(shape.iter().product());
        write(&mut values);
        tensor(values, shape)
    }

    /// Frees all of them.
    pub(super) fn clear(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<usize, Vec<Vec<f32>>>> {
        self.0
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// The tensor's own memory if it has no other handle, else a copy.
pub(super) fn into_values(used: FlexTensor) -> Vec<f32> {
    match used.into_data().try_into_vec() {
        Ok(values) => values,
        Err(_) => unreachable!("fused operations compute in f32"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_given_back_is_taken_again() {
        let buffers = Buffers::default();
        let first = buffers.filled(&[3, 5000], |values| values.fill(1.0));
        let place = first.as_slice::<f32>().unwrap().as_ptr();
        buffers.give_back(first);
        // Another pool has its own memory.
        let other = Buffers::default().take(15_000);
        assert_ne!(other.as_ptr(), place);
        let again = buffers.take(15_000);
        assert_eq!(again.as_ptr(), place);
        assert_eq!(again.len(), 15_000);
    }

    #[test]
    fn memory_with_another_handle_is_not_used_again() {
        let buffers = Buffers::default();
        let held = buffers.filled(&[7001], |values| values.fill(2.0));
        buffers.give_back(held.clone());
        buffers.take(7001).fill(3.0);
        assert!(held.as_slice::<f32>().unwrap().iter().all(|v| *v == 2.0));
    }
}
