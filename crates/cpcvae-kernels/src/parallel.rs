//! Runs independent pieces of work on several threads.

use crate::timing::timed;
use rayon::Yield;
use rayon::prelude::*;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Below this many element operations of the cheapest kind (about 20 microseconds) waking other
/// threads costs more than it saves. A layer of 200 x 100 outputs stays below.
pub(crate) const THRESHOLD: usize = 32 * 1024;

/// The approximate number of elements in one piece of work.
const PIECE: usize = 8 * 1024;

/// The number of shares for each thread that work of more than so many operations, about half a
/// millisecond, is divided into, if possible: a thread whose processor is busy with other programs
/// leaves some of them to other threads.
const SHARES: usize = 8;
const LARGE: usize = 32 * THRESHOLD;

/// A thread without work for this long stops spinning,
const PATIENCE: Duration = Duration::from_millis(2);
/// but checks again after this time.
const NAP: Duration = Duration::from_micros(100);

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
    // Small work does not ask for rayon's threads: the first to ask determines their number.
    if operations < THRESHOLD || rayon::current_num_threads() == 1 {
        return items.for_each(work);
    }
    let items: Vec<_> = items.collect();
    let shares = match operations {
        ..LARGE => 1,
        _ => rayon::current_num_threads() * SHARES,
    };
    let most = items.len().div_ceil(shares).max(1);
    items.into_par_iter().with_max_len(most).for_each(&work);
}

thread_local! {
    /// Whether this thread runs the work of a [`with_threads_awake`].
    static IS_WORKING: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work` on a thread of rayon's current pool, while the others stay awake.
///
/// A training step has hundreds of parallel pieces with a little single-threaded work between them.
/// Threads that fall asleep meanwhile take tens of microseconds to wake, each time; so they keep
/// looking for work until it is done, or there has been none for a while. Of several such works in
/// one pool, one may return only when another is done; there are no circular waits.
pub fn with_threads_awake<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let is_done = AtomicBool::new(false);
    rayon::scope(|scope| {
        let is_done = &is_done;
        let _end = Working {
            is_done,
            before: IS_WORKING.replace(true),
        };
        scope.spawn_broadcast(|_, _| {
            // A thread that waits inside its own work must continue with that.
            if !IS_WORKING.get() {
                look_for_work(is_done);
            }
        });
        work()
    })
}

/// Ends the search of the others when the work is done or panics.
struct Working<'a> {
    is_done: &'a AtomicBool,
    before: bool,
}

impl Drop for Working<'_> {
    fn drop(&mut self) {
        IS_WORKING.set(self.before);
        self.is_done.store(true, Ordering::Release);
    }
}

fn look_for_work(is_done: &AtomicBool) {
    let mut idle_since: Option<Instant> = None;
    while !is_done.load(Ordering::Acquire) {
        if let Some(Yield::Executed) = rayon::yield_now() {
            idle_since = None;
        } else if idle_since.get_or_insert_with(Instant::now).elapsed() < PATIENCE {
            // Yields to other programs.
            std::thread::yield_now();
        } else {
            std::thread::sleep(NAP);
        }
    }
}

/// [`for_each`], timed as `name` while a profile is recorded.
pub(crate) fn timed_for_each<T: Send>(
    name: &'static str,
    operations: usize,
    items: impl Iterator<Item = T>,
    work: impl Fn(T) + Sync,
) {
    timed(name, 0.0, || for_each(operations, items, work));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_with_threads_awake_is_done_once_with_all_of_them() {
        for threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let pool = pool.expect("a pool");
            let sums = pool.install(|| {
                with_threads_awake(|| {
                    assert_eq!(rayon::current_num_threads(), threads);
                    // Including pauses longer than the others' patience.
                    let pauses = [0, 0, 5, 0, 3].map(Duration::from_millis);
                    pauses.map(|pause| {
                        std::thread::sleep(pause);
                        let all: u64 = (0..100_000u64).into_par_iter().sum();
                        all
                    })
                })
            });
            assert_eq!(sums, [4_999_950_000; 5], "{threads} threads");
        }
        // From outside of any pool, and nested in another.
        assert_eq!(with_threads_awake(|| with_threads_awake(|| 7)), 7);
    }

    #[test]
    fn works_at_once_in_one_pool_do_not_wait_in_a_circle() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build();
        let pool = pool.expect("a pool");
        let sum = || {
            with_threads_awake(|| {
                let sums = (0..200).map(|_| (0..10_000u64).into_par_iter().sum::<u64>());
                sums.max()
            })
        };
        std::thread::scope(|scope| {
            let all = [0; 6].map(|_| scope.spawn(|| pool.install(sum)));
            for one in all {
                assert_eq!(one.join().expect("no panic"), Some(49_995_000));
            }
        });
    }

    #[test]
    fn a_panic_is_passed_on_and_the_others_end() {
        let caught = std::panic::catch_unwind(|| with_threads_awake(|| -> () { panic!("so") }));
        assert!(caught.is_err());
    }
}
