//! Work on many items over all cores, with results in the items' order.

use std::num::NonZero;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// How many items are worked on at a time.
pub(crate) fn cores() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// Calls `work` for every item and gives the results in order.
pub(crate) fn map_in_order<T: Send>(
    items: Range<usize>,
    work: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    let cores = cores();
    let next = AtomicUsize::new(items.start);
    // Items differ in cost, so each thread takes the next one when it is free.
    let take = || {
        let mut done = Vec::new();
        loop {
            let item = next.fetch_add(1, Ordering::Relaxed);
            if item >= items.end {
                return done;
            }
            done.push((item, work(item)));
        }
    };
    let mut all: Vec<(usize, T)> = thread::scope(|scope| {
        let threads: Vec<_> = (1..cores.min(items.len()))
            .map(|_| scope.spawn(take))
            .collect();
        let mut all = take();
        for thread in threads {
            match thread.join() {
                Ok(done) => all.extend(done),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    });
    all.sort_unstable_by_key(|(item, _)| *item);
    all.into_iter().map(|(_, result)| result).collect()
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
