//! Reads every file of the fuzzers' corpora, which include those that once failed.

use super::fuzz_targets::{Place, TARGETS};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// A file is read in milliseconds; the rest allows for a busy machine.
const HANG: Duration = Duration::from_secs(20);

/// The corpora, which lie outside of this package.
pub fn corpora() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus"))
}

#[test]
fn corpora_are_read_without_a_panic() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = Place::at(folder.path());
    for (target, run) in TARGETS {
        let files = fs::read_dir(corpora().join(target)).unwrap_or_else(|error| {
            panic!("no corpus for `{target}` ({error}); see fuzz/README.md")
        });
        let mut count = 0;
        for file in files {
            let path = file.expect("readable").path();
            let bytes = fs::read(&path).expect("readable");
            // When the test fails, the last line shown is the file that failed.
            println!("{}", path.display());
            let began = Instant::now();
            run(&place, &bytes);
            assert!(began.elapsed() < HANG, "{} hangs", path.display());
            count += 1;
        }
        assert!(count > 0, "the corpus of `{target}` is empty");
    }
}
