//! Pipes and standard input: nothing is lost, however often they are opened.

use super::{numbers, open, refused, table};
use cpcvae_data::{FileKind, ReadOptions, holds_images, open_path};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// A named pipe in a folder of its own, into which all of `content` is written once.
pub fn pipe(folder: &Path, name: &str, content: Vec<u8>) -> PathBuf {
    let path = folder.join(name);
    let made = Command::new("mkfifo").arg(&path).status().unwrap();
    assert!(made.success());
    let end = path.clone();
    std::thread::spawn(move || {
        // The reader may close the pipe before the end.
        let pipe = std::fs::OpenOptions::new().write(true).open(end);
        pipe.and_then(|mut pipe| pipe.write_all(&content)).ok();
    });
    path
}

/// Fails where `work` takes too long, such as when blocked by a pipe.
pub fn soon<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, wait) = mpsc::channel();
    std::thread::spawn(move || done.send(work()));
    let patience = Duration::from_secs(60);
    wait.recv_timeout(patience).expect("it hangs, or it failed")
}

fn lines(rows: usize) -> Vec<u8> {
    let rows = (0..rows).map(|row| format!("{row},{}\n", row % 3));
    format!("a,b\n{}", rows.collect::<String>()).into_bytes()
}

#[test]
fn a_pipe_is_read_once_and_opened_often() {
    let folder = tempfile::tempdir().unwrap();
    let path = pipe(folder.path(), "rows", lines(10_000));
    soon(move || {
        let options = ReadOptions::default();
        assert_eq!(FileKind::of(&path).unwrap(), FileKind::Text);
        assert!(!holds_images(&path, &options).unwrap());
        for _ in 0..2 {
            let table = table(open(&path, &options));
            assert_eq!((table.rows, &table.path), (10_000, &path));
            assert_eq!(numbers(&table.columns[0].cells)[..3], [0.0, 1.0, 2.0]);
        }
    });
}

#[test]
fn errors_name_the_pipe_and_its_size_is_limited() {
    let folder = tempfile::tempdir().unwrap();
    let bad = pipe(folder.path(), "bad", b"a,b\n1\n".to_vec());
    let long = pipe(folder.path(), "long", lines(10_000));
    soon(move || {
        refused(
            open(&bad, &ReadOptions::default()),
            &["bad, line 2: 1 cells"],
        );
        let tight = ReadOptions {
            most_bytes: 1000,
            ..ReadOptions::default()
        };
        refused(open(&long, &tight), &["long: ", "`data.most_bytes`"]);
    });
}

/// Not a test by itself: the next test runs it with input.
#[test]
#[ignore = "waits for standard input"]
fn a_child_reads_standard_input() {
    let options = ReadOptions::default();
    assert!(!holds_images("-", &options).unwrap());
    let Ok(cpcvae_data::Opened::Table(table)) = open_path("-", &options) else {
        panic!("not a table")
    };
    assert_eq!((table.rows, table.path.to_str()), (10_000, Some("stdin")));
    assert_eq!(numbers(&table.columns[0].cells)[9_999], 9_999.0);
}

#[test]
fn a_dash_is_standard_input() {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--ignored",
            "--exact",
            "pipes::a_child_reads_standard_input",
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&lines(10_000)).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("1 passed"), "{said}");
}
