//! The files that a run keeps: few, with checksums of everything.

mod sandbox;

use sandbox::{Sandbox, two_groups};

const FIT: [&str; 7] = ["t.csv", "--label", "kind", "--out", "run", "--folds", "2"];

#[test]
fn folds_are_removed_once_they_were_of_use() {
    let sandbox = Sandbox::new();
    sandbox.write("t.csv", two_groups());
    let summary = sandbox.fit(&FIT);
    assert!(!sandbox.path("run/crossfit").exists());
    let files = sandbox.files("run");
    let bytes: usize = files.iter().map(|(_, content)| content.len()).sum();
    assert!(
        files.len() < 20 && bytes < 300_000,
        "{} files, {bytes} bytes",
        files.len()
    );
    // Nothing remains to be done, so nothing changes.
    let again = sandbox.fit(&["t.csv", "--out", "run", "--resume", "--folds", "2"]);
    assert_eq!(summary.split("method").nth(1), again.split("method").nth(1));
    let changed = sandbox
        .files("run")
        .into_iter()
        .filter(|file| !files.contains(file));
    let changed: Vec<_> = changed.map(|(path, _)| path).collect();
    assert!(changed.is_empty(), "{changed:?}");
    assert!(!sandbox.path("run/crossfit").exists());
    // Another number of folds is trained.
    sandbox.fit(&[
        "t.csv",
        "--out",
        "run",
        "--resume",
        "--folds",
        "3",
        "--keep-folds",
    ]);
    assert!(sandbox.path("run/crossfit/3-folds/cpc/fold-2").exists());
}

#[test]
fn files_without_a_checksum_of_their_own_are_checked_too() {
    let sandbox = Sandbox::new();
    sandbox.write("t.csv", two_groups());
    sandbox.fit(&["t.csv", "--label", "kind", "--out", "run", "--no-crossfit"]);
    for name in [
        "config.toml",
        "split.json",
        "metrics.jsonl",
        "model/card.json",
    ] {
        let path = format!("run/{name}");
        let before = sandbox.read(&path);
        let mut changed = before.clone();
        let digit = changed
            .iter()
            .rposition(u8::is_ascii_digit)
            .expect("a digit");
        changed[digit] = if changed[digit] == b'1' { b'2' } else { b'1' };
        sandbox.write(&path, &changed);
        let output = sandbox.error(&["predict", "run", "t.csv"]);
        assert!(
            output.contains(name) && output.contains("checksum"),
            "{output}"
        );
        sandbox.write(&path, &before);
        sandbox.ok(&["predict", "run", "t.csv"]);
    }
}

#[test]
fn regression_is_compared_with_simple_baselines() {
    let sandbox = Sandbox::new();
    let row = |row: usize| {
        let x = row as f64 * 0.37 % 5.0;
        format!(
            "{x:.3},{:.3},{:.4}\n",
            row as f64 * 0.71 % 3.0,
            3.0 * x + row as f64 * 0.13 % 1.0
        )
    };
    let rows: String = (0..80).map(row).collect();
    sandbox.write("t.csv", format!("a,b,y\n{rows}"));
    let fit = [
        "t.csv", "--label", "y", "--out", "run", "--folds", "2", "--json",
    ];
    let answer = sandbox.fit(&fit);
    let value: serde_json::Value = serde_json::from_str(&answer).expect("JSON");
    let methods = value["held_out"]["methods"].as_array().expect("methods");
    let error = |name: &str| {
        let found = methods.iter().find(|method| method["method"] == name);
        -found.expect(name)["minus_mean_error"]
            .as_f64()
            .expect("a number")
    };
    // A ridge regression finds a line, and no constant is close to it.
    assert!(
        error("ridge") < 0.6 && error("median") > 3.0 && error("neighbours") < 2.0,
        "{methods:?}"
    );
    let verdict = value["held_out"]["verdict"].as_str().expect("a verdict");
    assert!(
        verdict.contains("of the change") && verdict.contains("less is better"),
        "{verdict}"
    );
    let warnings = value["held_out"]["warnings"].to_string();
    assert!(warnings.contains("`ridge` does better"), "{warnings}");
    let report: serde_json::Value =
        serde_json::from_slice(&sandbox.read("run/report.json")).expect("JSON");
    assert_eq!(report["verdict"]["answer"], verdict);
    assert!(report["held_out"]["absolute_error"][0].is_number());
}

#[test]
fn flags_without_an_effect_are_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("t.csv", two_groups());
    let refused = |arguments: &[&str], flag: &str| {
        let output = sandbox.error(&[&["fit", "--out", "run"], arguments].concat());
        assert!(
            output.contains(flag) && output.contains("no effect"),
            "{output}"
        );
        assert!(!sandbox.path("run").exists());
    };
    refused(&["t.csv", "--label", "kind", "--size", "8"], "--size");
    refused(
        &["t.csv", "--label", "kind", "--gray", "--strict"],
        "--gray, --strict",
    );
    refused(
        &["t.csv", "--label", "kind", "--solver", "dual"],
        "--solver",
    );
    refused(&["half-moon", "--missing", "3"], "--missing");
    refused(&["half-moon", "--contrast"], "--contrast");
    refused(&["glyphs", "--column", "a=number"], "--column");
}
