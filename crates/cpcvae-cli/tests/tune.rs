//! Searches through the binary: complete, killed, with several workers, and their results.
#![cfg(unix)]

mod sandbox;

use sandbox::{Sandbox, two_clouds};
use serde_json::Value;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// A table of two clouds with enough labels for a fold that the search does not see.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("clouds.csv", two_clouds(120, 20));
    sandbox
}

const TUNE: [&str; 16] = [
    "tune",
    "clouds.csv",
    "--label",
    "kind",
    "--ignore",
    "id",
    "--method",
    "pc",
    "--folds",
    "2",
    "--max-steps",
    "40",
    "--set",
    "model.hidden=[8]",
    "--threads",
    "1",
];

fn tune<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&TUNE[..], &["--out", "search"], more].concat()
}

fn object(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn wait_for(path: &Path, child: &mut Child) {
    let began = Instant::now();
    while !path.exists() {
        assert!(
            began.elapsed() < Duration::from_secs(100),
            "nothing happens"
        );
        assert!(child.try_wait().expect("ours").is_none(), "it ended early");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_search_that_was_killed_ends_as_if_it_had_not_been() {
    let whole = sandbox();
    let all = ["--trials", "13", "--json", "--quiet"];
    let answer = object(&whole.ok(&tune(&all)));
    assert_eq!(answer["trials"].as_array().map(Vec::len), Some(13));
    let best = answer["best"].as_u64().expect("there is one") as usize;
    let trials = answer["trials"].as_array().expect("a list");
    let values = trials.iter().filter(|trial| trial["state"] == "complete");
    let smallest = values
        .filter_map(|trial| trial["value"].as_f64())
        .fold(f64::INFINITY, f64::min);
    assert_eq!(trials[best]["value"], smallest);
    // The first are the defaults.
    assert_eq!(trials[0]["settings"]["method.beta"], 1.0);
    // 40 labels, of which a fifth was set aside.
    assert_eq!(answer["unseen"]["found"]["labelled"], 8);
    assert!(
        answer["warning"]
            .as_str()
            .is_some_and(|text| text.contains("32 held-out labels"))
    );

    let killed = sandbox();
    for trial in ["0002/fold-0", "0011/fold-1"] {
        let mut child = killed.spawn(&tune(&all));
        wait_for(&killed.path("search/trials").join(trial), &mut child);
        child.kill().expect("a child of ours");
        child.wait().expect("a child of ours");
    }
    let again = object(&killed.ok(&tune(&all)));
    assert_eq!(again, answer);
    for file in [
        "search/trials.csv",
        "search/best.toml",
        "search/parallel.svg",
    ] {
        assert!(killed.read(file) == whole.read(file), "{file}");
    }

    // The settings found can be used by `fit`.
    let fit = [
        "fit",
        "clouds.csv",
        "--label",
        "kind",
        "--ignore",
        "id",
        "-c",
        "search/best.toml",
    ];
    whole.ok(&[&fit[..], &["--no-crossfit", "--quiet"]].concat());
    let config = String::from_utf8(whole.read("runs/clouds-pc/config.toml")).expect("UTF-8");
    let found = &trials[best]["settings"]["method.prediction_weight"];
    assert!(
        config.contains(&format!("prediction_weight = {found}")),
        "{config}"
    );
    assert!(config.contains("steps = 40"), "{config}");
}

#[test]
fn trials_by_validation_rows_are_ordinary_runs_and_bad_ones_stop_early() {
    let sandbox = sandbox();
    let by_validation = ["--validation", "12", "--max-steps", "40"];
    let arguments = [
        "--set",
        "train.evaluate_every=2",
        "--trials",
        "10",
        "--pruner",
        "asha",
    ];
    let mut all = tune(&arguments);
    let steps = all
        .iter()
        .position(|word| *word == "--max-steps")
        .expect("there");
    all.drain(steps..steps + 2);
    all.extend(by_validation);
    all.extend(["--json", "--sampler", "quasi-random"]);
    let answer = object(&sandbox.ok(&all));
    let trials = answer["trials"].as_array().expect("a list");
    let pruned = trials
        .iter()
        .filter(|trial| trial["state"] == "pruned")
        .count();
    assert!((1..9).contains(&pruned), "{pruned} of {answer}");
    assert_eq!(trials[0]["reports"].as_array().map(Vec::len), Some(19));
    assert_eq!(trials[0]["state"], "complete");
    let said = sandbox.ok(&["predict", "search/trials/0000", "clouds.csv"]);
    assert_eq!(said.lines().count(), 121);
    assert!(!sandbox.path("search/trials/0000/checkpoints").exists());
    // More trials for the same search.
    let more = all
        .iter()
        .map(|word| if *word == "10" { "12" } else { *word });
    let more = object(&sandbox.ok(&more.collect::<Vec<_>>()));
    let trials = more["trials"].as_array().expect("a list");
    assert_eq!(trials.len(), 12);
}

#[test]
fn several_processes_work_on_one_search() {
    let sandbox = sandbox();
    let arguments = tune(&[
        "--trials",
        "9",
        "--json",
        "--sampler",
        "random",
        "--jobs",
        "2",
    ]);
    let start = || {
        let mut command = sandbox.command(&arguments);
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("starts")
    };
    let workers = [start(), start()];
    for worker in workers {
        let answer = sandbox.answer(worker.wait_with_output().expect("ours"));
        assert_eq!(answer.code, 0, "{answer:?}");
    }
    let answer = object(&sandbox.ok(&arguments));
    let trials = answer["trials"].as_array().expect("a list");
    assert_eq!(trials.len(), 9);
    let ended = |trial: &&Value| trial["state"] != "running";
    assert_eq!(trials.iter().filter(ended).count(), 9);
}

#[test]
fn others_may_choose_what_is_tried_and_array_jobs_take_the_next() {
    let sandbox = sandbox();
    let space = object(&sandbox.ok(&tune(&["--print-space"])));
    let names = space["parameters"].as_array().expect("a list").iter();
    let names: Vec<&str> = names.filter_map(|one| one["name"].as_str()).collect();
    assert!(names.contains(&"method.prediction_weight"), "{names:?}");
    assert!(!sandbox.path("search").exists(), "nothing was begun");
    let one =
        |more: &[&str]| object(&sandbox.ok(&tune(&[&["--json", "--trials", "2"], more].concat())));
    assert_eq!(one(&["--one-trial"])["number"], 0);
    // A trial written by another program, as by Optuna.
    let distribution = space["parameters"][0]["distribution"]
        .as_str()
        .expect("text");
    let trial = serde_json::json!({
        "op_code": 4, "worker_id": "other", "study_id": 0,
        "datetime_start": "2026-11-18T19:39:52.273785+00:00",
    });
    let param = serde_json::json!({
        "op_code": 5, "worker_id": "other", "trial_id": 1, "param_name": names[0],
        "param_value_internal": 0.75, "distribution": distribution,
    });
    let mut journal = sandbox.read("search/journal.log");
    journal.extend(format!("{trial}\n{param}\n").bytes());
    sandbox.write("search/journal.log", journal);
    let output = one(&["--one-trial", "1"]);
    assert_eq!(
        (&output["state"], &output["settings"][names[0]]),
        (&"complete".into(), &0.75.into())
    );
    // It is done, and there are enough.
    assert_eq!(one(&["--one-trial", "1"]), output);
    let answer = sandbox.run(&tune(&["--trials", "2", "--one-trial"]));
    assert!(
        answer.code == 0 && answer.err.contains("no trial is left"),
        "{answer:?}"
    );
    let error = sandbox.error(&tune(&["--one-trial", "7"]));
    assert!(error.contains("trial 7: there is none"), "{error}");
}

#[test]
fn what_cannot_be_searched_is_told() {
    let sandbox = sandbox();
    sandbox.ok(&tune(&["--trials", "1", "--quiet"]));
    let error = sandbox.error(&tune(&["--trials", "1", "--set", "method.beta=2"]));
    assert!(
        error.contains("a search with other settings was started"),
        "{error}"
    );
    sandbox.write(
        "space.toml",
        "[method]\nlamda = { low = 1.0, high = 2.0 }\n",
    );
    let error = sandbox.error(&[&TUNE[..], &["--space", "space.toml", "--out", "other"]].concat());
    assert!(error.contains("`method.lamda`"), "{error}");
    sandbox.write("space.toml", "[method]\nbeta = 3\n");
    let error = sandbox.error(&[&TUNE[..], &["--space", "space.toml", "--out", "other"]].concat());
    assert!(
        error.starts_with("space.toml: `method.beta` is 3"),
        "{error}"
    );
    let mut command = sandbox.command(&tune(&["--sampler", "optuna", "--trials", "2"]));
    command.env("CPCVAE_PYTHON", "no-such-python");
    let answer = sandbox.answer(command.output().expect("starts"));
    assert!(
        answer.code == 1 && answer.err.contains("Optuna could not be asked"),
        "{answer:?}"
    );
}
