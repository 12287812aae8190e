//! Users' files of every kind, good and bad.

#[cfg(feature = "h5ad")]
mod anndata;
mod arrays;
#[cfg(feature = "parquet")]
mod dates;
mod fuzz_corpora;
mod fuzz_seeds;
mod fuzz_targets;
mod image_labels;
mod images;
mod large;
mod matlab;
mod never_a_panic;
#[cfg(feature = "parquet")]
mod parquet_tables;
#[cfg(unix)]
mod pipes;
mod real_files;
mod texts;
mod write;

use cpcvae_data::{Cells, ImageSet, Opened, RawColumn, RawTable, ReadOptions, open_path};
use std::path::Path;

/// Writes a file under the name and opens it; messages come without the folder.
fn open_named(name: &str, content: &[u8], options: &ReadOptions) -> Result<Opened, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    open(&path, options)
}

fn open(path: &Path, options: &ReadOptions) -> Result<Opened, String> {
    let folder = format!("{}/", path.parent().unwrap().display());
    open_path(path, options).map_err(|error| error.to_string().replace(&folder, ""))
}

fn table(opened: Result<Opened, String>) -> RawTable {
    match opened {
        Ok(Opened::Table(table)) => table,
        other => panic!("not a table: {other:?}"),
    }
}

fn images(opened: Result<Opened, String>) -> ImageSet {
    match opened {
        Ok(Opened::Images(images)) => images,
        other => panic!("not images: {other:?}"),
    }
}

/// Asserts that opening fails, with all of the parts in the message.
#[track_caller]
fn refused(opened: Result<Opened, String>, parts: &[&str]) {
    let message = opened.expect_err("this should not open");
    for part in parts {
        assert!(message.contains(part), "`{part}` is not in: {message}");
    }
}

fn names(table: &RawTable) -> Vec<&str> {
    table
        .columns
        .iter()
        .map(|column| column.name.as_str())
        .collect()
}

/// The cells as numbers, whatever their type; NaN for text that is not a number.
fn numbers(cells: &Cells) -> Vec<f64> {
    let of_text = |text: &str| match text {
        "true" => 1.0,
        "false" => 0.0,
        text => text.parse().unwrap_or(f64::NAN),
    };
    match cells {
        Cells::Numbers(cells) => cells.clone(),
        Cells::Packed(cells) => cells.iter().collect(),
        cells => texts(cells).iter().map(|text| of_text(text)).collect(),
    }
}

/// The cells as texts, whatever their type.
fn texts(cells: &Cells) -> Vec<String> {
    let column = RawColumn {
        name: String::new(),
        cells: cells.clone(),
    };
    (0..cells.len()).map(|row| column.text(row)).collect()
}

fn texts_of(list: &[&str]) -> Cells {
    Cells::Texts(list.iter().map(|text| text.to_string()).collect())
}
