//! Metrics: one JSON object a line, in `metrics.jsonl` of a run's folder or in memory. They contain
//! no times, so that two runs with the same seed write the same bytes.

use crate::error::{Error, Result};
use cpcvae_data::sync_name;
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Appends lines and tracks their total length.
#[derive(Debug)]
pub(super) struct Metrics {
    sink: Sink,
    bytes: u64,
}

#[derive(Debug)]
enum Sink {
    Memory(Vec<u8>),
    File(PathBuf, BufWriter<File>),
}

impl Metrics {
    /// Keeps the lines in memory.
    pub(super) fn in_memory() -> Self {
        Self {
            sink: Sink::Memory(Vec::new()),
            bytes: 0,
        }
    }

    /// Opens the file and truncates it to its length at the checkpoint that training resumes from.
    pub(super) fn open(path: &Path, bytes: u64) -> Result<Self> {
        let length = std::fs::metadata(path).map_or(0, |found| found.len());
        if length < bytes {
            let problem = format!(
                "has {length} bytes, but had {bytes} at the last checkpoint; lines were lost, so \
                 train the run again"
            );
            return Err(Error::file(path, problem));
        }
        let open = || -> std::io::Result<File> {
            let mut file = OpenOptions::new()
                .create(true)
                .write(true)
                .truncate(false)
                .open(path)?;
            file.set_len(bytes)?;
            file.seek(SeekFrom::End(0))?;
            Ok(file)
        };
        let file = open().map_err(|error| Error::file(path, error))?;
        sync_name(path);
        Ok(Self {
            sink: Sink::File(path.to_owned(), BufWriter::new(file)),
            bytes,
        })
    }

    /// Appends one object.
    pub(super) fn write(&mut self, line: &serde_json::Value) -> Result<()> {
        let text = format!("{line}\n");
        self.bytes += text.len() as u64;
        match &mut self.sink {
            Sink::Memory(lines) => lines.extend_from_slice(text.as_bytes()),
            Sink::File(path, file) => file
                .write_all(text.as_bytes())
                .map_err(|error| Error::file(path, error))?,
        }
        Ok(())
    }

    /// Syncs the file to disk; returns the length of all lines.
    pub(super) fn sync(&mut self) -> Result<u64> {
        if let Sink::File(path, file) = &mut self.sink {
            file.flush()
                .and_then(|()| file.get_ref().sync_data())
                .map_err(|error| Error::file(path, error))?;
        }
        Ok(self.bytes)
    }

    /// The lines in memory; empty if they are in a file.
    pub(crate) fn into_lines(self) -> Vec<u8> {
        match self.sink {
            Sink::Memory(lines) => lines,
            Sink::File(..) => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_were_lost_are_an_error_instead_of_zeros() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("metrics.jsonl");
        std::fs::write(&path, "{}\n{}\n").unwrap();
        let error = Metrics::open(&path, 7).unwrap_err().to_string();
        assert!(error.contains("has 6 bytes, but had 7"), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), b"{}\n{}\n");
        assert_eq!(Metrics::open(&path, 3).unwrap().bytes, 3);
        assert_eq!(std::fs::read(&path).unwrap(), b"{}\n");
    }
}
