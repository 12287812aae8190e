//! Tests of the results file.

use super::super::cells::{cells, tests::plan};
use super::*;

/// A record of the cell with that accuracy.
pub fn record(key: &CellKey, hash: &str, accuracy: f64) -> Record {
    Record {
        experiment: "tiny".into(),
        key: key.clone(),
        hash: hash.into(),
        seed: key.draw,
        steps: 50,
        kept_step: 50,
        seconds: 2.0,
        elapsed: 2.5,
        commit: "abc".into(),
        precision: "f32".into(),
        metrics: Metrics {
            accuracy: Some(accuracy),
            ..Metrics::default()
        },
        settings: serde_json::json!({ "train": { "steps": 50 } }),
    }
}

fn empty_folder(name: &str) -> PathBuf {
    let name = format!("cpcvae-lab-{name}-{}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    let _ = fs::remove_dir_all(&folder);
    folder
}

#[test]
fn only_missing_cells_are_missing() {
    let folder = empty_folder("missing-cells");
    let path = folder.join("tiny.jsonl");
    let cells = cells(&plan());
    let hash = settings_hash(&serde_json::json!({ "train": { "steps": 50 } }));
    let mut file = ResultsFile::open(&path, "tiny").expect("a new file");
    for cell in &cells[..3] {
        file.append(record(&cell.key, &hash, 0.5))
            .expect("writable");
    }
    let file = ResultsFile::open(&path, "tiny").expect("own lines");
    let missing = |hash: &str| {
        let cells = cells.iter();
        cells
            .filter(|cell| file.find(&cell.key, hash).is_none())
            .count()
    };
    assert_eq!(missing(&hash), cells.len() - 3);
    let changed = settings_hash(&serde_json::json!({ "train": { "steps": 60 } }));
    assert_ne!(hash, changed);
    assert_eq!(
        missing(&changed),
        cells.len(),
        "other settings, other cells"
    );
    assert_eq!(
        file.find(&cells[0].key, &hash)
            .expect("there")
            .setting("train.steps"),
        Some(50.0)
    );
    fs::remove_dir_all(folder).expect("own folder");
}

#[test]
fn a_line_that_was_cut_short_is_dropped_and_replaced() {
    let folder = empty_folder("cut-line");
    let path = folder.join("tiny.jsonl");
    let cells = cells(&plan());
    let hash = settings_hash(&serde_json::json!({ "train": { "steps": 50 } }));
    let mut file = ResultsFile::open(&path, "tiny").expect("a new file");
    for cell in &cells[..2] {
        file.append(record(&cell.key, &hash, 0.5))
            .expect("writable");
    }
    let whole = fs::read(&path).expect("written");
    fs::write(&path, &whole[..whole.len() - 7]).expect("writable");
    let mut file = ResultsFile::open(&path, "tiny").expect("a cut line is no error");
    assert!(file.dropped() > 0);
    assert!(file.find(&cells[0].key, &hash).is_some());
    assert!(file.find(&cells[1].key, &hash).is_none());
    file.append(record(&cells[1].key, &hash, 0.5))
        .expect("writable");
    assert_eq!(fs::read(&path).expect("written"), whole);
    fs::remove_dir_all(folder).expect("own folder");
}

#[test]
fn a_broken_line_in_the_middle_is_an_error_with_its_number() {
    let folder = empty_folder("broken-line");
    fs::create_dir_all(&folder).expect("writable");
    let path = folder.join("tiny.jsonl");
    fs::write(&path, "\n{\"experiment\": 3}\n").expect("writable");
    let error = ResultsFile::open(&path, "tiny").expect_err("not a record");
    assert!(
        error.to_string().contains("tiny.jsonl, line 2: "),
        "{error}"
    );
    fs::remove_dir_all(folder).expect("own folder");
}

#[test]
fn keys_that_came_later_count_when_they_say_something_new() {
    let of = |text: &str| settings_hash(&serde_json::from_str(text).expect("JSON"));
    let before = of(r#"{"model": {"code": 2, "hidden": [5]}, "seed": 1}"#);
    assert_eq!(
        of(r#"{"seed": 1, "model": {"net": "mlp", "depth": 28, "hidden": [5], "code": 2}}"#),
        before
    );
    assert_ne!(
        of(r#"{"seed": 1, "model": {"net": "wrn", "hidden": [5], "code": 2}}"#),
        before
    );
    let plain = r#"{"model": {"code": 2, "hidden": [5]}, "seed": 1,
                    "pseudo_labels": {"source": "none", "alpha": 0.9}}"#;
    assert_eq!(of(plain), before);
    assert_ne!(of(&plain.replace("none", "ensemble")), before);
}
