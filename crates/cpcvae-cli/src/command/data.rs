//! `cpcvae data`: the built-in data sets.

use crate::args::{DataArgs, DataCommand};
use crate::exit::ExitCode;
use crate::printer::{Printer, count};
use anyhow::{Result, bail};
use cpcvae::config::RunConfig;
use cpcvae_data::DataName;
use cpcvae_data::catalog::{self, Entry, Presence};
use cpcvae_lab::table::TextTable;
use std::path::Path;

/// Lists, describes, fetches or exports.
pub(crate) fn run(args: &DataArgs, printer: Printer) -> Result<ExitCode> {
    let data_dir = args
        .data_dir
        .clone()
        .unwrap_or_else(crate::data_dir::default);
    match &args.command {
        DataCommand::List => printer.write(list(&data_dir).as_bytes())?,
        DataCommand::Info { name } => {
            let entry = catalog::info(name, &data_dir)?;
            printer.write(description(&entry, &data_dir).as_bytes())?;
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
            bail!("`{name}` is generated on demand; there is nothing to fetch")
        }
        _ => {
            // Opening it reports which files are missing, and where to get them.
            let data = DataName::parse(name)?;
            if let Some(built_in) = data.built_in() {
                let config = RunConfig::for_built_in_data("vae", built_in)?;
                data.open(&config.data, config.seed, data_dir, false)?;
            }
        }
    }
    printer.write(format!("{name} is in {}\n", data_dir.display()).as_bytes())
}

fn list(data_dir: &Path) -> String {
    let rows = catalog::list(data_dir).into_iter().map(|entry| {
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

fn description(entry: &Entry, data_dir: &Path) -> String {
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

/// Wraps the words into lines of at most this many characters.
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
