//! An event file: records that are appended during a training.

use super::proto::{Event, Image, SessionLog, Shown, Summary, Value, What};
use super::record::framed;
use crate::error::{Error, Result};
use prost::Message;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// The version of event files since 2016.
const FILE_VERSION: &str = "brain.Event:2";
/// `SessionLog::START`.
const BEGINS: i32 = 1;

/// A file that TensorBoard reads while it is written.
#[derive(Debug)]
pub(super) struct EventFile {
    path: PathBuf,
    file: File,
    /// Whether it contains anything but the version.
    has_begun: bool,
}

impl EventFile {
    /// A new file in the folder, which is created. TensorBoard reads the files of a folder in the
    /// order of their names.
    pub(super) fn new(folder: &Path) -> Result<Self> {
        std::fs::create_dir_all(folder).map_err(|error| Error::file(folder, error))?;
        let seconds = now() as u64;
        let process = std::process::id();
        let of_number = |number: u32| {
            folder.join(format!(
                "events.out.tfevents.{seconds:010}.cpcvae.{process}.{number}"
            ))
        };
        // An existing file belongs to another training of this process.
        let path = (0..).map(of_number).find(|path| !path.exists());
        let path = path.unwrap_or_else(|| of_number(u32::MAX));
        let file = File::create_new(&path).map_err(|error| Error::file(&path, error))?;
        let mut events = Self {
            path,
            file,
            has_begun: false,
        };
        events.write(0, What::FileVersion(FILE_VERSION.into()))?;
        Ok(events)
    }

    /// Scalars of a step.
    pub(super) fn numbers(
        &mut self,
        step: u64,
        numbers: impl Iterator<Item = (String, f64)>,
    ) -> Result<()> {
        let value = |(tag, number): (String, f64)| Value {
            tag,
            shown: Some(Shown::Number(number as f32)),
        };
        self.values(step, numbers.map(value).collect())
    }

    /// An image of a step.
    pub(super) fn image(&mut self, step: u64, tag: &str, image: Image) -> Result<()> {
        let shown = Some(Shown::Image(image));
        let tag = tag.into();
        self.values(step, vec![Value { tag, shown }])
    }

    fn values(&mut self, step: u64, value: Vec<Value>) -> Result<()> {
        if !self.has_begun {
            self.has_begun = true;
            // A resumed training starts from its checkpoint: later steps of an earlier file no
            // longer count.
            self.write(step, What::SessionLog(SessionLog { status: BEGINS }))?;
        }
        self.write(step, What::Summary(Summary { value }))
    }

    fn write(&mut self, step: u64, what: What) -> Result<()> {
        let event = Event {
            wall_time: now(),
            step: step as i64,
            what: Some(what),
        };
        let record = framed(&event.encode_to_vec());
        let written = self.file.write_all(&record);
        written.map_err(|error| Error::file(&self.path, error))
    }
}

fn now() -> f64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0.0, |since| since.as_secs_f64())
}
