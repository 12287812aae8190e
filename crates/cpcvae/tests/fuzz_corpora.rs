//! Every file of the fuzzers' corpora is read again: those that once went wrong are among them.
//! `CPCVAE_UPDATE=1 cargo test --release --test fuzz_corpora` makes the files that fuzzing starts from.

mod fuzz_targets;

use fuzz_targets::{FILES, Place, TARGETS};
use std::fs;
use std::path::Path;

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

#[test]
fn corpora_are_read_without_a_panic() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = Place::at(folder.path());
    if std::env::var_os("CPCVAE_UPDATE").is_some() {
        write_seeds(&place);
    }
    for (target, run) in TARGETS {
        let files = fs::read_dir(corpora().join(target)).unwrap_or_else(|error| {
            panic!("no corpus for `{target}` ({error}); see fuzz/README.md")
        });
        let mut count = 0;
        for file in files {
            let path = file.expect("readable").path();
            println!("{}", path.display());
            run(&place, &fs::read(&path).expect("readable"));
            count += 1;
        }
        assert!(count > 0, "the corpus of `{target}` is empty");
    }
}
