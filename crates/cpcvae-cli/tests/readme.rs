//! What README shows: its Rust code, and its commands for a table.

mod sandbox;

use cpcvae::prelude::*;
use flate2::{Compression, write::GzEncoder};
use sandbox::Sandbox;
use std::io::Write;

const README: &str = include_str!("../../../README.md");

/// The lines of README's block that starts with `fence` and contains `part`.
fn block(fence: &str, part: &str) -> Vec<&'static str> {
    let mut blocks = README.split(fence).skip(1).map(|rest| {
        let end = rest.find("```").expect("a block has an end");
        &rest[..end]
    });
    let found = blocks.find(|block| block.contains(part));
    found
        .expect("README has the block")
        .trim()
        .lines()
        .collect()
}

/// Three classes of rows; in `table.csv.gz` one row in three has its label.
fn write_tables(sandbox: &Sandbox) {
    let row = |i: usize, x: &str, label: &str| format!("{x},{}.5,{label}\n", i % 7 + 5 * (i % 3));
    let rows = (0..120).map(|i| {
        let label = if i % 9 < 3 {
            ["1", "2", "3"][i % 3]
        } else {
            ""
        };
        row(i, &format!("{}.25", i % 5 + 9 * (i % 3)), label)
    });
    let mut file = GzEncoder::new(Vec::new(), Compression::fast());
    write!(file, "x,y,class\n{}", rows.collect::<String>()).expect("memory");
    sandbox.write("table.csv.gz", file.finish().expect("memory"));
    let new = |i: usize| row(i, &format!("{}.75", i % 5 + 9 * (i % 3)), "");
    let new: String = (0..9).map(new).collect();
    sandbox.write("new.csv", format!("x,y,class\n{new}"));
    sandbox.write("gaps.csv", format!("x,y,class\n{}", row(0, "", "")));
}

/// README's lines, which are compiled here.
fn from_rust() -> cpcvae::error::Result<()> {
    let data = Dataset::read("table.csv.gz", Label::column("class"))?;
    let fitted = Cpc::new().seed(1).fit(&data)?;
    let answers = fitted.predict(&fitted.read("new.csv")?)?;
    println!("{}", answers.line(0));
    fitted.save("runs/table")?;
    Ok(())
}

#[test]
fn the_rust_code_works_as_written() {
    let ours = include_str!("readme.rs");
    for line in block("```rust\n", "Cpc::new()") {
        let code = line.split("//").next().expect("a part").trim();
        assert!(ours.contains(code), "README has another line: {code}");
    }
    let sandbox = Sandbox::new();
    write_tables(&sandbox);
    std::env::set_current_dir(sandbox.path("")).expect("a folder");
    from_rust().unwrap_or_else(|error| panic!("{error}"));
    let said = sandbox.ok(&["predict", "runs/table", "new.csv"]);
    assert_eq!(said.lines().count(), 10, "{said}");
}

#[test]
fn the_commands_for_a_table_work_as_written() {
    let sandbox = Sandbox::new();
    write_tables(&sandbox);
    let commands = block("```console\n", "cpcvae fit table.csv.gz");
    assert!(commands.len() > 5);
    for line in commands {
        let command = line.split('#').next().expect("a part").trim();
        let words: Vec<&str> = command.split_whitespace().collect();
        assert_eq!(words[..2], ["$", "cpcvae"], "{line}");
        sandbox.ok(&words[2..]);
    }
    for written in ["answers.csv", "filled.csv", "codes.csv", "more.csv"] {
        assert!(sandbox.path(written).exists(), "{written}");
    }
}
