//! A run's folder: the paths of its files, starting and finishing a run.

use super::checksummed_json;
use crate::config::RunConfig;
use crate::error::{Error, Remedy, Result};
use cpcvae_data::{Split, write_atomically};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

/// Checksums of the files without their own,
const SUMS: &str = "files.json";
/// and these files.
const UNSEALED: [&str; 4] = [
    "config.toml",
    "split.json",
    "metrics.jsonl",
    "model/card.json",
];

/// Files of a run.
#[derive(Clone, Debug)]
pub struct RunFolder(PathBuf);

impl RunFolder {
    /// The folder at that path; it need not exist yet.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Whether a run was started here.
    pub(crate) fn is_started(&self) -> bool {
        self.config_path().exists()
    }

    /// Whether a run has finished here.
    pub(crate) fn is_finished(&self) -> bool {
        self.model_path().exists() && self.report_path().exists()
    }

    /// The settings of the run.
    pub fn config(&self) -> Result<RunConfig> {
        let path = self.config_path();
        let text = std::fs::read_to_string(&path).map_err(|error| {
            Error::file(
                &path,
                format!("{error}; is this the folder of a cpcvae run?"),
            )
        })?;
        RunConfig::from_toml(&text, &path.display().to_string())
    }

    pub(super) fn config_path(&self) -> PathBuf {
        self.0.join("config.toml")
    }

    pub(super) fn report_path(&self) -> PathBuf {
        self.0.join("report.json")
    }

    pub(super) fn metrics_path(&self) -> PathBuf {
        self.0.join("metrics.jsonl")
    }

    pub(super) fn last_checkpoint_path(&self) -> PathBuf {
        self.0.join("checkpoints").join("last.safetensors")
    }

    pub(super) fn split_path(&self) -> PathBuf {
        self.0.join("split.json")
    }

    pub(super) fn model_path(&self) -> PathBuf {
        self.0.join("model").join("model.safetensors")
    }

    pub(super) fn codes_path(&self) -> PathBuf {
        self.0.join("model").join("codes.safetensors")
    }

    pub(super) fn card_path(&self) -> PathBuf {
        self.0.join("model").join("card.json")
    }
}

/// Version of the keys of `report.json`, which `docs/json.md` and `docs/schema.json` have.
const REPORT_FORMAT: u32 = 1;

/// A report and the version of its keys.
#[derive(Serialize)]
struct Versioned<'a, T> {
    format: u32,
    #[serde(flatten)]
    report: &'a T,
}

impl RunFolder {
    /// Writes settings and split, unless a run with other settings was started here.
    pub(super) fn start(&self, config: &RunConfig, split: &Split) -> Result<()> {
        if self.is_started() {
            check_same_settings(config, &self.config()?)?;
        }
        cpcvae_data::create_folder(self.path()).map_err(|error| Error::file(self.path(), error))?;
        split.save(self.split_path())?;
        Ok(write_atomically(
            &self.config_path(),
            config.to_toml().as_bytes(),
        )?)
    }

    /// Writes the report, which may hold more than a [`RunReport`].
    pub(crate) fn write_report(&self, report: &impl Serialize) -> Result<()> {
        let format = REPORT_FORMAT;
        checksummed_json::write(&self.report_path(), &Versioned { format, report })?;
        self.seal_files()
    }

    /// Stores checksums of the files without their own, which are complete now.
    fn seal_files(&self) -> Result<()> {
        let mut sums = BTreeMap::new();
        for name in UNSEALED {
            if let Some(sum) = self.checksum(name)? {
                sums.insert(name.to_string(), sum);
            }
        }
        checksummed_json::write(&self.path().join(SUMS), &sums)
    }

    fn checksum(&self, name: &str) -> Result<Option<u32>> {
        let path = self.path().join(name);
        // In parts: the split of a large table takes nine bytes a row.
        let sum = || -> std::io::Result<u32> {
            let mut file = BufReader::with_capacity(1 << 16, File::open(&path)?);
            let mut sum = crc32fast::Hasher::new();
            loop {
                let part = file.fill_buf()?;
                if part.is_empty() {
                    return Ok(sum.finalize());
                }
                sum.update(part);
                let read = part.len();
                file.consume(read);
            }
        };
        match sum() {
            Ok(sum) => Ok(Some(sum)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::file(&path, error)),
        }
    }

    /// Fails if a file without its own checksum changed since the run ended. Runs of earlier
    /// versions have no checksums, and a missing file is reported by its reader.
    pub(crate) fn check_files(&self) -> Result<()> {
        let path = self.path().join(SUMS);
        if !path.exists() {
            return Ok(());
        }
        let mut sums: BTreeMap<String, serde_json::Value> = checksummed_json::read(&path)?;
        for name in UNSEALED {
            let now = self.checksum(name)?;
            let Some((now, then)) = now.zip(sums.remove(name)) else {
                continue;
            };
            if then != now {
                return Err(Error::file(
                    &self.path().join(name),
                    format!(
                        "its checksum does not match that in {SUMS}: it is damaged, or was changed \
                         by hand; restore it, or train again"
                    ),
                ));
            }
        }
        Ok(())
    }

    /// The report of a finished run.
    pub(crate) fn read_report<R: DeserializeOwned>(&self) -> Result<R> {
        checksummed_json::read(&self.report_path())
    }

    /// Which rows trained, validated and tested.
    pub(crate) fn split(&self) -> Result<Split> {
        Ok(Split::load(self.split_path())?)
    }

    /// Every term over time; empty if the file does not exist.
    pub(crate) fn metrics(&self) -> Result<Vec<u8>> {
        match std::fs::read(self.metrics_path()) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
            read => read.map_err(|error| Error::file(&self.metrics_path(), error)),
        }
    }
}

/// A run resumes only with the same settings.
fn check_same_settings(now: &RunConfig, before: &RunConfig) -> Result<()> {
    if now == before {
        return Ok(());
    }
    let (now, before) = (now.to_toml(), before.to_toml());
    let differing: Vec<String> = now
        .lines()
        .zip(before.lines())
        .filter(|(now, before)| now != before)
        .map(|(now, before)| format!("`{now}` (was `{before}`)"))
        .take(3)
        .collect();
    Err(Error::Mismatch(format!(
        "the run was started with other settings: {}; resume it with the same ones, or start \
         another run in another folder",
        differing.join(", ")
    ))
    .with_remedy(Remedy::OtherFolder))
}
