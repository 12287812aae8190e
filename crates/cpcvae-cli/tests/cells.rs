//! Cells of an experiment through the binary: one by one, killed, repeated, and merged.
#![cfg(unix)]

mod sandbox;

use sandbox::Sandbox;
use serde_json::Value;
use std::time::{Duration, Instant};

const PLAN: &str = r#"
title = "A tiny experiment"
data = "half-moon"
labels = [6]
code = [2]
draws = 2
set.train = { steps = 200, checkpoint_every = 10, log_every = 10 }
set.model.hidden = [8]

[[method]]
label = "PC"
method = "pc"

[[method]]
label = "CPC"
method = "cpc"

[report]
metrics = ["accuracy"]

[[figure]]
name = "plane"
draw.regions = {}
"#;

const RUN: [&str; 4] = ["experiment", "--file", "tiny.toml", "--json"];

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("tiny.toml", PLAN);
    sandbox
}

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&RUN[..], more].concat()
}

fn object(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The lines of the results without times.
fn lines(sandbox: &Sandbox) -> Vec<Value> {
    let text = String::from_utf8(sandbox.read("results/tiny.jsonl")).expect("UTF-8");
    let without_times = |line: &str| {
        let mut line = object(line);
        for (section, key) in [
            ("", "seconds"),
            ("", "elapsed"),
            ("/metrics", "step_seconds"),
        ] {
            let section = line.pointer_mut(section).and_then(Value::as_object_mut);
            let removed = section.and_then(|section| section.remove(key));
            assert!(removed.is_some_and(|time| time.as_f64() >= Some(0.0)));
        }
        line
    };
    text.lines().map(without_times).collect()
}

#[test]
fn cells_put_together_are_what_one_process_would_have_written() {
    let whole = sandbox();
    whole.ok(&RUN);

    let parts = sandbox();
    let listed = object(&parts.ok(&with(&["--list-cells"])));
    let cells = listed["cells"].as_array().expect("a list");
    assert_eq!(cells.len(), 4);
    assert_eq!(cells[3]["cell"]["method"], "CPC");
    assert!(cells.iter().all(|cell| cell["done"] == false));

    // One is killed in the middle, and resumes from its checkpoint.
    let mut child = parts.spawn(&with(&["--cell", "3"]));
    let began = Instant::now();
    let has_checkpoint = || {
        let runs = std::fs::read_dir(parts.path("results/runs/tiny")).into_iter();
        let mut runs = runs.flatten().flatten();
        runs.any(|run| run.path().join("checkpoints/last.safetensors").exists())
    };
    while !has_checkpoint() {
        assert!(began.elapsed() < Duration::from_secs(60), "nothing happens");
        assert!(child.try_wait().expect("ours").is_none(), "it ended early");
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().expect("a child of ours");
    child.wait().expect("a child of ours");
    assert!(parts.files("results/cells").is_empty());

    // In any order, with the number from each variable.
    for (index, variable) in [
        (3, ""),
        (1, "HQ_TASK_ID"),
        (0, "SLURM_ARRAY_TASK_ID"),
        (2, "JOB_COMPLETION_INDEX"),
    ] {
        let number = index.to_string();
        let mut command = match variable {
            "" => parts.command(&with(&["--cell", &number])),
            _ => parts.command(&with(&["--cell"])),
        };
        if !variable.is_empty() {
            command.env(variable, &number);
        }
        let answer = parts.answer(command.output().expect("starts"));
        assert_eq!(answer.code, 0, "{answer:?}");
        assert_eq!(object(&answer.out)["index"], index);
    }
    let before = parts.files("results/cells");
    assert_eq!(before.len(), 4);
    // A finished cell is not trained again.
    let again = parts.ok(&["experiment", "--file", "tiny.toml", "--cell", "1"]);
    assert!(again.contains("done before"), "{again}");
    assert_eq!(parts.files("results/cells"), before);

    let merged = object(&parts.ok(&with(&["--merge"])));
    assert_eq!(merged["missing"], 0);
    assert_eq!(lines(&parts), lines(&whole));
    for file in ["tiny.csv", "tiny.md", "tiny-plane.png", "tiny-plane.svg"] {
        let file = format!("results/{file}");
        assert!(parts.read(&file) == whole.read(&file), "{file}");
    }
    // Nothing is left to do, here or there.
    let listed = object(&parts.ok(&with(&["--list-cells"])));
    let cells = listed["cells"].as_array().expect("a list");
    assert!(cells.iter().all(|cell| cell["done"] == true));
    parts.ok(&with(&["--merge"]));
    assert_eq!(lines(&parts).len(), 4);
}

#[test]
fn engines_get_a_file_with_all_cells() {
    let sandbox = sandbox();
    for (engine, file, said) in [
        ("hyperqueue", "tiny.hq.toml", "ids = \"0-3\""),
        ("slurm", "tiny.slurm.sh", "#SBATCH --array=0-3"),
        ("kubernetes", "tiny.job.yaml", "completions: 4"),
    ] {
        let answer = object(&sandbox.ok(&with(&["--on", engine, "--threads", "3"])));
        assert_eq!(
            (&answer["cells"], &answer["submitted"]),
            (&4.into(), &false.into())
        );
        let text = String::from_utf8(sandbox.read(&format!("results/{file}"))).expect("UTF-8");
        for said in [said, "tiny.toml", "--cell", "3"] {
            assert!(text.contains(said), "{said} in {text}");
        }
    }
    assert!(!sandbox.path("results/tiny.jsonl").exists());
}

#[test]
fn what_is_no_cell_is_told() {
    let sandbox = sandbox();
    let error = sandbox.error(&with(&["--cell", "4"]));
    assert_eq!(error, "there is no cell 4; tiny has the cells 0 to 3");
    let error = sandbox.error(&with(&["--cell"]));
    assert!(
        error.starts_with("which cell?") && error.contains("HQ_TASK_ID"),
        "{error}"
    );
    sandbox.write("results/cells/tiny/x", "");
    let merged = object(&sandbox.ok(&with(&["--merge"])));
    assert_eq!(merged["missing"], 4);
}
