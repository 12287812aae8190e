//! Killed or stopped runs that are resumed end with the same bytes.
#![cfg(unix)]

mod sandbox;

use sandbox::Sandbox;
use std::process::{Child, Command};
use std::time::{Duration, Instant, SystemTime};

/// A run of a second or so, with frequent checkpoints and evaluations.
const RUN: [&str; 15] = [
    "fit",
    "half-moon",
    "--validation",
    "50",
    "--max-steps",
    "600",
    "--set",
    "model.hidden=[50]",
    "--set",
    "train.checkpoint_every=23",
    "--set",
    "train.log_every=1",
    "--set",
    "train.evaluate_every=40",
    "--quiet",
];

fn results(sandbox: &Sandbox, run: &str) -> [Vec<u8>; 3] {
    ["metrics.jsonl", "model/model.safetensors", "split.json"]
        .map(|file| sandbox.read(&format!("{run}/{file}")))
}

fn start(sandbox: &Sandbox, more: &[&str]) -> Child {
    sandbox.spawn(&[&RUN, more].concat())
}

/// Waits until the run has a checkpoint, so that it is stopped in the middle.
fn wait_for_checkpoint(sandbox: &Sandbox, run: &str) {
    let start = Instant::now();
    while checkpoint_time(sandbox, run).is_none() {
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "no checkpoint in {run}"
        );
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// When the last checkpoint was written.
fn checkpoint_time(sandbox: &Sandbox, run: &str) -> Option<SystemTime> {
    let path = sandbox.path(run).join("checkpoints/last.safetensors");
    path.metadata().and_then(|file| file.modified()).ok()
}

/// SIGKILL: nothing is caught or cleaned up. Returns whether it came in time.
fn kill(mut child: Child) -> bool {
    let is_running = child.try_wait().expect("a child of ours").is_none();
    child.kill().expect("a child of ours");
    child.wait().expect("a child of ours");
    is_running
}

#[test]
fn a_killed_run_goes_on_to_the_same_bytes() {
    let sandbox = Sandbox::new();
    sandbox.ok(&[&RUN[..], &["--out", "whole"]].concat());
    let again = ["--out", "killed", "--resume"];
    // While it starts: before its first file, and during its first ones.
    for milliseconds in [1, 5, 10, 20] {
        let child = start(&sandbox, &again);
        std::thread::sleep(Duration::from_millis(milliseconds));
        kill(child);
    }
    // While it trains: at and after a checkpoint.
    for milliseconds in [0, 1, 3, 6, 10, 15] {
        let before = checkpoint_time(&sandbox, "killed");
        let mut child = start(&sandbox, &again);
        let begin = Instant::now();
        while checkpoint_time(&sandbox, "killed") == before {
            assert!(begin.elapsed() < Duration::from_secs(60), "no checkpoint");
            assert!(
                child.try_wait().expect("a child of ours").is_none(),
                "it ended"
            );
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(milliseconds));
        assert!(kill(child), "the run ended before it could be killed");
    }
    assert!(!sandbox.path("killed/model").exists());
    // Its folder suffices to resume.
    sandbox.ok(&["fit", "half-moon", "--out", "killed", "--resume", "--quiet"]);
    assert_eq!(results(&sandbox, "killed"), results(&sandbox, "whole"));
}

#[test]
fn ctrl_c_leaves_a_run_that_goes_on() {
    let sandbox = Sandbox::new();
    sandbox.ok(&[&RUN[..], &["--out", "whole"]].concat());
    let child = start(&sandbox, &["--out", "stopped"]);
    wait_for_checkpoint(&sandbox, "stopped");
    let status = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(status.expect("kill is there").success());
    let answer = sandbox.answer(child.wait_with_output().expect("a child of ours"));
    assert_eq!(answer.code, 130, "{answer:?}");
    // All that was typed, quoted for a shell.
    let hint = "cpcvae fit half-moon --validation 50 --max-steps 600 --set 'model.hidden=[50]'";
    assert!(answer.out.contains(hint), "{answer:?}");
    assert!(answer.out.contains("--out stopped --resume"), "{answer:?}");
    let error = sandbox.error(&["predict", "stopped", "half-moon"]);
    assert!(error.contains("has not finished"), "{error}");

    sandbox.ok(&[
        "fit",
        "half-moon",
        "--out",
        "stopped",
        "--resume",
        "--quiet",
    ]);
    assert_eq!(results(&sandbox, "stopped"), results(&sandbox, "whole"));
}

#[test]
fn threads_do_not_change_results() {
    let sandbox = Sandbox::new();
    // Batches large enough to be worth sharing.
    for (out, threads) in [("one", "1"), ("two", "2")] {
        sandbox.ok(&[
            "fit",
            "half-moon",
            "--out",
            out,
            "--threads",
            threads,
            "--max-steps",
            "30",
            "--set",
            "model.hidden=[100,100]",
            "--set",
            "train.unlabelled_per_batch=400",
            "--quiet",
        ]);
        sandbox.ok(&[
            "fit",
            "glyphs",
            "--out",
            &format!("glyphs-{out}"),
            "--threads",
            threads,
            "--max-steps",
            "3",
            "--set",
            "data.rows=200",
            "--set",
            "model.hidden=[200]",
            "--quiet",
        ]);
    }
    assert_eq!(results(&sandbox, "one"), results(&sandbox, "two"));
    assert_eq!(
        results(&sandbox, "glyphs-one"),
        results(&sandbox, "glyphs-two")
    );
}

#[test]
fn a_run_goes_on_only_as_it_began() {
    let sandbox = Sandbox::new();
    sandbox.fit(&["half-moon", "--out", "run"]);
    let before = sandbox.files("run");
    let again =
        |more: &[&str]| sandbox.error(&[&["fit", "half-moon", "--out", "run"], more].concat());
    assert_eq!(
        again(&[]),
        "there is a run in run already; resume it, or choose another folder\n  hint: --resume continues it, \
         --overwrite removes it first, --out names another folder"
    );
    let error = again(&["--resume", "--seed", "1"]);
    assert!(error.contains("`seed = 1` (was `seed = 0`)"), "{error}");
    let error = again(&["--resume", "--method", "pc"]);
    assert!(error.contains("started with `--method cpc`"), "{error}");
    let error = sandbox.error(&["fit", "glyphs", "--out", "run", "--resume"]);
    assert!(
        error.contains("started on `half-moon`, not on `glyphs`"),
        "{error}"
    );
    assert_eq!(sandbox.files("run"), before, "nothing was overwritten");
    // Resuming a finished run does nothing but report again.
    sandbox.ok(&["fit", "half-moon", "--out", "run", "--resume", "--quiet"]);
}
