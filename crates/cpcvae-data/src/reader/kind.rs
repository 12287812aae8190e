//! Detects the kind of a file: by its content, and by its name where the content is ambiguous.

use super::spool::Place;
use super::{ReadOptions, idx_images, unpack};
use crate::{Bytes, DataError, Result};
use std::io::Read;
use std::path::Path;

/// The kinds of files and folders that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A CSV or TSV table, plain, gzip or zstd.
    Text,
    /// A Parquet table.
    Parquet,
    /// One NumPy array.
    Npy,
    /// A zip of NumPy arrays.
    Npz,
    /// An HDF5 file, read as AnnData.
    Hdf5,
    /// A MATLAB file of level 5 with images, as SVHN has.
    Mat,
    /// Images in the IDX format of MNIST, plain or gzip.
    Idx,
    /// A folder with the four IDX files of MNIST.
    IdxFolder,
    /// A folder of images.
    ImageFolder,
    /// A zip of images.
    ImageZip,
}

/// How many bytes of a file are inspected.
const HEAD: u64 = 1024;

impl FileKind {
    /// Inspects a file or folder and says how to read it.
    pub fn of(path: impl AsRef<Path>) -> Result<FileKind> {
        let most_bytes = ReadOptions::default().most_bytes;
        Place::of(path.as_ref(), most_bytes)?.open(FileKind::of_regular)
    }

    fn of_regular(path: &Path) -> Result<FileKind> {
        if path.is_dir() {
            return Ok(match idx_images::is_folder(path) {
                true => FileKind::IdxFolder,
                false => FileKind::ImageFolder,
            });
        }
        let head = head_of(std::fs::File::open(path).map_err(DataError::file("open", path))?)
            .map_err(DataError::file("read", path))?;
        if head.is_empty() {
            return Err(DataError::content(path, "the file is empty"));
        }
        if head.starts_with(&unpack::GZIP_MAGIC) || head.starts_with(&unpack::ZSTD_MAGIC) {
            return inside_compressed(path);
        }
        match of_content(&head, path)? {
            Some(kind) => Ok(kind),
            None => of_text(&head, path),
        }
    }
}

fn head_of(reader: impl Read) -> std::io::Result<Vec<u8>> {
    let mut head = Vec::new();
    reader.take(HEAD).read_to_end(&mut head)?;
    Ok(head)
}

fn inside_compressed(path: &Path) -> Result<FileKind> {
    let head = head_of(unpack::open(path, HEAD + (1 << 17))?)
        .map_err(|source| unpack::read_error(path, source))?;
    match of_content(&head, path)? {
        None if head.is_empty() => Err(DataError::content(path, "the compressed file is empty")),
        None => of_text(&head, path),
        Some(FileKind::Idx) => Ok(FileKind::Idx),
        Some(kind) => Err(DataError::content(
            path,
            format!("the compressed file contains a {kind:?} file; decompress it first"),
        )),
    }
}

/// The kind by the magic bytes of formats.
fn of_content(head: &[u8], path: &Path) -> Result<Option<FileKind>> {
    const HDF5: &[u8] = b"\x89HDF\r\n\x1a\n";
    let refuse = |problem: &str| Err(DataError::content(path, problem));
    if head.starts_with(b"MATLAB 7.3") {
        return refuse(
            "this is a MATLAB 7.3 file; save it as version 7: save('file.mat', 'X', 'y', '-v7')",
        );
    }
    if [b"\x89PNG".as_slice(), b"\xff\xd8\xff"]
        .iter()
        .any(|magic| head.starts_with(magic))
    {
        return refuse("this is one image; name the folder that holds all of them");
    }
    Ok(Some(match head {
        _ if head.starts_with(b"PAR1") => FileKind::Parquet,
        _ if head.starts_with(b"\x93NUMPY") => FileKind::Npy,
        _ if head.starts_with(HDF5) || head.get(512..520) == Some(HDF5) => FileKind::Hdf5,
        _ if head.starts_with(b"MATLAB 5.0 MAT-file") => FileKind::Mat,
        [0, 0, 0x08, 1 | 3, ..] => FileKind::Idx,
        _ if head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06") => zip_kind(path)?,
        _ => return Ok(None),
    }))
}

fn zip_kind(path: &Path) -> Result<FileKind> {
    let bytes = Bytes::map(path)?;
    let archive = open_zip(&bytes, path)?;
    let holds = |wanted: &dyn Fn(&[u8]) -> bool| archive.file_names_raw().any(wanted);
    if holds(&|name| name == b"[Content_Types].xml") {
        return Err(DataError::content(
            path,
            "this is an Office document (an Excel workbook?); save the sheet as CSV",
        ));
    }
    Ok(match holds(&|name| name.ends_with(b".npy")) {
        true => FileKind::Npz,
        false => FileKind::ImageZip,
    })
}

/// A zip in memory or mapped; clones are cheap and read independently.
pub(super) type Zip<'a> = zip::ZipArchive<std::io::Cursor<&'a [u8]>>;

pub(super) fn open_zip<'a>(bytes: &'a [u8], path: &Path) -> Result<Zip<'a>> {
    zip::ZipArchive::new(std::io::Cursor::new(bytes)).map_err(|error| {
        DataError::content(
            path,
            format!("the zip file is cut short or damaged ({error}); get the file again"),
        )
    })
}

/// Text, unless it has bytes that text cannot have or a name that promises another kind.
fn of_text(head: &[u8], path: &Path) -> Result<FileKind> {
    let extension = path
        .extension()
        .unwrap_or_default()
        .to_string_lossy()
        .to_lowercase();
    let promised = match extension.as_str() {
        "parquet" | "pq" => Some("a Parquet file"),
        "npy" => Some("a NumPy array"),
        "npz" | "zip" => Some("a zip file"),
        "h5ad" | "h5" | "hdf5" => Some("an HDF5 file"),
        "mat" => Some("a MATLAB file of level 5"),
        _ => None,
    };
    if let Some(promised) = promised {
        return Err(DataError::content(
            path,
            format!("by its name this is {promised}, but its content is not; get the file again"),
        ));
    }
    if head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]) {
        return Err(DataError::content(
            path,
            "the text is UTF-16; save the file as UTF-8",
        ));
    }
    if head.contains(&0) {
        return Err(DataError::content(
            path,
            "unknown kind of file; CSV and TSV (also gzip and zstd), Parquet, NPY, NPZ, \
             AnnData (.h5ad), MATLAB 5, IDX, and folders or zips of images can be read",
        ));
    }
    Ok(FileKind::Text)
}
