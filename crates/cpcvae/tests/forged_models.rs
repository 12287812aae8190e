//! Models whose card does not fit their tensors are refused before anything of their size is
//! allocated.

use cpcvae::estimator::Fitted;
use cpcvae::train::TensorFile;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

fn recorded(run: &str) -> PathBuf {
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded");
    recorded.join(run)
}

/// A copy of a recorded run with a changed card and a valid checksum.
fn forged(run: &str, change: impl FnOnce(&mut Value)) -> tempfile::TempDir {
    let copy = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(copy.path().join("model")).expect("writable");
    for file in [
        "config.toml",
        "split.json",
        "report.json",
        "model/answers.json",
    ] {
        std::fs::copy(recorded(run).join(file), copy.path().join(file)).expect("recorded");
    }
    let model = "model/model.safetensors";
    let mut file = TensorFile::load(&recorded(run).join(model)).expect("recorded");
    let mut card = serde_json::from_str(&file.about).expect("a card");
    change(&mut card);
    file.about = card.to_string();
    file.save(&copy.path().join(model)).expect("writable");
    copy
}

#[test]
fn a_copy_without_a_change_opens() {
    let copy = forged("half-moon-cpc", |_| {});
    Fitted::load(copy.path()).expect("nothing is wrong with it");
}

#[test]
fn sizes_that_are_not_those_of_the_tensors_are_refused() {
    let huge = 100_000_000_000u64;
    let changes = [
        ("code", json!(huge)),
        ("code", json!(0)),
        ("code", json!(3)),
        ("style", json!(5)),
        ("style", json!(u64::MAX)),
        ("hidden", json!([huge])),
        ("hidden", json!([huge, huge])),
        ("hidden", json!([])),
        ("features", json!(huge)),
        ("features", json!(1)),
        ("predictor", json!([huge])),
        ("image", json!([huge, huge, 3])),
        ("image", json!([0, 0, 0])),
    ];
    for run in [
        "half-moon-cpc",
        "half-moon-m2",
        "half-moon-labels-only",
        "glyphs-cpc",
    ] {
        for (key, value) in &changes {
            let copy = forged(run, |card| card["shape"][key] = value.clone());
            // A classifier has no code, so the code sizes on its card are not used.
            let ignored = run == "half-moon-labels-only" && matches!(*key, "code" | "style");
            let opened = Fitted::load(copy.path());
            assert!(opened.is_err() || ignored, "{run}: {key} = {value}");
        }
    }
}

#[test]
fn columns_and_networks_that_do_not_fit_are_refused() {
    let fewer = |card: &mut Value| {
        let columns = card["preprocess"]["layout"]
            .as_object_mut()
            .expect("a layout");
        for list in columns.values_mut().filter_map(Value::as_array_mut) {
            list.pop();
        }
    };
    for run in ["half-moon-cpc", "table-cpc"] {
        let copy = forged(run, fewer);
        assert!(
            Fitted::load(copy.path()).is_err(),
            "{run}: one column fewer"
        );
    }
    let copy = forged("glyphs-cpc", |card| {
        if let Some(plan) = card["shape"]["transform"].as_object_mut() {
            plan.insert("canvas".into(), json!(1e9));
        } else {
            card["shape"]["code"] = json!(0);
        }
    });
    assert!(Fitted::load(copy.path()).is_err(), "a canvas of a billion");
    for (key, value) in [
        ("width", 1_000_000),
        ("width", u64::MAX),
        ("width", 0),
        ("depth", 1_000_000),
        ("depth", 5),
        ("depth", 0),
    ] {
        let copy = forged("glyphs-wrn", |card| {
            card["shape"]["net"]["wrn"][key] = json!(value);
        });
        let opened = Fitted::load(copy.path());
        assert!(opened.is_err(), "a network of {key} {value}");
    }
}
