//! Output streams: results go to standard output, everything else to standard error.

use anyhow::Result;
pub(crate) use cpcvae::report::{count, percent};
use std::io::Write;

/// The version of the keys that `--json` prints, which are in `docs/json.md`. It is raised when a
/// key is removed or changes its meaning, not when one is added.
const JSON_FORMAT: u32 = 1;

/// Verbosity and format.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Printer {
    /// Nothing on standard error but warnings and errors.
    pub quiet: bool,
    /// One JSON object on standard output and nothing else there.
    pub json: bool,
}

impl Printer {
    /// A remark on standard error.
    pub(crate) fn note(&self, text: impl AsRef<str>) {
        if !self.quiet {
            say(text);
        }
    }

    /// A warning, printed even with `quiet`.
    pub(crate) fn warn(&self, text: impl AsRef<str>) {
        say(format!("warning: {}", text.as_ref()));
    }

    /// The result: `text`, or with `--json` the object `value` with the version of its keys.
    pub(crate) fn answer(&self, text: &str, value: &serde_json::Value) -> Result<()> {
        match self.json {
            true => {
                let mut value = value.clone();
                value["format"] = JSON_FORMAT.into();
                self.write(format!("{value}\n").as_bytes())
            }
            false => self.write(text.as_bytes()),
        }
    }

    /// Bytes to standard output.
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<()> {
        let mut out = std::io::stdout().lock();
        out.write_all(bytes)?;
        Ok(out.flush()?)
    }
}

/// A line on standard error. A closed stream is ignored.
pub(crate) fn say(text: impl AsRef<str>) {
    let _ = writeln!(std::io::stderr(), "{}", text.as_ref());
}
