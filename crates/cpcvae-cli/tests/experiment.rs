//! Experiments through the binary: only missing cells are trained.
#![cfg(unix)]

mod sandbox;

use sandbox::Sandbox;
use serde_json::Value;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// A second or so: two methods, two draws, a figure of models and one of numbers.
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

[[paper]]
values = { "PC" = 78.1 }

[report]
metrics = ["accuracy"]

[[figure]]
name = "plane"
draw.regions = {}

[[figure]]
name = "weights"
draw.curve = { x = "method.prediction_weight", x_label = "lambda", y = "accuracy" }

[quick]
draws = 1
only.methods = ["PC"]
set.train.steps = 3
"#;

const RUN: [&str; 4] = ["experiment", "--file", "tiny.toml", "--json"];

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("tiny.toml", PLAN);
    sandbox
}

fn table(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The lines of the results, each with its method and draw.
fn lines(sandbox: &Sandbox, file: &str) -> Vec<Value> {
    let text = String::from_utf8(sandbox.read(file)).expect("UTF-8");
    text.lines().map(table).collect()
}

fn wait_for(sandbox: &Sandbox, what: impl Fn(&Sandbox) -> bool, child: &mut Child) {
    let start = Instant::now();
    while !what(sandbox) {
        assert!(start.elapsed() < Duration::from_secs(60), "nothing happens");
        let ended = child.try_wait().expect("a child of ours");
        assert!(ended.is_none(), "it ended before it could be stopped");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Whether a run of the cell has started training.
fn has_checkpoint(sandbox: &Sandbox, cell: &str) -> bool {
    let runs = std::fs::read_dir(sandbox.path("results/runs/tiny"));
    runs.into_iter().flatten().flatten().any(|run| {
        let is_it = run.file_name().to_string_lossy().starts_with(cell);
        is_it && run.path().join("checkpoints/last.safetensors").exists()
    })
}

#[test]
fn an_experiment_is_stopped_and_killed_and_ends_with_the_same_table() {
    let whole = sandbox();
    let expected = table(&whole.ok(&RUN));
    let cells = expected["cells"].as_array().expect("a list");
    assert_eq!(cells.len(), 2, "{expected}");
    assert_eq!(cells[0]["method"], "PC");
    assert_eq!(cells[0]["paper"], 78.1);
    assert!(cells[1]["paper"].is_null() && cells[1]["draws"] == 2);
    for key in ["mean", "std", "min"] {
        assert!(cells[0][key].is_number(), "{key} in {expected}");
    }

    // Ctrl-C in the second cell: prints how to resume.
    let stopped = sandbox();
    let mut child = stopped.spawn(&RUN);
    wait_for(
        &stopped,
        |s| has_checkpoint(s, "cpc-6-labels-code-2-draw-0"),
        &mut child,
    );
    let interrupt = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(interrupt.expect("kill is there").success());
    let answer = stopped.answer(child.wait_with_output().expect("a child of ours"));
    assert_eq!(answer.code, 130, "{answer:?}");
    assert!(
        answer.err.contains("cpcvae experiment --file tiny.toml"),
        "{answer:?}"
    );
    assert!(
        table(&answer.out)["missing"].as_u64() > Some(0),
        "{answer:?}"
    );

    // SIGKILL in a later one, and a truncated line.
    let mut child = stopped.spawn(&RUN);
    wait_for(
        &stopped,
        |s| has_checkpoint(s, "pc-6-labels-code-2-draw-1"),
        &mut child,
    );
    child.kill().expect("a child of ours");
    child.wait().expect("a child of ours");
    let mut cut = stopped.read("results/tiny.jsonl");
    cut.extend(b"{\"experiment\":\"tiny\",\"met");
    stopped.write("results/tiny.jsonl", cut);

    let answer = stopped.run(&RUN);
    assert_eq!(answer.code, 0, "{answer:?}");
    assert!(answer.err.contains("cut short"), "{answer:?}");
    assert_eq!(table(&answer.out), expected);
    let csv = "results/tiny.csv";
    assert_eq!(stopped.read(csv), whole.read(csv));
    for sandbox in [&stopped, &whole] {
        let lines = lines(sandbox, "results/tiny.jsonl");
        assert_eq!(lines.len(), 4, "each cell once");
        for line in lines {
            assert_eq!(line["seed"], line["draw"]);
            assert_eq!(line["steps"], 200);
            assert!(line["seconds"].as_f64() > Some(0.0), "{line}");
            assert!(!line["commit"].as_str().unwrap_or_default().is_empty());
            assert_eq!(line["settings"]["model"]["hidden"][0], 8);
        }
        for figure in ["plane.png", "plane.svg", "weights.png", "weights.svg"] {
            sandbox.read(&format!("results/tiny-{figure}"));
        }
        let kept = std::fs::read_dir(sandbox.path("results/runs/tiny")).expect("a folder");
        assert_eq!(kept.count(), 2, "only the runs that a figure shows");
    }
}

#[test]
fn only_what_is_missing_or_changed_is_trained() {
    let sandbox = sandbox();
    let short = PLAN.replace("steps = 200", "steps = 20");
    sandbox.write("tiny.toml", &short);
    let count = || lines(&sandbox, "results/tiny.jsonl").len();
    // A part of it.
    let first = table(&sandbox.ok(&[&RUN[..], &["--only", "cpc", "--draws", "1"]].concat()));
    assert_eq!(first["cells"].as_array().map(Vec::len), Some(1), "{first}");
    assert_eq!(first["missing"], 1);
    assert_eq!(count(), 1);
    // The rest, then nothing.
    let all = sandbox.ok(&RUN);
    assert_eq!(count(), 4);
    assert_eq!(sandbox.ok(&RUN), all);
    assert_eq!(count(), 4);
    // A changed setting of one method trains that one again; its old lines stay.
    let changed = short.replace(
        "method = \"pc\"",
        "method = \"pc\"\nset.method.prediction_weight = 7",
    );
    sandbox.write("tiny.toml", &changed);
    sandbox.ok(&RUN);
    assert_eq!(count(), 6);
    sandbox.write("tiny.toml", &short);
    assert_eq!(sandbox.ok(&RUN), all, "the old lines count again");
    assert_eq!(count(), 6);
    // A missing model affects only its figure, which stays as it was; it is trained again on
    // request.
    let figure = sandbox.read("results/tiny-plane.png");
    std::fs::remove_dir_all(sandbox.path("results/runs")).expect("a folder");
    let answer = sandbox.run(&RUN);
    assert!(
        answer.err.contains("`retrain` trains them again"),
        "{answer:?}"
    );
    assert_eq!(sandbox.read("results/tiny-plane.png"), figure);
    std::fs::remove_file(sandbox.path("results/tiny-plane.png")).expect("a file");
    let answer = sandbox.run(&RUN);
    assert!(
        answer.err.contains("`retrain` trains it again"),
        "{answer:?}"
    );
    assert_eq!(count(), 6);
    let again = table(&sandbox.ok(&[&RUN[..], &["--retrain"]].concat()));
    assert_eq!(again, table(&all));
    assert_eq!(count(), 8);
}

#[test]
fn the_small_version_has_results_of_its_own() {
    let sandbox = sandbox();
    let text = sandbox.ok(&["experiment", "--file", "tiny.toml", "--quick"]);
    assert!(text.contains("test accuracy (%)"), "{text}");
    let lines = lines(&sandbox, "results/tiny-quick.jsonl");
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0]["steps"], 3);
    let page = String::from_utf8(sandbox.read("results/tiny-quick.md")).expect("UTF-8");
    assert!(page.starts_with("# A tiny experiment"), "{page}");
    assert!(
        page.contains("| PC ") && page.contains("(tiny-quick-plane.png)"),
        "{page}"
    );
}

#[test]
fn bad_use_is_told_with_file_and_key() {
    let sandbox = sandbox();
    let list = sandbox.ok(&["experiment", "--list"]);
    let plans = concat!(env!("CARGO_MANIFEST_DIR"), "/../cpcvae-lab/experiments");
    let plans = std::fs::read_dir(plans).expect("the plans of this repository");
    let is_plan = |name: &std::path::Path| name.extension().is_some_and(|end| end == "toml");
    let plans = plans.filter(|file| is_plan(&file.as_ref().expect("readable").path()));
    assert_eq!(
        list.lines().count(),
        plans.count(),
        "all are built in: {list}"
    );
    let error = sandbox.error(&["experiment", "fig9"]);
    assert!(
        error.starts_with("there is no experiment `fig9`; there are: constraint-mnist, fig1"),
        "{error}"
    );
    let error = |from: &str, to: &str| {
        assert!(PLAN.contains(from));
        sandbox.write("tiny.toml", PLAN.replace(from, to));
        sandbox.error(&RUN)
    };
    let text = error("draws = 2", "drawz = 2");
    assert!(
        text.starts_with("tiny.toml: ") && text.contains("drawz"),
        "{text}"
    );
    let text = error("method = \"pc\"", "method = \"pd\"");
    assert!(
        text.contains("method `PC`") && text.contains("there is no method `pd`"),
        "{text}"
    );
    let text = error("set.model.hidden", "set.model.hiden");
    assert!(text.contains("did you mean `model.hidden`?"), "{text}");
    assert!(
        !sandbox.path("results/tiny.jsonl").exists(),
        "nothing was trained"
    );
}
