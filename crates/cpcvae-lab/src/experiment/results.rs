//! The results file: one JSON object a line, one line a finished cell.
//!
//! Lines are only ever appended, each synced before the next cell starts. A line counts for a cell
//! with the same settings (compared by their hash), so after a change of the plan only changed
//! cells are trained again; older lines stay in the file and are not shown.

use super::{CellKey, ExperimentError, Metrics, Result};
use cpcvae::config::LATER_KEYS;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The result of a finished cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The experiment's name.
    pub experiment: String,
    /// Identifies the cell.
    #[serde(flatten)]
    pub key: CellKey,
    /// Hash of the settings, see [`settings_hash`].
    pub hash: String,
    /// The seed of all random draws.
    pub seed: u64,
    /// Steps taken.
    pub steps: u64,
    /// The step of the model that was kept.
    pub kept_step: u64,
    /// Seconds of training.
    pub seconds: f64,
    /// Seconds in total: opening the data, training, evaluating.
    pub elapsed: f64,
    /// The version of the program.
    pub commit: String,
    /// The precision that `auto` selected on that machine, `f32` or `bf16`; empty in lines of older
    /// versions.
    #[serde(default)]
    pub precision: String,
    /// The figures.
    pub metrics: Metrics,
    /// All settings, resolved.
    pub settings: Value,
}

impl Record {
    /// A number among the settings by its key, such as `train.learning_rate`.
    pub fn setting(&self, key: &str) -> Option<f64> {
        let place = format!("/{}", key.replace('.', "/"));
        self.settings.pointer(&place)?.as_f64()
    }
}

/// Eight hexadecimal digits that depend on the settings. The order of keys does not matter, nor do
/// newer keys with the value of the earlier behaviour; without a source of pseudo-labels, their
/// section does not matter.
pub fn settings_hash(settings: &Value) -> String {
    let mut settings = settings.clone();
    for (section, key, before) in LATER_KEYS {
        if let Some(section) = settings.get_mut(section).and_then(Value::as_object_mut)
            && section.get(key).is_some_and(|value| {
                serde_json::from_str::<Value>(before).is_ok_and(|old| old == *value)
            })
        {
            section.remove(key);
        }
    }
    let source = settings.pointer("/pseudo_labels/source");
    if source.is_some_and(|source| source == "none")
        && let Some(all) = settings.as_object_mut()
    {
        all.remove("pseudo_labels");
    }
    let members = settings.pointer("/ensemble/members");
    if members.is_some_and(|members| members == "none")
        && let Some(all) = settings.as_object_mut()
    {
        all.remove("ensemble");
    }
    // Keys of a JSON object are sorted.
    format!("{:08x}", crc32fast::hash(settings.to_string().as_bytes()))
}

/// A results file with its records.
#[derive(Debug)]
pub struct ResultsFile {
    path: PathBuf,
    experiment: String,
    records: Vec<Record>,
    /// Length of the complete lines.
    length: u64,
    /// Bytes after them: a line that a killed run started.
    dropped: usize,
}

impl ResultsFile {
    /// Reads the file of an experiment, which need not exist yet.
    pub fn open(path: &Path, experiment: &str) -> Result<Self> {
        let bytes = match fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(source) => return Err(file_error(path, source)),
        };
        let whole = match bytes.iter().rposition(|byte| *byte == b'\n') {
            Some(last) => last + 1,
            None => 0,
        };
        let mut records = Vec::new();
        for (index, line) in bytes[..whole].split_inclusive(|b| *b == b'\n').enumerate() {
            if line.trim_ascii().is_empty() {
                continue;
            }
            let mut record: Record =
                serde_json::from_slice(line).map_err(|error| ExperimentError::Results {
                    file: path.display().to_string(),
                    line: index + 1,
                    problem: error.to_string(),
                })?;
            if record.experiment == experiment {
                // Older versions used another hash.
                record.hash = settings_hash(&record.settings);
                records.push(record);
            }
        }
        Ok(Self {
            path: path.into(),
            experiment: experiment.into(),
            records,
            length: whole as u64,
            dropped: bytes.len() - whole,
        })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes of a broken last line, which are ignored and overwritten.
    pub fn dropped(&self) -> usize {
        self.dropped
    }

    /// The newest record of a cell with these settings.
    pub fn find(&self, key: &CellKey, hash: &str) -> Option<&Record> {
        let mut newest_first = self.records.iter().rev();
        newest_first.find(|record| record.key == *key && record.hash == hash)
    }

    /// A record of any cell with the same settings including the seed, which would give the same
    /// result.
    pub(crate) fn same_settings(&self, hash: &str) -> Option<&Record> {
        self.records.iter().find(|record| record.hash == hash)
    }

    /// All records, whatever their settings, oldest first.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// Appends a line and syncs it to disk.
    pub(crate) fn append(&mut self, record: Record) -> Result<()> {
        debug_assert_eq!(record.experiment, self.experiment);
        let mut line = serde_json::to_string(&record).expect("plain values serialise");
        line.push('\n');
        self.write(&line)
            .map_err(|source| file_error(&self.path, source))?;
        self.length += line.len() as u64;
        self.dropped = 0;
        self.records.push(record);
        Ok(())
    }

    fn write(&self, line: &str) -> std::io::Result<()> {
        if let Some(folder) = self.path.parent() {
            cpcvae_data::create_folder(folder)?;
        }
        let mut options = OpenOptions::new();
        let mut file = options.create(true).append(true).open(&self.path)?;
        if self.dropped > 0 {
            file.set_len(self.length)?;
        }
        file.write_all(line.as_bytes())?;
        file.sync_all()?;
        cpcvae_data::sync_name(&self.path);
        Ok(())
    }
}

fn file_error(path: &Path, source: std::io::Error) -> ExperimentError {
    ExperimentError::File {
        file: path.display().to_string(),
        source,
    }
}

#[cfg(test)]
#[path = "results_tests.rs"]
pub(super) mod tests;
