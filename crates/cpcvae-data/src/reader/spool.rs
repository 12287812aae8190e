//! Pipes and standard input: copied once to a temporary file, which is opened in their place.

use super::unpack;
use crate::mapped::in_cache as in_temporary;
use crate::{DataError, Result};
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The name of standard input.
pub(super) const STDIN: &str = "-";

/// A path that can be opened repeatedly, and its name for messages.
pub(super) struct Place {
    /// The path to open.
    pub(super) path: PathBuf,
    /// The name for messages.
    pub(super) shown: PathBuf,
}

/// Temporary files by the paths that they stand for. They live as long as the process: a pipe
/// cannot be read again.
static SPOOLED: Mutex<Option<HashMap<PathBuf, Kept>>> = Mutex::new(None);

/// A temporary file and its path.
struct Kept {
    path: PathBuf,
    /// Keeps a nameless file open.
    _file: Option<File>,
}

impl Place {
    /// The path itself, or for what can be read only once a temporary file of at most `most_bytes`.
    pub(super) fn of(path: &Path, most_bytes: u64) -> Result<Place> {
        let is_stdin = path == Path::new(STDIN);
        let is_plain = |data: fs::Metadata| data.is_file() || data.is_dir();
        // The reader reports a missing file.
        if !is_stdin && fs::metadata(path).map_or(true, is_plain) {
            return Ok(Place {
                path: path.to_path_buf(),
                shown: path.to_path_buf(),
            });
        }
        let shown = PathBuf::from(if is_stdin { Path::new("stdin") } else { path });
        let mut all = SPOOLED.lock().unwrap_or_else(PoisonError::into_inner);
        let all = all.get_or_insert_default();
        if let Some(kept) = all.get(path) {
            let path = kept.path.clone();
            return Ok(Place { path, shown });
        }
        let kept = match is_stdin {
            true => spool(io::stdin().lock(), most_bytes, &shown)?,
            false => {
                let pipe = File::open(path).map_err(DataError::file("open", path))?;
                spool(pipe, most_bytes, &shown)?
            }
        };
        let place = kept.path.clone();
        all.insert(path.to_path_buf(), kept);
        Ok(Place { path: place, shown })
    }

    /// Opens the file, with errors that name the path as the user knows it.
    pub(super) fn open<T>(&self, open: impl FnOnce(&Path) -> Result<T>) -> Result<T> {
        open(&self.path).map_err(|error| error.renamed(&self.path, &self.shown))
    }
}

fn spool(mut pipe: impl Read, most_bytes: u64, shown: &Path) -> Result<Kept> {
    let (mut file, kept) = temporary()?;
    let mut buffer = vec![0; 1 << 16];
    let mut left = most_bytes;
    loop {
        let read = match pipe.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(DataError::file("read", shown)(error)),
        };
        left = left
            .checked_sub(read as u64)
            .ok_or_else(|| unpack::read_error(shown, unpack::too_large(most_bytes)))?;
        file.write_all(&buffer[..read])
            .map_err(in_temporary("write to"))?;
    }
    file.flush().map_err(in_temporary("write to"))?;
    Ok(kept)
}

/// A new temporary file. On Linux it has no name, and is deleted when the process ends for any
/// reason.
fn temporary() -> Result<(File, Kept)> {
    #[cfg(target_os = "linux")]
    if Path::new("/proc/self/fd").is_dir() {
        use std::os::fd::AsRawFd;
        let file = tempfile::tempfile().map_err(in_temporary("create a file in"))?;
        let kept = file.try_clone().map_err(in_temporary("create a file in"))?;
        let path = PathBuf::from(format!("/proc/self/fd/{}", kept.as_raw_fd()));
        let kept = Kept {
            path,
            _file: Some(kept),
        };
        return Ok((file, kept));
    }
    let file = tempfile::NamedTempFile::new().map_err(in_temporary("create a file in"))?;
    let (file, path) = file
        .keep()
        .map_err(|error| in_temporary("keep a file in")(error.error))?;
    Ok((file, Kept { path, _file: None }))
}
