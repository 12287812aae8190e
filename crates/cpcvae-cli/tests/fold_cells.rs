//! The trainings of `fit` and `learning-curve` one by one: killed, repeated, in any order.
#![cfg(unix)]

mod sandbox;

use sandbox::{SMALL, Sandbox, two_clouds};
use serde_json::Value;
use std::time::{Duration, Instant};

const FIT: [&str; 10] = [
    "fit",
    "wine.csv",
    "--label",
    "kind",
    "--out",
    "run",
    "--folds",
    "3",
    "--set",
    "ensemble.members=none",
];
const CURVE: [&str; 9] = [
    "learning-curve",
    "wine.csv",
    "--label",
    "kind",
    "--out",
    "curve",
    "--folds=3",
    "--counts=4,8",
    "--quiet",
];

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("wine.csv", two_clouds(120, 12));
    sandbox
}

fn with<'a>(command: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [command, &SMALL, more].concat()
}

fn object(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Names of the cells, and how many of them are done.
fn listed(sandbox: &Sandbox, command: &[&str]) -> (Vec<String>, usize) {
    let list = object(&sandbox.ok(&with(command, &["--list-cells", "--json"])));
    let cells = list["cells"].as_array().expect("a list");
    for (number, cell) in cells.iter().enumerate() {
        assert_eq!(cell["index"], number);
    }
    let name = |cell: &Value| cell["cell"].as_str().expect("a name").to_string();
    let done = cells.iter().filter(|cell| cell["done"] == true);
    (cells.iter().map(name).collect(), done.count())
}

/// All files of a run that do not depend on the time that it took.
fn bytes(sandbox: &Sandbox, folder: &str) -> Vec<(String, Vec<u8>)> {
    let files = sandbox.files(folder).into_iter();
    let files = files.filter_map(|(path, content)| {
        let path = path.strip_prefix(sandbox.path(folder)).expect("inside");
        let name = path.display().to_string();
        // Checkpoints hold the time so far.
        let timed = ["report.json", "report.html", "last.safetensors"];
        let is_timed = timed.iter().any(|timed| name.ends_with(timed));
        (!is_timed).then_some((name, content))
    });
    files.collect()
}

/// What `report.json` says, without the time.
fn report(sandbox: &Sandbox) -> Value {
    let text = String::from_utf8(sandbox.read("run/report.json")).expect("UTF-8");
    let mut report = object(&text);
    report["crc32"].take();
    report["fit"]["seconds"].take();
    report
}

#[test]
fn folds_trained_as_cells_are_those_of_one_process() {
    let whole = sandbox();
    whole.ok(&with(&FIT, &["--keep-folds", "--quiet"]));

    let parts = sandbox();
    let (names, done) = listed(&parts, &FIT);
    assert_eq!((names.len(), done), (10, 0));
    assert_eq!(names[0], "model");
    assert_eq!(names[2], "cpc fold-1");
    assert_eq!(names[4], "labels-only fold-0");
    assert_eq!(names[9], "vae-then-mlp fold-2");

    // In any order, folds before the model, with the number from each variable.
    for (number, variable) in [
        ("2", ""),
        ("9", "HQ_TASK_ID"),
        ("0", "SLURM_ARRAY_TASK_ID"),
        ("4", "JOB_COMPLETION_INDEX"),
    ] {
        let mut command = match variable {
            "" => parts.command(&with(&FIT, &["--cell", number, "--quiet"])),
            _ => parts.command(&with(&FIT, &["--quiet", "--cell"])),
        };
        if !variable.is_empty() {
            command.env(variable, number);
        }
        let answer = parts.answer(command.output().expect("starts"));
        assert_eq!(answer.code, 0, "{answer:?}");
        assert!(answer.out.ends_with(": trained\n"), "{answer:?}");
    }
    assert_eq!(listed(&parts, &FIT).1, 4);
    // A finished one is not trained again.
    let before = parts.files("run");
    let again = parts.ok(&with(&FIT, &["--cell", "2"]));
    assert_eq!(again, "cell 2, cpc fold-1: done before\n");
    assert!(before == parts.files("run"));

    // The rest is trained by the usual command, and all bytes are those of one process.
    parts.ok(&with(&FIT, &["--resume", "--keep-folds", "--quiet"]));
    assert_eq!(report(&parts), report(&whole));
    let (parts_bytes, whole_bytes) = (bytes(&parts, "run"), bytes(&whole, "run"));
    let names = |files: &[(String, Vec<u8>)]| -> Vec<String> {
        files.iter().map(|file| file.0.clone()).collect()
    };
    assert_eq!(names(&parts_bytes), names(&whole_bytes));
    for (ours, theirs) in parts_bytes.iter().zip(&whole_bytes) {
        assert!(ours == theirs, "{}", ours.0);
    }

    // When all is measured, folds are removed, and their cells stay done.
    parts.ok(&with(&FIT, &["--resume", "--quiet"]));
    assert!(parts.files("run/crossfit").is_empty());
    assert_eq!(listed(&parts, &FIT).1, 10);
    let again = parts.ok(&with(&FIT, &["--cell", "2", "--quiet"]));
    assert_eq!(again, "cell 2, cpc fold-1: done before\n");
}

#[test]
fn a_killed_cell_goes_on_and_a_running_one_is_left_alone() {
    let sandbox = sandbox();
    let long = [
        "--max-steps",
        "1000",
        "--set",
        "train.checkpoint_every=10",
        "--set",
        "model.hidden=[8]",
        "--cell",
        "3",
    ];
    let command = [&FIT[..], &long].concat();
    let mut child = sandbox.spawn(&command);
    let began = Instant::now();
    let checkpoint = "run/crossfit/3-folds/cpc/fold-2/checkpoints/last.safetensors";
    while !sandbox.path(checkpoint).exists() {
        assert!(began.elapsed() < Duration::from_secs(60), "nothing happens");
        assert!(child.try_wait().expect("ours").is_none(), "it ended early");
        std::thread::sleep(Duration::from_millis(1));
    }
    let error = sandbox.error(&command);
    assert!(error.contains("works in this folder"), "{error}");
    child.kill().expect("a child of ours");
    child.wait().expect("a child of ours");
    assert!(sandbox.ok(&command).ends_with(": trained\n"));
    let metrics = sandbox.read("run/crossfit/3-folds/cpc/fold-2/metrics.jsonl");
    let alone = self::sandbox();
    alone.ok(&command);
    assert!(metrics == alone.read("run/crossfit/3-folds/cpc/fold-2/metrics.jsonl"));
}

#[test]
fn points_of_a_learning_curve_are_cells() {
    let whole = sandbox();
    let expected = object(&whole.ok(&with(&CURVE, &["--json"])));

    let parts = sandbox();
    let (names, done) = listed(&parts, &CURVE);
    assert_eq!((names.len(), done), (6, 0));
    assert_eq!(names[4], "8 labels fold-1");
    for number in ["4", "0", "5", "1", "3", "2"] {
        let end = object(&parts.ok(&with(&CURVE, &["--cell", number, "--json"])));
        assert_eq!(end["done"], true);
    }
    assert_eq!(listed(&parts, &CURVE).1, 6);
    let models = parts.files("curve/3-folds");
    assert_eq!(object(&parts.ok(&with(&CURVE, &["--json"]))), expected);
    // Nothing was trained again.
    assert!(models == parts.files("curve/3-folds"));
    assert!(bytes(&parts, "curve") == bytes(&whole, "curve"));
}

#[test]
fn what_is_no_cell_is_told() {
    let sandbox = sandbox();
    let error = sandbox.error(&with(&FIT, &["--cell", "10"]));
    assert_eq!(error, "there is no cell 10; there are the cells 0 to 9");
    let error = sandbox.error(&with(&FIT, &["--cell"]));
    assert!(error.starts_with("which cell?"), "{error}");
    let error = sandbox.error(&with(&FIT, &["--budget", "60s", "--cell", "1"]));
    assert!(error.contains("set the number of steps"), "{error}");
    // Nothing is written where a run would be refused.
    sandbox.write("run/thesis.txt", "years of work");
    let error = sandbox.error(&with(&FIT, &["--cell", "1"]));
    assert!(error.contains("`thesis.txt` and no run"), "{error}");
    assert_eq!(sandbox.files("run").len(), 1);
}
