//! Spreading independent pieces of work over threads.

use crate::timing::timed;
use rayon::prelude::*;

/// Below this many element operations of the cheapest kind (about 20 microseconds) waking other
/// threads costs more than it saves. A layer of 200 x 100 outputs stays below.
pub(crate) const THRESHOLD: usize = 32 * 1024;

/// About how many elements one piece of work should have.
const PIECE: usize = 8 * 1024;

/// Rows of `width` elements in one piece of work; depends on the shape only.
pub(crate) fn rows_per_piece(width: usize) -> usize {
    (PIECE / width.max(1)).max(1)
}

/// Calls `work` for every item: on this thread if all of them together take fewer than
/// [`THRESHOLD`] operations, else on all threads, in any order.
pub(crate) fn for_each<T: Send>(
    operations: usize,
    items: impl Iterator<Item = T>,
    work: impl Fn(T) + Sync,
) {
    if operations < THRESHOLD || rayon::current_num_threads() == 1 {
        items.for_each(work);
    } else {
        items.collect::<Vec<_>>().into_par_iter().for_each(&work);
    }
}

/// [`for_each`], counted under `name` while somebody listens.
pub(crate) fn timed_for_each<T: Send>(
    name: &'static str,
    operations: usize,
    items: impl Iterator<Item = T>,
    work: impl Fn(T) + Sync,
) {
    timed(name, 0.0, || for_each(operations, items, work));
}
