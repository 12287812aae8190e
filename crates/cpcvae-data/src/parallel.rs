//! Work on many items over all threads, with results in the items' order.

use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use std::ops::Range;

/// The number of threads.
pub(crate) fn threads() -> usize {
    rayon::current_num_threads()
}

/// Calls `work` for every item and gives the results in order. Items differ in cost, so threads
/// take them one at a time.
pub(crate) fn map_in_order<T: Send>(
    items: Range<usize>,
    work: impl Fn(usize) -> T + Sync + Send,
) -> Vec<T> {
    // A single item is not worth handing to another thread.
    if items.len() < 2 {
        return items.map(work).collect();
    }
    items.into_par_iter().with_max_len(1).map(work).collect()
}

#[cfg(test)]
mod tests {
    use super::map_in_order;

    #[test]
    fn results_come_in_order() {
        let squares: Vec<usize> = (5..500).map(|item| item * item).collect();
        assert_eq!(map_in_order(5..500, |item| item * item), squares);
        assert!(map_in_order(3..3, |item| item).is_empty());
    }
}
