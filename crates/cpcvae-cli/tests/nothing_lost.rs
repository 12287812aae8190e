//! Existing files are not overwritten, and damaged or changed files are refused.
#![cfg(unix)]

mod sandbox;

use sandbox::{Sandbox, small_run, small_table};
use std::io::Read;
use std::process::Stdio;
use std::time::Duration;

#[test]
fn links_and_pipes_are_written_through() {
    let sandbox = small_run();
    let link = sandbox.path("link.csv");
    sandbox.write("real.csv", "old");
    std::os::unix::fs::symlink("real.csv", &link).expect("a link");
    sandbox.ok(&["predict", "run", "t.csv", "--out", "link.csv"]);
    assert!(link.symlink_metadata().expect("there").is_symlink());
    assert!(sandbox.read("real.csv").starts_with(b"row,"));

    std::os::unix::fs::symlink("new.csv", sandbox.path("dangling.csv")).expect("a link");
    sandbox.ok(&["predict", "run", "t.csv", "--out", "dangling.csv"]);
    assert!(sandbox.read("new.csv").starts_with(b"row,"));

    let pipe = sandbox.path("pipe.csv");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("mkfifo").success());
    let child = sandbox.spawn(&["predict", "run", "t.csv", "--out", "pipe.csv"]);
    let mut text = String::new();
    let mut file = std::fs::File::open(&pipe).expect("a pipe");
    file.read_to_string(&mut text).expect("text");
    assert!(
        text.starts_with("row,") && text.lines().count() == 41,
        "{text}"
    );
    assert!(child.wait_with_output().expect("ends").status.success());
    let kind = pipe.symlink_metadata().expect("still there").file_type();
    assert!(!kind.is_file());
}

#[test]
fn a_folder_that_is_no_run_is_not_written_to() {
    let sandbox = Sandbox::new();
    sandbox.write("t.csv", small_table(false));
    sandbox.write("mine/report.json", "precious");
    let error = sandbox.error(&["fit", "t.csv", "--label", "kind", "--out", "mine"]);
    assert!(error.contains("`report.json` and no run"), "{error}");
    assert_eq!(sandbox.read("mine/report.json"), b"precious");
    assert_eq!(sandbox.files("mine").len(), 1);
}

#[test]
fn two_processes_do_not_work_in_one_folder() {
    let sandbox = Sandbox::new();
    sandbox.write("t.csv", small_table(false));
    let long = [
        "fit",
        "t.csv",
        "--label",
        "kind",
        "--out",
        "run",
        "--max-steps",
        "1000000",
    ];
    let mut first = sandbox.spawn(&long);
    while !sandbox.path("run/config.toml").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let error = sandbox.error(&[&long[..], &["--resume"]].concat());
    assert!(
        error.contains(&format!("process {} works", first.id())),
        "{error}"
    );
    // The lock of a killed process does not lock others out, nor do its temporary files.
    first.kill().expect("a child of ours");
    first.wait().expect("a child of ours");
    sandbox.write("run/report.123.tmp", "half");
    sandbox.write("run/checkpoints/last.123.tmp", "half");
    let mut second = sandbox.spawn(&[&long[..], &["--resume"]].concat());
    while sandbox.path("run/report.123.tmp").exists() {
        assert!(second.try_wait().expect("a child of ours").is_none());
        std::thread::sleep(Duration::from_millis(5));
    }
    second.kill().expect("a child of ours");
    second.wait().expect("a child of ours");
    assert!(!sandbox.path("run/checkpoints/last.123.tmp").exists());
}

#[test]
fn a_run_does_not_go_on_with_other_data() {
    let sandbox = small_run();
    let again = [
        "fit",
        "t.csv",
        "--label",
        "kind",
        "--no-crossfit",
        "--out",
        "run",
        "--resume",
    ];
    sandbox.ok(&again);
    sandbox.write("t.csv", small_table(true));
    let error = sandbox.error(&again);
    assert!(error.contains("other data: its labels differ"), "{error}");
    sandbox.write("t.csv", small_table(false).replace("10.5", "11.5"));
    let error = sandbox.error(&again);
    assert!(error.contains("its values differ"), "{error}");
    sandbox.write("t.csv", small_table(false) + "1,2,low\n");
    let error = sandbox.error(&again);
    assert!(error.contains("41 rows, and had 40"), "{error}");
}

#[test]
fn a_calibration_that_cannot_be_is_refused() {
    let sandbox = small_run();
    let text = String::from_utf8(sandbox.read("run/model/answers.json")).expect("text");
    assert!(text.contains("\"temperature\": 1.0"), "{text}");
    for bad in ["-1.0", "0.0", "1e999"] {
        let changed = text.replace("\"temperature\": 1.0", &format!("\"temperature\": {bad}"));
        sandbox.write("run/model/answers.json", &changed);
        let error = sandbox.error(&["predict", "run", "t.csv"]);
        assert!(error.contains("checksum"), "{bad}: {error}");
        // Without a checksum, as in files of earlier versions.
        let (_, rest) = changed.split_once(',').expect("a checksum first");
        sandbox.write("run/model/answers.json", format!("{{{rest}"));
        let error = sandbox.error(&["predict", "run", "t.csv"]);
        assert!(
            error.contains("temperature") || error.contains("number"),
            "{bad}: {error}"
        );
    }
    sandbox.write("run/model/answers.json", &text);
    sandbox.ok(&["predict", "run", "t.csv"]);
    let report = String::from_utf8(sandbox.read("run/report.json")).expect("text");
    sandbox.write(
        "run/report.json",
        report.replace("\"steps\": 30", "\"steps\": 31"),
    );
    let error = sandbox.error(&["predict", "run", "t.csv"]);
    assert!(
        error.contains("report.json") && error.contains("checksum"),
        "{error}"
    );
}

#[test]
fn a_closed_standard_error_stops_nothing() {
    let sandbox = Sandbox::new();
    sandbox.write("t.csv", small_table(false));
    let arguments = [
        "fit",
        "t.csv",
        "--label",
        "kind",
        "--no-crossfit",
        "--out",
        "run",
    ];
    let mut command = sandbox.command(&[&arguments[..], &sandbox::SMALL].concat());
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    command.stderr(writer).stdout(Stdio::null());
    assert!(command.status().expect("starts").success());
    assert!(sandbox.path("run/report.json").exists());
}

#[test]
fn quiet_keeps_warnings() {
    let sandbox = Sandbox::new();
    let words = ["the cat", "a dog", "some bird"];
    let mut text = "a,b,note,kind\n".to_string();
    for (row, line) in small_table(false).lines().skip(1).enumerate() {
        let (features, label) = line.rsplit_once(',').expect("a label");
        text += &format!(
            "{features},{} number {row} of them,{label}\n",
            words[row % 3]
        );
    }
    sandbox.write("t.csv", text);
    let arguments = [
        "fit",
        "t.csv",
        "--label",
        "kind",
        "--no-crossfit",
        "--out",
        "run",
        "--quiet",
    ];
    let answer = sandbox.run(&[&arguments[..], &sandbox::SMALL].concat());
    assert_eq!(answer.code, 0, "{answer:?}");
    assert!(answer.err.contains("warning: "), "{answer:?}");
    assert!(
        answer.err.lines().all(|line| line.starts_with("warning: ")),
        "{answer:?}"
    );
}

#[test]
fn sigterm_ends_with_143() {
    let sandbox = Sandbox::new();
    sandbox.write("t.csv", small_table(false));
    let child = sandbox.spawn(&[
        "fit",
        "t.csv",
        "--label",
        "kind",
        "--out",
        "run",
        "--max-steps",
        "1000000",
    ]);
    while !sandbox.path("run/config.toml").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let sent = std::process::Command::new("kill")
        .args(["-TERM", &child.id().to_string()])
        .status();
    assert!(sent.expect("kill").success());
    let output = child.wait_with_output().expect("ends");
    assert_eq!(output.status.code(), Some(143));
    assert!(sandbox.path("run/checkpoints/last.safetensors").exists());
}

#[test]
fn a_run_is_overwritten_only_when_asked_for() {
    let sandbox = small_run();
    let again = [
        "fit",
        "t.csv",
        "--label",
        "kind",
        "--no-crossfit",
        "--out",
        "run",
    ];
    let error = sandbox.error(&again);
    assert!(error.contains("--overwrite"), "{error}");
    sandbox.write("run/mine.txt", "kept");
    let seed = ["--seed", "7", "--overwrite"];
    sandbox.ok(&[&again[..], &sandbox::SMALL, &seed].concat());
    assert_eq!(sandbox.read("run/mine.txt"), b"kept");
    let settings = String::from_utf8(sandbox.read("run/config.toml")).expect("text");
    assert!(settings.contains("seed = 7"), "{settings}");
}

#[test]
fn a_network_that_cannot_fit_states_the_memory_it_needs() {
    let sandbox = Sandbox::new();
    sandbox.write("t.csv", small_table(false));
    let asked = ["fit", "t.csv", "--label", "kind", "--code", "100000000"];
    let error = sandbox.error(&asked);
    assert!(
        error.contains("GB of memory") && error.contains("100000000"),
        "{error}"
    );
}
