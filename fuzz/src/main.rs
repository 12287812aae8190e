//! Readers of files under libFuzzer: `fuzz/run TARGET` starts it.
#![no_main]

#[path = "../../crates/cpcvae-data/tests/readers/fuzz_targets.rs"]
mod fuzz_targets;

use fuzz_targets::{Place, TARGETS};
use std::sync::{LazyLock, Mutex};

/// The message of the last panic.
static LAST: Mutex<String> = Mutex::new(String::new());

static TARGET: LazyLock<(Place, fn(&Place, &[u8]))> = LazyLock::new(|| {
    // Panics of third-party decoders are caught and turned into errors; libFuzzer's hook would end
    // the process before that.
    let _ = std::panic::take_hook();
    std::panic::set_hook(Box::new(|panic| {
        *LAST.lock().expect("one thread") = panic.to_string();
    }));
    let wanted = std::env::var("CPCVAE_TARGET").expect("CPCVAE_TARGET names a target");
    let target = TARGETS.into_iter().find(|(name, _)| *name == wanted);
    let (_, run) = target.unwrap_or_else(|| panic!("there is no target `{wanted}`"));
    // Work in parallel stays on this thread: handing it to another takes longer than small files do.
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1);
    alone.use_current_thread().build_global().expect("no threads yet");
    let folder = tempfile::tempdir().expect("a folder").keep();
    (Place::at(folder), run)
});

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let (place, run) = &*TARGET;
    if std::panic::catch_unwind(|| run(place, bytes)).is_err() {
        eprintln!("{}", LAST.lock().expect("one thread"));
        std::process::abort();
    }
});
