//! Runs several trainings in parallel, where one alone cannot use all threads.

use rayon::ThreadPoolBuilder;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs `work` for `0..count`, `at_once` at a time, each with its share of the threads, and returns
/// the results in order.
///
/// After an item that failed, or returned `None` because a stop was asked for, no more are started;
/// running ones are waited for. A failure takes precedence over a stop.
pub fn parallel_runs<T: Send, E: Send>(
    count: usize,
    at_once: usize,
    work: impl Fn(usize) -> Result<Option<T>, E> + Sync,
) -> Result<Option<Vec<T>>, E> {
    let next = AtomicUsize::new(0);
    let made = Mutex::new(Vec::with_capacity(count));
    let crew = || {
        loop {
            let piece = next.fetch_add(1, Ordering::SeqCst);
            if piece >= count {
                return;
            }
            let result = work(piece);
            if !matches!(result, Ok(Some(_))) {
                next.store(count, Ordering::SeqCst);
            }
            let mut made = made.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            made.push((piece, result));
        }
    };
    let crews = at_once.min(count);
    if crews <= 1 {
        crew();
    } else {
        let share = (rayon::current_num_threads() / crews).max(1);
        std::thread::scope(|scope| {
            for _ in 0..crews {
                // Without a pool of its own, a worker uses the global pool.
                scope.spawn(
                    || match ThreadPoolBuilder::new().num_threads(share).build() {
                        Ok(pool) => pool.install(crew),
                        Err(_) => crew(),
                    },
                );
            }
        });
    }
    let mut made = made
        .into_inner()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    made.sort_by_key(|(piece, _)| *piece);
    let results: Result<Vec<Option<T>>, E> = made.into_iter().map(|(_, result)| result).collect();
    Ok(results?.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn results_come_in_their_order() {
        for at_once in [0, 1, 3, 50] {
            let squares = parallel_runs(20, at_once, |piece| Ok::<_, ()>(Some(piece * piece)));
            let expected = (0..20).map(|piece| piece * piece).collect();
            assert_eq!(squares, Ok(Some(expected)), "{at_once} at once");
        }
        assert_eq!(
            parallel_runs(0, 4, |_| Ok::<_, ()>(Some(1))),
            Ok(Some(vec![]))
        );
    }

    #[test]
    fn pieces_are_done_beside_each_other_with_a_share_of_the_threads() {
        // Each waits until the other has started: run one after the other, they would deadlock.
        let begun = [AtomicBool::new(false), AtomicBool::new(false)];
        let shares = parallel_runs(2, 2, |piece| {
            begun[piece].store(true, Ordering::SeqCst);
            while !begun[1 - piece].load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
            Ok::<_, ()>(Some(rayon::current_num_threads()))
        });
        let share = (rayon::current_num_threads() / 2).max(1);
        assert_eq!(shares, Ok(Some(vec![share; 2])));
    }

    #[test]
    fn after_a_stop_or_a_failure_nothing_is_begun() {
        for at_once in [1, 2] {
            let begun = AtomicUsize::new(0);
            let stopped = parallel_runs(1000, at_once, |piece| {
                begun.fetch_add(1, Ordering::SeqCst);
                Ok::<_, ()>((piece < 10).then_some(piece))
            });
            assert_eq!(stopped, Ok(None));
            assert!(begun.load(Ordering::SeqCst) <= 10 + at_once);
        }
        let failed = parallel_runs(9, 2, |piece| match piece {
            3 => Err("three"),
            _ => Ok((piece != 4).then_some(piece)),
        });
        assert_eq!(failed, Err("three"));
    }
}
