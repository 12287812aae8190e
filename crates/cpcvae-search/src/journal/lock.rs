//! The lock beside a journal, by Optuna's convention: a symbolic link `JOURNAL.lock`, which only
//! one process can create, also on network file systems. A killed process leaves it behind, so a
//! lock is removed if nothing was written under it for a while.

use crate::{Result, SearchError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

/// How long a lock may be held without a change of the journal; Optuna's `grace_period`.
pub const GRACE: Duration = Duration::from_secs(30);

/// Held while lines are appended.
#[derive(Debug)]
pub(crate) struct Lock {
    path: PathBuf,
}

impl Lock {
    /// Waits for the lock of a journal.
    pub(crate) fn acquire(journal: &Path) -> Result<Self> {
        Self::acquire_within(journal, GRACE)
    }

    fn acquire_within(journal: &Path, grace: Duration) -> Result<Self> {
        let mut name = journal.as_os_str().to_owned();
        name.push(".lock");
        let path = PathBuf::from(name);
        let mut pause = Duration::from_millis(1);
        let mut changed: Option<SystemTime> = None;
        let mut since = Instant::now();
        loop {
            match make(journal, &path) {
                Ok(()) => return Ok(Self { path }),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(SearchError::file(&path, error)),
            }
            // Like Optuna, this follows the link to the journal itself.
            let now = std::fs::metadata(&path).and_then(|found| found.modified());
            let now = now.ok();
            if now != changed {
                (changed, since) = (now, Instant::now());
            }
            if since.elapsed() > grace {
                take_away(&path);
                (since, pause) = (Instant::now(), Duration::from_millis(1));
                continue;
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(200));
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        take_away(&self.path);
    }
}

#[cfg(unix)]
fn make(journal: &Path, path: &Path) -> std::io::Result<()> {
    // The link is resolved relative to its own folder.
    let target = journal
        .file_name()
        .ok_or(std::io::Error::from(ErrorKind::InvalidInput))?;
    std::os::unix::fs::symlink(target, path)
}

/// On systems where links need privileges: Optuna's `JournalFileOpenLock`, a file of the same name.
#[cfg(not(unix))]
fn make(_: &Path, path: &Path) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true).open(path).map(|_| ())
}

/// Renamed first, so that only one of several processes succeeds.
fn take_away(path: &Path) {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let mut name = path.as_os_str().to_owned();
    let (process, next) = (std::process::id(), NEXT.fetch_add(1, Ordering::SeqCst));
    name.push(format!("{process}-{next}.rename"));
    if std::fs::rename(path, &name).is_ok() {
        let _ = std::fs::remove_file(&name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_holds_it_and_a_lock_left_behind_is_taken_away() {
        let folder = tempfile::tempdir().expect("a folder");
        let journal = folder.path().join("journal.log");
        std::fs::write(&journal, "").expect("writable");
        let lock = Lock::acquire(&journal).expect("free");
        // Its owner never releases it, like a killed process.
        std::mem::forget(lock);
        let grace = Duration::from_millis(50);
        let began = Instant::now();
        let second = Lock::acquire_within(&journal, grace).expect("after the grace");
        assert!(began.elapsed() >= grace);
        drop(second);
        let left: Vec<_> = std::fs::read_dir(folder.path()).expect("there").collect();
        assert_eq!(left.len(), 1, "only the journal: {left:?}");
    }
}
