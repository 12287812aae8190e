//! `cpcvae data`: the built-in data sets.

use crate::args::{DataArgs, DataCommand};
use crate::printer::{Printer, count};
use anyhow::{Result, bail};
use cpcvae::config::GLYPH_ROWS;
use cpcvae_data::GLYPH_TEST_ROWS;
use cpcvae_data::catalog::{self, Entry, Presence};
use cpcvae_lab::table::TextTable;
use std::path::Path;
use std::process::ExitCode;

/// Lists, describes, fetches or exports.
pub fn run(args: &DataArgs, printer: Printer) -> Result<ExitCode> {
    let data_dir = args
        .data_dir
        .clone()
        .unwrap_or_else(crate::data_dir::default);
    match &args.command {
        DataCommand::List => printer.write(list(&data_dir).as_bytes())?,
        DataCommand::Info { name } => {
            let entry = as_fitted(catalog::info(name, &data_dir)?);
            printer.write(told(&entry, &data_dir).as_bytes())?;
        }
        DataCommand::Fetch { name } => fetch(name, &data_dir, printer)?,
        DataCommand::Export(args) => super::data_export::run(args, &data_dir, printer)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn fetch(name: &str, data_dir: &Path, printer: Printer) -> Result<()> {
    let presence = catalog::info(name, data_dir)?.presence;
    let mut progress = |step: &str| printer.note(step);
    match name {
        "mnist" => cpcvae_data::fetch_mnist(data_dir, &mut progress)?,
        "svhn" => cpcvae_data::fetch_svhn(data_dir, &mut progress)?,
        _ if presence == Presence::Generated => {
            bail!("`{name}` is generated when it is asked for; there is nothing to fetch")
        }
        _ => {
            // Opening it says which files are missing, and where they are to be had.
            catalog::open(name, data_dir, 0)?;
        }
    }
    printer.write(format!("{name} is in {}\n", data_dir.display()).as_bytes())
}

/// Sizes as `fit` draws them.
fn as_fitted(mut entry: Entry) -> Entry {
    match entry.name {
        // With labels at random, as `fit` draws them unless told otherwise.
        "half-moon" => entry.test_rows = 1000,
        "glyphs" => (entry.rows, entry.test_rows) = (GLYPH_ROWS, GLYPH_TEST_ROWS),
        _ => {}
    }
    entry
}

fn list(data_dir: &Path) -> String {
    let rows = catalog::list(data_dir)
        .into_iter()
        .map(as_fitted)
        .map(|entry| {
            vec![
                entry.name.to_string(),
                count(entry.rows),
                count(entry.test_rows),
                entry.shape.to_string(),
                entry.classes.to_string(),
                presence(&entry),
            ]
        });
    let header = ["name", "rows", "test rows", "a row", "classes", "state"];
    TextTable {
        header: header.map(String::from).to_vec(),
        rows: rows.collect(),
    }
    .to_text()
}

fn presence(entry: &Entry) -> String {
    match entry.presence {
        Presence::Generated => "generated".into(),
        Presence::OnDisk => "on disk".into(),
        Presence::ToFetch => format!("to fetch: cpcvae data fetch {}", entry.name),
        Presence::ByHand => "to get by hand".into(),
    }
}

fn told(entry: &Entry, data_dir: &Path) -> String {
    let mut text = format!("{}\n\n{}\n\n", entry.name, wrapped(entry.description, 80));
    let facts = [
        (
            "rows",
            format!(
                "{} and {} for the test",
                count(entry.rows),
                count(entry.test_rows)
            ),
        ),
        ("a row", entry.shape.to_string()),
        ("classes", entry.classes.to_string()),
        ("state", presence(entry)),
    ];
    for (name, fact) in facts {
        text += &format!("{name:<8} {fact}\n");
    }
    if entry.presence != Presence::Generated {
        text += &format!("folder   {}\n", data_dir.display());
    }
    text
}

/// The words in lines of at most this many characters.
fn wrapped(words: &str, width: usize) -> String {
    let mut text = String::new();
    let mut column = 0;
    for word in words.split_whitespace() {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > width {
            text.push('\n');
            column = 0;
        } else if column > 0 {
            text.push(' ');
            column += 1;
        }
        text += word;
        column += length;
    }
    text
}
