//! Runs recorded by an earlier version: they open, and training gives the same models.
//!
//! `tests/recorded/README.md` says how they were made. On the processor that recorded them, models
//! are the same to the last bit; another one may sum in another order.

use cpcvae::estimator::{Fit, Fitted, OpenedRows, RowOptions};
use cpcvae::prelude::*;
use cpcvae::run::{RunFolder, run};
use cpcvae::train::TensorFile;
use cpcvae_data::{DataName, UserFile};
use std::path::{Path, PathBuf};

/// Tolerance for rounding differences of a parameter after at most 25 steps.
const TOLERANCE: f32 = 2e-3;

fn recorded() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded")
}

fn folders() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(recorded()).expect("recorded runs");
    let mut folders: Vec<PathBuf> = entries
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    assert!(folders.len() >= 18, "{folders:?}");
    folders
}

fn source(config: &cpcvae::config::RunConfig) -> Source {
    match DataName::parse(&config.data.source) {
        Ok(name) => name.open(&config.data, config.seed, Path::new("."), true),
        // A table beside the runs.
        Err(_) => UserFile::open(&recorded().join(&config.data.source), &config.data, true)
            .and_then(|file| file.into_source(&config.data)),
    }
    .expect("data of a recorded run")
}

#[test]
fn training_gives_the_recorded_models() {
    let cpu = cpcvae::device::device("cpu").expect("the CPU");
    for folder in folders() {
        let config = RunFolder::at(&folder).config().expect("settings");
        let again = tempfile::tempdir().expect("a temporary folder");
        let again = RunFolder::at(again.path().join("run"));
        run(&config, source(&config), Some(&again), &cpu, &mut Silent).expect("trains");
        let load = |folder: &Path| {
            let file = TensorFile::load(&folder.join("model/model.safetensors"));
            file.expect("a model").tensors.0
        };
        let (before, now) = (load(&folder), load(again.path()));
        assert!(before.keys().eq(now.keys()), "{}", folder.display());
        for (name, (shape, values)) in &before {
            assert_eq!(shape, &now[name].0, "{}: {name}", folder.display());
            for (before, now) in values.iter().zip(&now[name].1) {
                assert!(
                    (before - now).abs() <= TOLERANCE * (1.0 + before.abs()),
                    "{}: {name} was {before}, is {now}",
                    folder.display()
                );
            }
        }
    }
}

#[test]
fn recorded_models_open_and_answer() {
    for folder in folders() {
        let fitted = Fitted::load(&folder).expect("opens");
        let rows = source(fitted.config()).rows;
        let few = rows.select(&[0, 1, 2]);
        if fitted.config().method.name() == "vae" {
            assert!(fitted.sample(3).expect("samples").rows == 3);
            continue;
        }
        let answers = fitted.predict(&few).expect("answers");
        assert_eq!(answers.len(), 3);
        for row in 0..3 {
            let sum: f32 = answers.outputs.row(row).iter().sum();
            assert!((sum - 1.0).abs() < 1e-5, "{}: {sum}", folder.display());
        }
    }
}

/// The estimator, in memory and with a folder, trains the same model as the recorded run.
#[test]
fn the_front_door_gives_the_same_model_in_memory_and_in_a_folder() {
    let table = recorded().join("table.csv");
    let data = Dataset::read(&table, Label::column("class")).expect("a table");
    let cpc = || {
        Cpc::new()
            .steps(25)
            .hidden(&[8, 8])
            .folds(2)
            .set("train.precision", "f32")
            .set("data.id", "id")
            .set("data.ignore", vec!["id".to_string()])
    };
    let in_memory = cpc().fit(&data).expect("fits");
    let place = tempfile::tempdir().expect("a temporary folder");
    let (kept, saved) = (place.path().join("kept"), place.path().join("saved"));
    let in_folder = cpc().folder(&kept).fit(&data).expect("fits");
    in_memory.save(&saved).expect("saves");
    for file in [
        "model/model.safetensors",
        "model/codes.safetensors",
        "model/card.json",
        "split.json",
        "metrics.jsonl",
        "config.toml",
    ] {
        let read = |folder: &Path| std::fs::read(folder.join(file)).expect(file);
        assert!(read(&kept) == read(&saved), "{file} differs");
    }
    let opened = Fitted::load(&saved).expect("opens");
    let answers = in_memory.predict(&data).expect("answers");
    assert_eq!(answers, in_folder.predict(&data).expect("answers"));
    assert_eq!(answers, opened.predict(&data).expect("answers"));
    assert!(answers.sets.is_some() && answers.percentile.is_some());
    let OpenedRows { data: rows, .. } = opened
        .open_rows(&table.display().to_string(), &RowOptions::default())
        .expect("rows of the file");
    assert_eq!(
        answers.outputs,
        opened.predict(&rows).expect("answers").outputs
    );
    // Without the id column, which is a name and no feature.
    assert_eq!(opened.layout().width(), 4);
}

/// A run whose settings have old names, and lack newer keys.
#[test]
fn a_run_with_old_names_of_settings_opens_and_answers_alike() {
    let recorded = recorded().join("half-moon-cpc");
    let place = tempfile::tempdir().expect("a temporary folder");
    for file in ["report.json", "split.json", "model/model.safetensors"] {
        std::fs::create_dir_all(place.path().join("model")).expect("a folder");
        std::fs::copy(recorded.join(file), place.path().join(file)).expect(file);
    }
    let text = std::fs::read_to_string(recorded.join("config.toml")).expect("settings");
    let start = text.find("[pseudo_labels]").expect("a section");
    let end = start + text[start..].find("\n[").expect("another section");
    let later = [
        "decoder_start",
        "simulated",
        "aggregate_views",
        "net =",
        "most_bytes",
    ];
    let old: String = format!("{}{}", &text[..start], &text[end..])
        .replace(
            "[method]\n",
            "[method]\nneighbour_weight = 0.0\nneighbour_reach = 0.0\n",
        )
        .lines()
        .filter(|line| !later.iter().any(|key| line.starts_with(key)))
        .map(|line| format!("{line}\n"))
        .collect();
    assert!(old.lines().count() < text.lines().count() - later.len());
    std::fs::write(place.path().join("config.toml"), old).expect("written");
    let (before, now) = (Fitted::load(&recorded), Fitted::load(place.path()));
    let (before, now) = (before.expect("opens"), now.expect("old names are read"));
    assert_eq!(now.config().method, before.config().method);
    let rows = source(before.config()).rows.select(&[0, 1, 2]);
    let outputs = |fitted: &Fitted| fitted.predict(&rows).expect("answers").outputs;
    assert_eq!(outputs(&now), outputs(&before));
}
