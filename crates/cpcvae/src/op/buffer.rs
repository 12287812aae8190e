//! Memory that goes round: large buffers of a step serve again in the next one.
//!
//! A step makes the same tensors as the step before. Asking the system for them each time costs
//! page faults and clearing, and a good part of a step. So the fused operations take their outputs
//! from here, and give back what they have used up.

use super::cpu::tensor;
use burn_flex::FlexTensor;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Smaller buffers are left to the allocator.
const SMALLEST: usize = 4 * 1024;

/// Buffers of one length that are kept at most: as many as the layers of one width in a deep
/// network have between two steps.
const MOST_OF_A_LENGTH: usize = 64;

/// Buffers nobody uses, by length.
static UNUSED: Mutex<BTreeMap<usize, Vec<Vec<f32>>>> = Mutex::new(BTreeMap::new());

/// A buffer for `length` numbers that will all be written before they are read: what is in it
/// is left over from somebody else.
pub fn take(length: usize) -> Vec<f32> {
    let found = lock().get_mut(&length).and_then(Vec::pop);
    found.unwrap_or_else(|| vec![0.0; length])
}

/// Takes the memory of a tensor that is no longer needed, if nobody else holds it.
pub fn give_back(used: FlexTensor) {
    let is_whole = used.is_contiguous() && used.bytes().len() == 4 * used.layout().num_elements();
    if used.is_unique()
        && is_whole
        && let Ok(values) = used.into_data().try_into_vec::<f32>()
    {
        keep(values);
    }
}

/// Keeps a buffer for the next one who needs that length.
pub fn keep(values: Vec<f32>) {
    if values.len() >= SMALLEST {
        let mut unused = lock();
        let same = unused.entry(values.len()).or_default();
        if same.len() < MOST_OF_A_LENGTH {
            same.push(values);
        }
    }
}

/// Frees all buffers: after training, their sizes are of no use.
pub fn clear() {
    lock().clear();
}

/// The tensor's own memory where nobody else holds it, else a copy.
pub fn into_values(used: FlexTensor) -> Vec<f32> {
    match used.into_data().try_into_vec() {
        Ok(values) => values,
        Err(_) => unreachable!("fused operations compute in f32"),
    }
}

/// A tensor of this shape, filled by `write`, which must write every number.
pub fn filled(shape: &[usize], write: impl FnOnce(&mut [f32])) -> FlexTensor {
    let mut values = take(shape.iter().product());
    write(&mut values);
    tensor(values, shape)
}

fn lock() -> std::sync::MutexGuard<'static, BTreeMap<usize, Vec<Vec<f32>>>> {
    UNUSED
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_given_back_is_taken_again() {
        let first = filled(&[3, 5000], |values| values.fill(1.0));
        let place = first.as_slice::<f32>().unwrap().as_ptr();
        give_back(first);
        let again = take(15_000);
        assert_eq!(again.as_ptr(), place);
        assert_eq!(again.len(), 15_000);
    }

    #[test]
    fn memory_that_somebody_holds_stays_his() {
        let held = filled(&[7001], |values| values.fill(2.0));
        give_back(held.clone());
        let mut other = take(7001);
        other.fill(3.0);
        assert!(held.as_slice::<f32>().unwrap().iter().all(|v| *v == 2.0));
    }
}
