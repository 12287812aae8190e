//! A lock that lets one process at a time work in a run's folder.

use super::RunFolder;
use crate::error::{Error, Remedy, Result};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

const NAME: &str = "run.lock";

/// Held while a run is trained. The kernel releases it when the process ends for any reason, so a
/// lock file that is not locked is known to be stale.
#[derive(Debug)]
pub struct RunLock {
    file: File,
    path: PathBuf,
}

impl Drop for RunLock {
    fn drop(&mut self) {
        let _ = self.file.set_len(0);
        let config = self.path.with_file_name("config.toml");
        if !config.exists() {
            // No run was started, so the lock file is removed.
            let _ = std::fs::remove_file(&self.path);
        }
        let _ = self.file.unlock();
    }
}

impl RunFolder {
    /// Creates the folder if needed and locks out other processes. Refuses a folder with files that
    /// are not a run's. Temporary files of a killed process are removed.
    pub fn claim(&self) -> Result<RunLock> {
        let path = self.path();
        cpcvae_data::create_folder(path).map_err(|error| Error::file(path, error))?;
        self.check_ours()?;
        let lock = lock(path)?;
        for folder in ["", "model", "checkpoints"] {
            remove_temporary(&path.join(folder));
        }
        Ok(lock)
    }

    /// Removes the run in this folder, and nothing else. The folder must be claimed.
    pub(crate) fn clear(&self) -> Result<()> {
        // The settings last: until then the folder is recognised as a run's.
        let parts = [
            "files.json",
            "report.json",
            "metrics.jsonl",
            "split.json",
            "data.json",
            "model",
            "checkpoints",
            "crossfit",
            "config.toml",
        ];
        for path in parts.map(|part| self.path().join(part)) {
            let removed = match path.is_dir() {
                true => std::fs::remove_dir_all(&path),
                false if path.exists() => std::fs::remove_file(&path),
                false => Ok(()),
            };
            removed.map_err(|error| Error::file(&path, error))?;
        }
        Ok(())
    }

    /// A folder without a run may contain only files of a run that was killed at its very
    /// beginning, and folds that were trained before the run itself.
    pub(crate) fn check_ours(&self) -> Result<()> {
        if self.is_started() {
            return Ok(());
        }
        let is_ours = |name: &str| {
            matches!(
                name,
                NAME | "split.json" | "data.json" | "model" | "checkpoints" | "crossfit"
            ) || is_temporary(name)
        };
        let names = std::fs::read_dir(self.path())
            .into_iter()
            .flatten()
            .flatten();
        let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
        match names.into_iter().find(|name| !is_ours(name)) {
            None => Ok(()),
            Some(name) => Err(Error::file(
                self.path(),
                format!(
                    "the folder holds `{name}` and no run; a run would overwrite files there, so \
                     name a folder that is empty or does not exist"
                ),
            )
            .with_remedy(Remedy::OtherFolder)),
        }
    }
}

fn lock(folder: &Path) -> Result<RunLock> {
    let path = folder.join(NAME);
    let problem = |error: std::io::Error| Error::file(&path, error);
    let mut options = OpenOptions::new();
    options.create(true).read(true).write(true).truncate(false);
    let mut file = options.open(&path).map_err(problem)?;
    match file.try_lock() {
        Ok(()) => {}
        // File systems without locks: working is better than refusing.
        Err(TryLockError::Error(error)) if error.kind() == std::io::ErrorKind::Unsupported => {}
        Err(TryLockError::Error(error)) => return Err(problem(error)),
        Err(TryLockError::WouldBlock) => {
            let mut owner = String::new();
            let _ = file.read_to_string(&mut owner);
            return Err(Error::file(
                folder,
                format!(
                    "process {} works in this folder; wait for its end, or name another folder",
                    owner.trim()
                ),
            )
            .with_remedy(Remedy::OtherFolder));
        }
    }
    let write = |mut file: &File| {
        file.set_len(0)?;
        file.write_all(std::process::id().to_string().as_bytes())
    };
    write(&file).map_err(problem)?;
    if !is_at(&file, &path) {
        // Its last owner started no run and removed the file while it was opened here.
        return lock(folder);
    }
    Ok(RunLock { file, path })
}

/// Whether an open file is still the one of that name.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let id = |found: std::fs::Metadata| (found.dev(), found.ino());
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(open), Ok(named)) => id(open) == id(named),
        _ => false,
    }
}

/// On other systems a file that is open is not removed.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}

/// Names of temporary files of [`write_through`](cpcvae_data::write_through), `NAME.<process>.tmp`,
/// and of a split.
fn is_temporary(name: &str) -> bool {
    if name == "split.json.tmp" {
        return true;
    }
    let stem = name.strip_suffix(".tmp");
    let process = stem.and_then(|stem| stem.rsplit('.').next());
    process.is_some_and(|text| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The folder is locked, so these are of processes that were killed.
fn remove_temporary(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if is_temporary(&entry.file_name().to_string_lossy()) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}
