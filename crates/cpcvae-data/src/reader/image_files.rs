//! The image files of a folder or a zip, by name.

use super::kind::{Zip, open_zip};
use super::unpack;
use crate::{DataError, Result};
use std::collections::{BTreeSet, HashSet};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Cursor, Seek};
use std::path::{Path, PathBuf};

/// Deeper folders are not searched.
const MOST_FOLDERS: usize = 12;

/// File extensions of images.
const DECODED: [&str; 6] = ["png", "jpg", "jpeg", "bmp", "tif", "tiff"];
/// File extensions of images that cannot be decoded and are reported as skipped.
const NOT_DECODED: [&str; 5] = ["gif", "webp", "heic", "avif", "jp2"];

/// A seekable buffered file.
pub(super) trait Input: BufRead + Seek {}
impl<T: BufRead + Seek> Input for T {}

/// Image files with their paths below the folder or zip, separated by `/` and sorted.
pub(super) struct ImageFiles<'a> {
    pub(super) names: Vec<String>,
    /// Files with the extension of an image, or links to images, that are left out; and why.
    pub(super) skipped: Vec<(String, String)>,
    place: Place<'a>,
}

enum Place<'a> {
    Folder(Vec<PathBuf>),
    Zip { zip: Zip<'a>, entries: Vec<usize> },
}

impl<'a> ImageFiles<'a> {
    /// The images of a folder and its sub-folders.
    pub(super) fn in_folder(root: &Path) -> Result<ImageFiles<'a>> {
        let mut listing = Listing::default();
        listing.add(root, "", 0)?;
        // Links after all real folders, since classes are named by the real ones.
        while let Some((name, path, depth)) = listing.links.pop_first() {
            listing.add(&path, &name, depth)?;
        }
        let Listing {
            mut found,
            mut skipped,
            ..
        } = listing;
        found.sort_unstable();
        skipped.sort_unstable();
        let (names, paths) = found.into_iter().unzip();
        Ok(ImageFiles {
            names,
            skipped,
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
            skipped: Vec::new(),
            place: Place::Zip { zip, entries },
        })
    }

    /// Opens one of the files, unless it is larger than an image may be.
    pub(super) fn open(&self, place: usize, most_bytes: u64) -> io::Result<Box<dyn Input>> {
        if let Some(extension) = undecodable(&self.names[place]) {
            let problem = format!("{extension} images are not read; convert it to PNG");
            return Err(io::Error::new(io::ErrorKind::Unsupported, problem));
        }
        match &self.place {
            Place::Folder(paths) => {
                let file = File::open(&paths[place])?;
                check_size(file.metadata()?.len(), most_bytes)?;
                Ok(Box::new(BufReader::new(file)))
            }
            Place::Zip { zip, entries } => {
                let mut zip = zip.clone();
                let entry = zip.by_index(entries[place]).map_err(io::Error::other)?;
                check_size(entry.size(), most_bytes)?;
                // An entry that unpacks to more than it declares is damaged or malicious.
                let most = entry.size();
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

fn check_size(bytes: u64, most_bytes: u64) -> io::Result<()> {
    match bytes > most_bytes {
        true => Err(io::Error::other(format!(
            "its {bytes} bytes are more than the {most_bytes} that an image may have"
        ))),
        false => Ok(()),
    }
}

/// The entries found in a folder and its subfolders.
#[derive(Default)]
struct Listing {
    found: Vec<(String, PathBuf)>,
    skipped: Vec<(String, String)>,
    /// Links to folders, with the prefix of the names in them and their depth.
    links: BTreeSet<(String, PathBuf, usize)>,
    /// Folders that have been listed, by their real paths: links may form cycles.
    listed: HashSet<PathBuf>,
}

impl Listing {
    fn add(&mut self, folder: &Path, prefix: &str, depth: usize) -> Result<()> {
        let real = folder
            .canonicalize()
            .map_err(DataError::file("list", folder))?;
        if !self.listed.insert(real) {
            let why = "it is a link to a folder that is read already";
            let name = prefix.trim_end_matches('/').to_string();
            self.skipped.push((name, why.into()));
            return Ok(());
        }
        for entry in fs::read_dir(folder).map_err(DataError::file("list", folder))? {
            let path = entry.map_err(DataError::file("list", folder))?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let name = format!("{prefix}{name}");
            if path.is_dir() {
                let below = format!("{name}/");
                if depth >= MOST_FOLDERS {
                    continue;
                }
                match path.is_symlink() {
                    true => drop(self.links.insert((below, path, depth + 1))),
                    false => self.add(&path, &below, depth + 1)?,
                }
            } else if is_image(&name) {
                // Opening a pipe could block forever.
                match path.is_file() || !path.exists() {
                    true => self.found.push((name, path)),
                    false => self.skipped.push((name, "it is not a regular file".into())),
                }
            }
        }
        Ok(())
    }
}

fn extension(name: &str) -> String {
    Path::new(name)
        .extension()
        .unwrap_or_default()
        .to_string_lossy()
        .to_lowercase()
}

/// Whether a name is an image's; hidden files of systems and archivers are not.
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
