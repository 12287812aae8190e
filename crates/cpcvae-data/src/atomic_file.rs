//! Atomic file writes: a file is either completely written or absent.

use crate::{DataError, Result};
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Writes `bytes` to a temporary file beside `path` and renames it: after a crash at any point, a
/// reader sees the old file or the new one.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    write_through(path, |file| {
        file.write_all(bytes).map_err(cannot_write(path))
    })
}

/// Like [`write_atomically`], with the content written by `write`; if that fails, the temporary
/// file is removed.
///
/// A symbolic link is kept and its target is replaced. Anything that is not a regular file (a
/// device, a pipe) is written to directly, since a rename would put a file in its place.
pub fn write_through<E: From<DataError>>(
    path: &Path,
    write: impl FnOnce(&mut File) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let is_special = |found: fs::Metadata| !found.is_file() && !found.is_dir();
    if fs::metadata(path).is_ok_and(is_special) {
        let opened = OpenOptions::new().write(true).open(path);
        return write(&mut opened.map_err(cannot_write(path))?);
    }
    let target = behind_links(path);
    let temporary = with_suffix(&target, &format!(".{}.tmp", std::process::id()));
    let whole = || {
        let mut file = File::create(&temporary).map_err(cannot_write(path))?;
        write(&mut file)?;
        Ok(put_in_place(file, &temporary, &target)?)
    };
    whole().inspect_err(|_| {
        let _ = fs::remove_file(&temporary);
    })
}

/// The target of a symbolic link, which need not exist yet.
fn behind_links(path: &Path) -> PathBuf {
    match (path.canonicalize(), fs::read_link(path)) {
        (Ok(target), Ok(_)) => target,
        (Err(_), Ok(named)) => path.parent().unwrap_or(Path::new("")).join(named),
        (_, Err(_)) => path.to_owned(),
    }
}

/// Syncs a finished temporary file to disk and renames it to its real name.
pub(crate) fn put_in_place(file: File, temporary: &Path, path: &Path) -> Result<()> {
    file.sync_all().map_err(cannot_write(path))?;
    drop(file);
    fs::rename(temporary, path).map_err(cannot_write(path))?;
    sync_name(path);
    Ok(())
}

/// Creates a folder and those above it, as far as they are missing. After a power failure they are
/// still there.
pub fn create_folder(path: &Path) -> std::io::Result<()> {
    let missing: Vec<&Path> = path.ancestors().take_while(|part| !part.exists()).collect();
    fs::create_dir_all(path)?;
    missing.into_iter().rev().for_each(sync_name);
    Ok(())
}

/// Syncs the folder of a file or folder, which stores its name: a new or renamed file may otherwise
/// be gone after a power failure. Some systems cannot sync a folder; the content is safe without it,
/// so that error is ignored.
pub fn sync_name(path: &Path) {
    let folder = match path.parent() {
        Some(folder) if folder == Path::new("") => Path::new("."),
        Some(folder) => folder,
        None => return,
    };
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
}

/// `path` with `suffix` appended to its file name.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn cannot_write(path: &Path) -> impl Fn(std::io::Error) -> DataError + '_ {
    move |error| DataError::content(path, format!("cannot be written: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_that_fails_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.csv");
        write_atomically(&path, b"old").unwrap();
        let failed = write_through(&path, |file| {
            file.write_all(b"half of the n").unwrap();
            Err(DataError::content(&path, "no more rows"))
        });
        assert!(failed.is_err());
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error_with_the_path() {
        let error = write_atomically(Path::new("no/where.csv"), b"").unwrap_err();
        let text = error.to_string();
        assert!(
            text.starts_with("no/where.csv: cannot be written"),
            "{text}"
        );
    }
}
