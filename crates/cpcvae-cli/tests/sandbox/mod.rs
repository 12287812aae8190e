//! Runs the binary in a folder of its own.
// Each test file uses a part of this.
#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use tempfile::TempDir;

/// A small network and few steps: `fit` takes a moment.
pub const SMALL: [&str; 4] = ["--set", "model.hidden=[8]", "--max-steps", "30"];

/// A folder to work in, removed at the end.
pub struct Sandbox(TempDir);

/// The result of a command.
#[derive(Debug)]
pub struct Answer {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Sandbox {
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("has a folder")).expect("writable");
        std::fs::write(path, content).expect("writable");
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        let path = self.path(name);
        std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// The command, not yet started.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cpcvae"));
        command
            .args(arguments)
            .current_dir(self.0.path())
            .env_remove("CPCVAE_DATA")
            .env("HOME", self.0.path())
            .env("XDG_CACHE_HOME", self.path("cache"))
            .stdin(Stdio::null());
        command
    }

    /// Runs the command to its end. No input may make it panic.
    pub fn run(&self, arguments: &[&str]) -> Answer {
        let output = self.command(arguments).output().expect("the binary starts");
        self.answer(output)
    }

    /// Starts the command and leaves it running.
    pub fn spawn(&self, arguments: &[&str]) -> Child {
        self.command(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts")
    }

    pub fn answer(&self, output: Output) -> Answer {
        let text = |bytes| {
            let text = String::from_utf8(bytes).expect("answers are UTF-8");
            text.replace(&self.0.path().display().to_string(), "[DIR]")
        };
        let answer = Answer {
            code: output.status.code().unwrap_or(-1),
            out: text(output.stdout),
            err: text(output.stderr),
        };
        assert!(!answer.err.contains("panicked"), "{answer:?}");
        answer
    }

    /// Runs a command that must succeed, and returns its standard output.
    pub fn ok(&self, arguments: &[&str]) -> String {
        let answer = self.run(arguments);
        assert_eq!(answer.code, 0, "{arguments:?}: {answer:?}");
        answer.out
    }

    /// Runs a command that must fail, and returns its message after `error: `.
    pub fn error(&self, arguments: &[&str]) -> String {
        let answer = self.run(arguments);
        assert_eq!(answer.code, 1, "{arguments:?}: {answer:?}");
        let (_, error) = answer
            .err
            .split_once("error: ")
            .unwrap_or_else(|| panic!("{arguments:?}: {answer:?}"));
        error.trim_end().to_string()
    }

    /// `fit` with a small network.
    pub fn fit(&self, arguments: &[&str]) -> String {
        self.ok(&[&["fit"], arguments, &SMALL, &["--quiet"]].concat())
    }

    /// All files under a folder of the sandbox, with their content.
    pub fn files(&self, folder: &str) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files = Vec::new();
        collect(&self.path(folder), &mut files);
        files.sort();
        files
    }
}

fn collect(folder: &Path, files: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            let content = std::fs::read(&path).expect("readable");
            files.push((path, content));
        }
    }
}

/// A table of two clouds with text labels, of which `labelled` rows of each class have one.
pub fn two_clouds(rows: usize, labelled: usize) -> String {
    let mut text = String::from("id,width,height,kind\n");
    for row in 0..rows {
        let class = row % 2;
        let wobble = ((row * 37) % 11) as f32 / 10.0;
        let width = 100.0 * class as f32 + 10.0 * wobble;
        let height = 1.0 - wobble / 4.0;
        let kind = match (row / 2 < labelled, class) {
            (false, _) => "",
            (true, 0) => "red wine",
            (true, _) => "white",
        };
        text += &format!("{row},{width},{height},{kind}\n");
    }
    text
}

/// A table whose label is a straight line of its features, labelled in every other row.
pub fn straight_line(rows: usize) -> String {
    let mut text = String::from("a,b,price\n");
    for row in 0..rows {
        let (a, b) = ((row % 17) as f32 / 4.0, ((row * 5) % 13) as f32);
        let price = match row % 2 {
            0 => format!("{}", 1000.5 + 30.25 * a - 12.5 * b),
            _ => String::new(),
        };
        text += &format!("{a},{b},{price}\n");
    }
    text
}

/// 40 rows of two classes, of which every fourth has a label.
pub fn small_table(swapped: bool) -> String {
    let mut text = "a,b,kind\n".to_string();
    for row in 0..40 {
        let class = usize::from(row % 2 == 1);
        let name = ["low", "high"][class ^ usize::from(swapped)];
        let label = if row % 8 < 2 { name } else { "" };
        text += &format!("{}.5,{},{label}\n", class * 10 + row % 3, row);
    }
    text
}

/// A finished run on that table, which is `t.csv`.
pub fn small_run() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("t.csv", small_table(false));
    sandbox.fit(&["t.csv", "--label", "kind", "--no-crossfit", "--out", "run"]);
    sandbox
}

/// The lines of a CSV text, cell by cell.
pub fn cells(text: &str) -> Vec<Vec<String>> {
    text.lines()
        .map(|line| line.split(',').map(String::from).collect())
        .collect()
}

/// A table of two groups of rows with text labels in every third row.
pub fn two_groups() -> String {
    let row = |row: usize| {
        let label = match row % 3 {
            0 => ["low", "high"][row % 2],
            _ => "",
        };
        format!("{}.5,{},{label}\n", row % 2 * 9 + row % 5, row % 7)
    };
    let rows: String = (0..90).map(row).collect();
    format!("a,b,kind\n{rows}")
}
