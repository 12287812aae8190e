//! The image files of a folder or a zip, by name.

use super::kind::{Zip, open_zip};
use super::unpack;
use crate::{DataError, Result};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Cursor, Seek};
use std::path::{Path, PathBuf};

/// Deeper folders are not looked into: a link may lead round in circles.
const MOST_FOLDERS: usize = 12;

/// What ends the name of an image.
const DECODED: [&str; 6] = ["png", "jpg", "jpeg", "bmp", "tif", "tiff"];
/// What ends the name of an image that is named as skipped instead of passed over in silence.
const NOT_DECODED: [&str; 5] = ["gif", "webp", "heic", "avif", "jp2"];

/// A file that can be read from any place.
pub(super) trait Input: BufRead + Seek {}
impl<T: BufRead + Seek> Input for T {}

/// Image files with their paths below the folder or zip, separated by `/` and sorted.
pub(super) struct ImageFiles<'a> {
    pub(super) names: Vec<String>,
    place: Place<'a>,
}

enum Place<'a> {
    Folder(Vec<PathBuf>),
    Zip {
        zip: Zip<'a>,
        entries: Vec<usize>,
        most_bytes: u64,
    },
}

impl<'a> ImageFiles<'a> {
    /// The images of a folder and its sub-folders.
    pub(super) fn in_folder(root: &Path) -> Result<ImageFiles<'a>> {
        let mut found = Vec::new();
        list(root, "", 0, &mut found)?;
        found.sort_unstable();
        let (names, paths) = found.into_iter().unzip();
        Ok(ImageFiles {
            names,
            place: Place::Folder(paths),
        })
    }

    /// The images of a zip, which together may unpack to `most_bytes`.
    pub(super) fn in_zip(bytes: &'a [u8], path: &Path, most_bytes: u64) -> Result<ImageFiles<'a>> {
        let zip = open_zip(bytes, path)?;
        let mut found = Vec::new();
        let mut declared = 0u64;
        for entry in 0..zip.len() {
            let data = zip.by_index_data(entry).map_err(|error| {
                DataError::content(path, format!("the zip file is damaged ({error})"))
            })?;
            let name = String::from_utf8_lossy(data.name_raw()).into_owned();
            if is_image(&name) {
                declared = declared.saturating_add(data.size());
                found.push((name, entry));
            }
        }
        if declared > most_bytes {
            return Err(unpack::read_error(path, unpack::too_large(most_bytes)));
        }
        found.sort_unstable();
        let (names, entries) = found.into_iter().unzip();
        Ok(ImageFiles {
            names,
            place: Place::Zip {
                zip,
                entries,
                most_bytes,
            },
        })
    }

    /// Opens one of the files.
    pub(super) fn open(&self, place: usize) -> io::Result<Box<dyn Input>> {
        if let Some(extension) = undecodable(&self.names[place]) {
            let problem = format!("{extension} images are not read; convert it to PNG");
            return Err(io::Error::new(io::ErrorKind::Unsupported, problem));
        }
        match &self.place {
            Place::Folder(paths) => Ok(Box::new(BufReader::new(File::open(&paths[place])?))),
            Place::Zip {
                zip,
                entries,
                most_bytes,
            } => {
                let mut zip = zip.clone();
                let entry = zip.by_index(entries[place]).map_err(io::Error::other)?;
                // An entry that unpacks to more than it declares is damaged or a trap.
                let most = entry.size().min(*most_bytes);
                let bytes = unpack::read_all(entry, most).map_err(|error| match error.kind() {
                    io::ErrorKind::FileTooLarge => {
                        io::Error::other("it unpacks to more than the zip declares")
                    }
                    _ => error,
                })?;
                Ok(Box::new(Cursor::new(bytes)))
            }
        }
    }
}

fn list(
    folder: &Path,
    prefix: &str,
    depth: usize,
    found: &mut Vec<(String, PathBuf)>,
) -> Result<()> {
    for entry in fs::read_dir(folder).map_err(DataError::file("list", folder))? {
        let path = entry.map_err(DataError::file("list", folder))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = format!("{prefix}{name}");
        if path.is_dir() {
            if depth < MOST_FOLDERS {
                list(&path, &format!("{name}/"), depth + 1, found)?;
            }
        } else if is_image(&name) {
            found.push((name, path));
        }
    }
    Ok(())
}

fn extension(name: &str) -> String {
    Path::new(name)
        .extension()
        .unwrap_or_default()
        .to_string_lossy()
        .to_lowercase()
}

/// Whether a path is an image's, by its name; what systems and archivers hide is not.
fn is_image(name: &str) -> bool {
    let hidden = |part: &str| part.starts_with('.') || part == "__MACOSX";
    let extension = extension(name);
    let known = DECODED
        .iter()
        .chain(&NOT_DECODED)
        .any(|known| *known == extension);
    known && !name.split('/').any(hidden)
}

fn undecodable(name: &str) -> Option<&'static str> {
    let extension = extension(name);
    NOT_DECODED.into_iter().find(|known| *known == extension)
}
