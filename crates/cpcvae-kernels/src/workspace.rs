//! The precision and scratch memory of matrix products and convolutions.

use crate::bf16::{PackedLeft, PackedRight};
use crate::conv::ConvScratch;
use crate::product::Precision;
use std::fmt;
use std::sync::{Mutex, MutexGuard};

/// The precision of large products, and scratch memory that is reused from call to call, since page
/// faults of new memory would cost more than the pass that writes it.
///
/// Results depend on the precision only. One workspace can be used by any number of threads.
pub struct Workspace {
    precision: Precision,
    /// Gradients before an activation.
    pub(crate) gradients: Scratch<Vec<f32>>,
    /// Factors rounded to bfloat16.
    pub(crate) rounded: Scratch<[Vec<f32>; 2]>,
    pub(crate) left: Scratch<PackedLeft>,
    pub(crate) right: Scratch<PackedRight>,
    pub(crate) conv: ConvScratch,
}

impl Workspace {
    /// With empty memory.
    pub fn new(precision: Precision) -> Self {
        Self {
            precision,
            gradients: Scratch::default(),
            rounded: Scratch::default(),
            left: Scratch::default(),
            right: Scratch::default(),
            conv: ConvScratch::default(),
        }
    }

    /// The precision of large products.
    pub fn precision(&self) -> Precision {
        self.precision
    }

    /// Frees the memory.
    pub fn clear(&self) {
        self.gradients.clear();
        self.rounded.clear();
        self.left.clear();
        self.right.clear();
        self.conv.clear();
    }
}

impl fmt::Debug for Workspace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workspace")
            .field("precision", &self.precision)
            .finish_non_exhaustive()
    }
}

/// Memory for each thread of a pool, and one for threads outside, so that a thread reuses memory
/// that is still in its cache.
#[derive(Debug)]
pub(crate) struct Scratch<T>(Mutex<Vec<Option<T>>>);

impl<T> Default for Scratch<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Default> Scratch<T> {
    /// Calls `work` with this thread's memory, which is taken out meanwhile: a nested call gets an
    /// empty one.
    pub(crate) fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        let place = rayon::current_thread_index().map_or(0, |index| index + 1);
        let kept = self.lock().get_mut(place).and_then(Option::take);
        let mut taken = kept.unwrap_or_default();
        let result = work(&mut taken);
        let mut all = self.lock();
        if all.len() <= place {
            all.resize_with(place + 1, || None);
        }
        all[place] = Some(taken);
        result
    }

    pub(crate) fn clear(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Option<T>>> {
        self.0
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_kept_from_call_to_call_until_it_is_cleared() {
        let scratch = Scratch::<Vec<f32>>::default();
        scratch.with(|memory| memory.resize(10, 1.0));
        scratch.with(|outer| {
            assert_eq!(outer.len(), 10);
            scratch.with(|nested| assert!(nested.is_empty()));
        });
        scratch.clear();
        scratch.with(|memory| assert!(memory.is_empty()));
    }

    #[test]
    fn threads_of_a_pool_have_memory_of_their_own() {
        let scratch = Scratch::<Vec<usize>>::default();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build();
        let pool = pool.expect("threads start");
        for _ in 0..2 {
            pool.broadcast(|context| scratch.with(|seen| seen.push(context.index())));
        }
        pool.broadcast(|context| {
            scratch.with(|seen| assert_eq!(*seen, [context.index(); 2]));
        });
    }
}
