//! A profile of named pieces of work.
//!
//! Without recording, a call costs one relaxed load. Only the benchmark records a profile.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

static LISTENING: AtomicBool = AtomicBool::new(false);
static HEARD: Mutex<BTreeMap<&'static str, Timing>> = Mutex::new(BTreeMap::new());

/// The time of one kind of work since [`start`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Timing {
    /// Number of calls.
    pub calls: u64,
    /// Total time.
    pub time: Duration,
    /// Floating-point operations of its matrix products; 0 for other work.
    pub flop: f64,
}

/// Clears the profile and starts recording.
pub fn start() {
    timings().clear();
    LISTENING.store(true, Ordering::Relaxed);
}

/// Stops recording and returns the profile, by name.
pub fn stop() -> BTreeMap<&'static str, Timing> {
    LISTENING.store(false, Ordering::Relaxed);
    std::mem::take(&mut timings())
}

/// Runs `work` and records it as `name`, with `flop` floating-point operations.
pub fn timed<R>(name: &'static str, flop: f64, work: impl FnOnce() -> R) -> R {
    if !LISTENING.load(Ordering::Relaxed) {
        return work();
    }
    let begin = Instant::now();
    let result = work();
    let took = begin.elapsed();
    let mut timings = timings();
    let timing = timings.entry(name).or_default();
    timing.calls += 1;
    timing.time += took;
    timing.flop += flop;
    result
}

fn timings() -> std::sync::MutexGuard<'static, BTreeMap<&'static str, Timing>> {
    HEARD
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hears_only_between_start_and_stop() {
        assert_eq!(timed("before", 1.0, || 1), 1);
        start();
        for _ in 0..3 {
            timed("between", 2.0, || {
                std::thread::sleep(Duration::from_millis(1))
            });
        }
        let timings = stop();
        timed("after", 1.0, || ());
        // Other tests of this process may be recorded too, under other names.
        assert!(!timings.contains_key("before"));
        let between = timings["between"];
        assert_eq!((between.calls, between.flop), (3, 6.0));
        assert!(between.time >= Duration::from_millis(3));
        assert!(!stop().contains_key("after"));
    }
}
