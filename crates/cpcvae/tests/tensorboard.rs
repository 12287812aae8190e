//! Event files, record by record. `python/tests/test_tensorboard.py` reads such files with
//! TensorBoard.

use cpcvae::estimator::Fit;
use cpcvae::prelude::*;
use cpcvae::tensorboard::TensorBoard;
use cpcvae::tensorboard::proto::{Event, Shown, What};
use cpcvae::tensorboard::record::framed;
use prost::Message;
use std::path::{Path, PathBuf};

/// The only event file of a folder.
fn only_file(folder: &Path) -> PathBuf {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let files: Vec<PathBuf> = entries
        .map(|entry| entry.expect("readable").path())
        .collect();
    assert_eq!(files.len(), 1, "{files:?}");
    let name = files[0].file_name().and_then(|name| name.to_str());
    assert!(name.expect("a name").starts_with("events.out.tfevents."));
    files[0].clone()
}

/// Its events; every record has valid checksums.
fn events(path: &Path) -> Vec<Event> {
    let bytes = std::fs::read(path).expect("readable");
    let mut rest = &bytes[..];
    let mut events = Vec::new();
    while !rest.is_empty() {
        let length = u64::from_le_bytes(rest[..8].try_into().expect("eight")) as usize;
        let content = &rest[12..12 + length];
        assert_eq!(framed(content), rest[..16 + length]);
        events.push(Event::decode(content).expect("an event"));
        rest = &rest[16 + length..];
    }
    events
}

/// Numbers and images: step, name, and the number if it is one.
fn values(events: &[Event]) -> Vec<(i64, String, Option<f32>)> {
    let of_event = |event: &Event| {
        let values = match &event.what {
            Some(What::Summary(summary)) => summary.value.clone(),
            _ => Vec::new(),
        };
        let step = event.step;
        values.into_iter().map(move |value| match value.shown {
            Some(Shown::Number(number)) => (step, value.tag, Some(number)),
            _ => (step, value.tag, None),
        })
    };
    events.iter().flat_map(of_event).collect()
}

#[test]
fn every_logged_number_is_in_the_file_and_each_training_has_its_own() {
    let rows: Vec<[f32; 2]> = (0..60)
        .map(|i| [(i % 2 * 9 + i % 5) as f32, (i % 7) as f32])
        .collect();
    let labels = (0..60).map(|i| (i < 20).then_some(["low", "high"][i % 2]));
    let data = Dataset::from_rows(&rows, Labels::classes(labels)).expect("rows");
    let folder = tempfile::tempdir().expect("a folder");
    let board = TensorBoard::new(folder.path(), &Silent);
    let pc = Pc::new().steps(40).folds(2);
    let fitted = pc.fit_watched(&data, &board).expect("fits");
    board.finish(&fitted).expect("written");
    // Watching a training does not change it.
    let unwatched = pc.fit(&data).expect("fits");
    assert_eq!(unwatched.history(), fitted.history());
    let events_of = |name: &str| events(&only_file(&folder.path().join(name)));
    let own = events_of("pc");
    assert!(matches!(&own[0].what, Some(What::FileVersion(version)) if version == "brain.Event:2"));
    // Later steps of an earlier file are discarded.
    assert!(matches!(&own[1].what, Some(What::SessionLog(log)) if log.status == 1));
    let found = values(&own);
    let lines = std::str::from_utf8(fitted.history()).expect("text").lines();
    let mut compared = 0;
    for line in lines {
        let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
        for (name, value) in line.as_object().expect("an object") {
            let Some(value) = value.as_f64().filter(|_| name != "step") else {
                continue;
            };
            let step = line["step"].as_i64().expect("a step");
            let wanted = (step, format!("train/{name}"), Some(value as f32));
            assert!(found.contains(&wanted), "{wanted:?}");
            compared += 1;
        }
    }
    assert!(compared > 10, "{compared}");
    let held_out = found.iter().find(|(_, tag, _)| tag == "held_out/accuracy");
    let accuracy = fitted
        .calibration()
        .held_out
        .as_ref()
        .and_then(|f| f.accuracy.as_ref());
    let accuracy = accuracy.expect("held out").value as f32;
    assert_eq!(held_out.and_then(|(.., value)| *value), Some(accuracy));
    let second = values(&events_of("pc-2-of-2"));
    assert!(second.iter().any(|(_, tag, _)| tag == "train/loss"));
}

#[test]
fn images_are_sampled_when_they_are_validated_and_at_the_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let board = TensorBoard::new(folder.path(), &Silent);
    let pc = Pc::new().steps(4).hidden(&[8]).validation(20.0).labels(20);
    let pc = pc
        .set("train.evaluate_every", 2)
        .set("train.unlabelled_per_batch", 20);
    let pc = pc.set("data.rows", 200);
    let source = pc.open("glyphs", Path::new(".")).expect("opens");
    let fitted = pc.fit_watched(source, &board).expect("fits");
    board.finish(&fitted).expect("written");
    let found = values(&events(&only_file(&folder.path().join("pc"))));
    let steps = |name: &str| -> Vec<i64> {
        let of_name = found.iter().filter(|(_, tag, _)| tag == name);
        of_name.map(|(step, ..)| *step).collect()
    };
    assert_eq!(steps("validation/accuracy"), [2, 4]);
    assert_eq!(steps("samples/from the prior"), [2, 4]);
    assert_eq!(steps("samples/of the kept model").len(), 1);
}

#[test]
fn a_folder_that_cannot_be_made_ends_no_training_and_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a file");
    std::fs::write(&file, "x").expect("writable");
    let rows: Vec<[f32; 1]> = (0..40).map(|i| [(i % 2 * 9 + i % 5) as f32]).collect();
    let labels = (0..40).map(|i| (i < 8).then_some(["low", "high"][i % 2]));
    let data = Dataset::from_rows(&rows, Labels::classes(labels)).expect("rows");
    let board = TensorBoard::new(&file, &Silent);
    let pc = Pc::new().steps(10).hold_out(false);
    let fitted = pc.fit_watched(&data, &board).expect("fits all the same");
    let problem = board.finish(&fitted).expect_err("told");
    assert!(problem.to_string().contains("a file"), "{problem}");
}
