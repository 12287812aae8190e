//! Files that are either wholly written or not there.

use crate::{DataError, Result};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Writes `bytes` under a temporary name beside `path`, then puts it in place.
pub(crate) fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    let temporary = with_suffix(path, ".tmp");
    let mut file = File::create(&temporary).map_err(DataError::file("create", &temporary))?;
    file.write_all(bytes)
        .map_err(DataError::file("write", &temporary))?;
    put_in_place(file, &temporary, path)
}

/// Syncs a finished temporary file to disk and renames it to its real name.
pub(crate) fn put_in_place(file: File, temporary: &Path, path: &Path) -> Result<()> {
    file.sync_all()
        .map_err(DataError::file("sync", temporary))?;
    drop(file);
    fs::rename(temporary, path).map_err(DataError::file("rename to its final name", temporary))?;
    // The rename lives in the folder. Not every system can sync a folder, and
    // the file's own content is already safe, so a refusal here is no error.
    if let Some(Ok(folder)) = path.parent().map(File::open) {
        let _ = folder.sync_all();
    }
    Ok(())
}

/// `path` with `suffix` appended to its file name.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
