//! Reads the corpora of runs, checkpoints and settings, and copies with random changes: an error or
//! a result, never a panic.
//!
//! `CPCVAE_CASES=100000` tries more copies, `CPCVAE_SEED` others, `CPCVAE_TARGET` of one target only;
//! failing files are kept in `fuzz/found/`. `CPCVAE_UPDATE=1 cargo test --release --test fuzz_corpora` rewrites the files.

mod fuzz_targets;

use fuzz_targets::mutate::Mutator;
use fuzz_targets::{FILES, Place, TARGETS};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

fn corpora() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus"))
}

fn write_seeds(place: &Place) {
    let write = |target: &str, name: &str, bytes: Vec<u8>| {
        let folder = corpora().join(target);
        fs::create_dir_all(&folder).expect("writable");
        fs::write(folder.join(name), bytes).expect("writable");
    };
    for (number, file) in FILES.into_iter().enumerate() {
        let name = file.replace("model/", "");
        let with_number = |rest: &[u8]| [&[number as u8], rest].concat();
        match file.strip_suffix(".safetensors") {
            None => write("run-folder", &name, with_number(&place.plain(file))),
            Some(_) => {
                let about = place.about(&format!("whole/{file}"));
                write("run-folder", &name, with_number(about.as_bytes()));
                let bytes = place.plain(file);
                // Longer ones would slow the fuzzer down.
                if bytes.len() < 20_000 {
                    let from = FILES
                        .iter()
                        .position(|file| file.ends_with("model.safetensors"));
                    let number = number - from.expect("it is there");
                    write("tensors", &name, [&[number as u8], &bytes[..]].concat());
                }
            }
        }
    }
    let state = place.about("stopped/checkpoints/last.safetensors");
    write("checkpoint", "state", [b"\0", state.as_bytes()].concat());
    write("settings", "complete.toml", place.plain("config.toml"));
    let some = "method = \"vae\"\n[model]\ncode = 3\nhidden = [5, 4]\n[train]\nepochs = 0.5\n";
    write("settings", "some.toml", some.as_bytes().to_vec());
}

/// A copy is read in milliseconds; the rest allows for a busy machine.
const HANG: Duration = Duration::from_secs(20);

fn number(variable: &str, usual: u64) -> u64 {
    let asked = std::env::var(variable).ok();
    asked.and_then(|text| text.parse().ok()).unwrap_or(usual)
}

#[test]
fn runs_checkpoints_and_settings_are_read_without_a_panic() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = Place::at(folder.path());
    if std::env::var_os("CPCVAE_UPDATE").is_some() {
        write_seeds(&place);
    }
    let mut mutator = Mutator::new(number("CPCVAE_SEED", 0));
    let wanted = std::env::var("CPCVAE_TARGET").ok();
    let chosen = |target: &str| wanted.as_deref().is_none_or(|wanted| wanted == target);
    for (target, run) in TARGETS.into_iter().filter(|(target, _)| chosen(target)) {
        let names = fs::read_dir(corpora().join(target)).unwrap_or_else(|error| {
            panic!("no corpus for `{target}` ({error}); see fuzz/README.md")
        });
        let mut paths: Vec<_> = names.map(|name| name.expect("readable").path()).collect();
        paths.sort();
        let files: Vec<Vec<u8>> = paths
            .iter()
            .map(|path| fs::read(path).expect("there"))
            .collect();
        assert!(!files.is_empty(), "the corpus of `{target}` is empty");
        for (path, file) in paths.iter().zip(&files) {
            println!("{}", path.display());
            run(&place, file);
        }
        let (began, cases) = (Instant::now(), number("CPCVAE_CASES", 40));
        for case in 0..cases {
            let other = mutator.pick(&files).clone();
            let file = mutator.pick(&files).clone();
            let changed = mutator.changed(&file, &other);
            let began = Instant::now();
            let ended = catch_unwind(AssertUnwindSafe(|| run(&place, &changed)));
            if ended.is_err() || began.elapsed() > HANG {
                let found = corpora().join("../found").join(target);
                fs::create_dir_all(&found).expect("writable");
                let path = found.join(format!("case-{case}"));
                fs::write(&path, &changed).expect("writable");
                panic!("{} ends in a panic or hangs", path.display());
            }
        }
        println!(
            "{target}: {cases} cases in {:.0} s",
            began.elapsed().as_secs_f64()
        );
    }
}
