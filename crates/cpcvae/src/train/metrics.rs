//! `metrics.jsonl`: one JSON object a line. It holds nothing of the clock, so that two runs with
//! the same seed write the same bytes.

use crate::error::{Error, Result};
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Appends lines, and knows how long the file is.
#[derive(Debug)]
pub struct MetricsFile {
    path: PathBuf,
    file: BufWriter<File>,
    bytes: u64,
}

impl MetricsFile {
    /// Opens the file and cuts it to its length at the checkpoint that training goes on from.
    pub fn open(path: &Path, bytes: u64) -> Result<Self> {
        let open = || -> std::io::Result<File> {
            let file = OpenOptions::new()
                .create(true)
                .write(true)
                .truncate(false)
                .open(path)?;
            file.set_len(bytes)?;
            Ok(file)
        };
        let mut file = open().map_err(|error| Error::file(path, error))?;
        std::io::Seek::seek(&mut file, std::io::SeekFrom::End(0))
            .map_err(|error| Error::file(path, error))?;
        Ok(Self {
            path: path.to_owned(),
            file: BufWriter::new(file),
            bytes,
        })
    }

    /// Appends one object.
    pub fn write(&mut self, line: &serde_json::Value) -> Result<()> {
        let text = format!("{line}\n");
        self.bytes += text.len() as u64;
        self.file
            .write_all(text.as_bytes())
            .map_err(|error| Error::file(&self.path, error))
    }

    /// Everything is on disk; returns the length.
    pub fn sync(&mut self) -> Result<u64> {
        self.file
            .flush()
            .and_then(|()| self.file.get_ref().sync_data())
            .map_err(|error| Error::file(&self.path, error))?;
        Ok(self.bytes)
    }
}
