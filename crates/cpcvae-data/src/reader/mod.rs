//! Readers of users' files: from a path to a table or a set of images.
//!
//! [`open_path`] detects the kind of file, picks the reader, and returns the content without
//! interpreting it: which column is the label and what kind each column is are decided later.

#[cfg(feature = "h5ad")]
mod anndata_columns;
mod csv;
#[cfg(feature = "h5ad")]
mod h5ad;
mod idx_images;
mod image_files;
mod image_labels;
mod images;
mod jpeg;
mod kind;
mod mat;
mod mat_array;
mod npy;
mod npz;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "parquet")]
mod parquet_cells;
mod spool;
mod unpack;

use crate::memory::most_memory;
use crate::{DataError, ImageSet, MEMORY_BUDGET, RawTable, Result};
pub use csv::read_csv;
pub use kind::FileKind;
use spool::Place;
use std::path::{Path, PathBuf};

/// How to read a file. Options for other kinds of files are ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadOptions {
    /// Text: the delimiter. By default a tab in `.tsv` files, else the most frequent of comma,
    /// semicolon and tab in the header line.
    pub delimiter: Option<char>,
    /// Tables: columns to leave out when reading. All must exist.
    pub ignore: Vec<String>,
    /// NPZ: the array of features; by default `X` or `x`.
    pub features_name: Option<String>,
    /// NPZ: the array of labels, by default `y` if there is one. Label tables of images: the label
    /// column; several are joined into one class.
    pub label_names: Vec<String>,
    /// Images: the table that names files and their labels; for IDX images their IDX labels.
    pub labels_file: Option<PathBuf>,
    /// Images: crop to the square in the middle and resize to this many pixels a side.
    pub size: Option<usize>,
    /// Images: convert colour to grey.
    pub gray: bool,
    /// Images: refuse the set when an image cannot be decoded, instead of leaving that image out.
    pub strict: bool,
    /// The most bytes that a compressed file may unpack to, or a pipe may deliver.
    pub most_bytes: u64,
    /// The most bytes of memory that a table of text, an array that is read as a whole, or the
    /// images that are decoded at a time may take: half of the machine's, unless the environment
    /// variable `CPCVAE_MEMORY` says another number of bytes.
    pub most_memory: u64,
    /// Above this many bytes, unpacked or decoded data is kept in a temporary file that is mapped
    /// into memory.
    pub memory_budget: u64,
}

impl Default for ReadOptions {
    fn default() -> ReadOptions {
        ReadOptions {
            delimiter: None,
            ignore: Vec::new(),
            features_name: None,
            label_names: Vec::new(),
            labels_file: None,
            size: None,
            gray: false,
            strict: false,
            most_bytes: 16 << 30,
            most_memory: most_memory(),
            memory_budget: MEMORY_BUDGET,
        }
    }
}

/// The content of a file or folder.
#[derive(Debug)]
pub enum Opened {
    /// Named columns.
    Table(RawTable),
    /// Images of one size.
    Images(ImageSet),
    /// Images with separate training and test sets.
    ImagesWithTest {
        /// The images to learn from.
        rows: ImageSet,
        /// The images to test on.
        test: ImageSet,
    },
}

impl ReadOptions {
    /// The most bytes that data held in memory may unpack to.
    fn most_in_memory(&self) -> u64 {
        self.most_bytes.min(self.most_memory)
    }
}

/// Reads a file or folder of any kind that [`FileKind`] lists. `-` is standard input. Standard
/// input and pipes are read once, into a temporary file that lives as long as the process and can
/// be opened repeatedly.
pub fn open_path(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Opened> {
    let place = Place::of(path.as_ref(), options.most_bytes)?;
    let labels = options.labels_file.as_deref();
    let labels = labels.map(|labels| Place::of(labels, options.most_bytes));
    let labels = labels.transpose()?;
    let options = ReadOptions {
        labels_file: labels.as_ref().map(|labels| labels.path.clone()),
        ..options.clone()
    };
    let opened = place.open(|path| open_regular(path, &options));
    let mut opened = opened.map_err(|error| match &labels {
        Some(labels) => error.renamed(&labels.path, &labels.shown),
        None => error,
    })?;
    match &mut opened {
        Opened::Table(table) => table.path = place.shown,
        Opened::Images(rows) => rows.path = place.shown,
        Opened::ImagesWithTest { rows, test } => {
            test.path = place.shown.clone();
            rows.path = place.shown;
        }
    }
    Ok(opened)
}

fn open_regular(path: &Path, options: &ReadOptions) -> Result<Opened> {
    match FileKind::of(path)? {
        FileKind::Text => csv::read(path, options).map(Opened::Table),
        FileKind::Npy => npz::read_npy(path, options),
        FileKind::Npz => npz::read_npz(path, options),
        FileKind::Parquet => open_parquet(path, options),
        FileKind::Hdf5 => open_h5ad(path, options),
        FileKind::Mat => mat::read(path, options).map(Opened::Images),
        FileKind::Idx => idx_images::read(path, options).map(Opened::Images),
        FileKind::IdxFolder => idx_images::read_folder(path, options),
        FileKind::ImageFolder => images::read_folder(path, options),
        FileKind::ImageZip => images::read_zip(path, options),
    }
}

/// Whether a file or folder holds images instead of a table. Arrays have to be opened to find out.
pub fn holds_images(path: impl AsRef<Path>, options: &ReadOptions) -> Result<bool> {
    let path = path.as_ref();
    // A pipe is first read here, under the limit of the options.
    Place::of(path, options.most_bytes)?;
    Ok(match FileKind::of(path)? {
        FileKind::Text | FileKind::Parquet | FileKind::Hdf5 => false,
        FileKind::Npy | FileKind::Npz => {
            let as_they_are = ReadOptions {
                size: None,
                gray: false,
                ..options.clone()
            };
            !matches!(open_path(path, &as_they_are)?, Opened::Table(_))
        }
        FileKind::Mat | FileKind::Idx | FileKind::IdxFolder => true,
        FileKind::ImageFolder | FileKind::ImageZip => true,
    })
}

#[cfg(feature = "parquet")]
fn open_parquet(path: &Path, options: &ReadOptions) -> Result<Opened> {
    guarded(path, || parquet::read(path, options)).map(Opened::Table)
}

#[cfg(not(feature = "parquet"))]
fn open_parquet(path: &Path, _: &ReadOptions) -> Result<Opened> {
    Err(not_built_in(path, "Parquet", "parquet", "CSV or NPZ"))
}

#[cfg(feature = "h5ad")]
fn open_h5ad(path: &Path, options: &ReadOptions) -> Result<Opened> {
    guarded(path, || h5ad::read(path, options)).map(Opened::Table)
}

#[cfg(not(feature = "h5ad"))]
fn open_h5ad(path: &Path, _: &ReadOptions) -> Result<Opened> {
    Err(not_built_in(path, "AnnData (HDF5)", "h5ad", "NPZ"))
}

/// Runs a reader whose third-party decoder may panic on a damaged file, and turns the panic into an
/// error.
#[cfg(any(feature = "parquet", feature = "h5ad"))]
fn guarded<T>(path: &Path, read: impl FnOnce() -> Result<T>) -> Result<T> {
    // The closure only reads what it borrows, and its partial result is dropped.
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(read)).unwrap_or_else(|_| {
        let problem = "the file is damaged and its decoder failed; get the file again";
        Err(DataError::content(path, problem))
    })
}

#[cfg(any(not(feature = "parquet"), not(feature = "h5ad")))]
fn not_built_in(path: &Path, format: &str, feature: &str, instead: &str) -> DataError {
    DataError::content(
        path,
        format!(
            "this build does not read {format}; build it with `--features {feature}`, or save the \
             data as {instead}"
        ),
    )
}

/// The name of the data in a file or folder: the file name without format extensions.
pub fn name_of(path: impl AsRef<Path>) -> String {
    const ENDINGS: [&str; 11] = [
        ".gz", ".zst", ".csv", ".tsv", ".parquet", ".pq", ".npy", ".npz", ".h5ad", ".zip", ".mat",
    ];
    // Shell pipes have numbers for names.
    if ["/dev", "/proc"]
        .iter()
        .any(|folder| path.as_ref().starts_with(folder))
    {
        return "data".into();
    }
    let name = path.as_ref().file_name().unwrap_or_default();
    let mut name = name.to_string_lossy().into_owned();
    if name == spool::STDIN {
        return "stdin".into();
    }
    // A compressed table has two extensions.
    for _ in 0..2 {
        let ending = ENDINGS.iter().find(|ending| name.ends_with(**ending));
        name.truncate(name.len() - ending.map_or(0, |ending| ending.len()));
    }
    match name.is_empty() {
        true => "data".into(),
        false => name,
    }
}

/// Which columns to leave out; a name that does not exist is an error.
pub(crate) fn left_out(path: &Path, names: &[String], ignore: &[String]) -> Result<Vec<bool>> {
    let unknown = ignore.iter().filter(|name| !names.contains(name));
    let unknown: Vec<String> = unknown.map(|name| format!("`{name}`")).collect();
    if let Some(first) = unknown.first() {
        return Err(DataError::Table {
            path: path.to_path_buf(),
            place: "header".into(),
            problem: format!(
                "there is no column {} to ignore; {}",
                unknown.join(", "),
                near(names, first.trim_matches('`'))
            ),
        });
    }
    Ok(names.iter().map(|name| ignore.contains(name)).collect())
}

/// All names where they are few, otherwise those most similar to `name`.
pub(crate) fn near(names: &[String], name: &str) -> String {
    const MOST_LISTED: usize = 20;
    if names.len() <= MOST_LISTED {
        return format!("there are: {}", names.join(", "));
    }
    let likeness = |other: &str| strsim::jaro_winkler(name, other);
    let mut nearest: Vec<&str> = names.iter().map(String::as_str).collect();
    nearest.sort_by(|a, b| likeness(b).total_cmp(&likeness(a)));
    nearest.truncate(5);
    format!("the nearest of {} are: {}", names.len(), nearest.join(", "))
}

/// The first name that occurs twice.
pub(crate) fn repeated(names: &[String]) -> Option<&String> {
    let mut seen = std::collections::HashSet::new();
    names.iter().find(|name| !seen.insert(name.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_the_endings_of_formats_only() {
        let names = [
            "a/iris.csv.gz",
            "v1.2/x.h5ad",
            "photos/",
            "t10k-idx3-ubyte.gz",
            "a.b.tsv",
            ".",
            "-",
            "/dev/fd/63",
        ];
        let found = names.map(name_of);
        assert_eq!(
            found,
            [
                "iris",
                "x",
                "photos",
                "t10k-idx3-ubyte",
                "a.b",
                "data",
                "stdin",
                "data"
            ]
        );
    }
}
