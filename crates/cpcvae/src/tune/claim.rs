//! A lock that lets one worker at a time train a trial. The kernel releases a lock when its process
//! ends for any reason, so a trial whose lock is not held is known to be free.

use super::{Error, Result};
use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;

/// Held while a trial is trained, or asked for.
#[derive(Debug)]
pub(super) struct Claim {
    _file: File,
}

impl Claim {
    /// Claims a trial; `None` if another worker has it.
    pub(super) fn of(folder: &Path, number: usize) -> Result<Option<Self>> {
        let (file, path) = open(folder, &format!("{number:04}"))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _file: file })),
            // File systems without locks: working is better than refusing.
            Err(TryLockError::Error(error)) if error.kind() == std::io::ErrorKind::Unsupported => {
                Ok(Some(Self { _file: file }))
            }
            Err(TryLockError::Error(error)) => Err(Error::file(&path, error)),
            Err(TryLockError::WouldBlock) => Ok(None),
        }
    }

    /// Waits until no other worker asks for a trial.
    pub(crate) fn to_ask(folder: &Path) -> Result<Self> {
        let (file, path) = open(folder, "ask")?;
        match file.lock() {
            Err(error) if error.kind() != std::io::ErrorKind::Unsupported => {
                Err(Error::file(&path, error))
            }
            _ => Ok(Self { _file: file }),
        }
    }
}

fn open(folder: &Path, name: &str) -> Result<(File, std::path::PathBuf)> {
    let folder = folder.join("locks");
    cpcvae_data::create_folder(&folder).map_err(|error| Error::file(&folder, error))?;
    let path = folder.join(name);
    let mut options = OpenOptions::new();
    let file = options.create(true).append(true).open(&path);
    Ok((file.map_err(|error| Error::file(&path, error))?, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_has_one_worker_until_he_is_gone() {
        let folder = tempfile::tempdir().expect("a folder");
        let claim = |number| Claim::of(folder.path(), number).expect("writable");
        let first = claim(3);
        assert!(first.is_some() && claim(3).is_none() && claim(4).is_some());
        drop(first);
        assert!(claim(3).is_some());
    }
}
