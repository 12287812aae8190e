//! The file of a journal: complete lines are read, lines are appended under a lock.

use super::Operation;
use super::lock::Lock;
use crate::{Result, SearchError};
use serde_json::{Map, Value};
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// A journal and the position up to which it was read.
#[derive(Debug)]
pub(crate) struct JournalFile {
    path: PathBuf,
    /// The name of this writer, which is in every line.
    worker: String,
    /// Bytes of the lines that were read.
    read: u64,
    /// Number of lines that were read.
    lines: usize,
}

impl JournalFile {
    /// The journal at that path, which need not exist yet.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let problem = |error| SearchError::file(path, error);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(problem)?;
        }
        let mut options = OpenOptions::new();
        options
            .create(true)
            .append(true)
            .open(path)
            .map_err(problem)?;
        // The folder stores the name of a new journal. Some systems cannot sync a folder.
        if let Some(folder) = path.parent() {
            let _ = File::open(folder).and_then(|folder| folder.sync_all());
        }
        Ok(Self {
            path: path.into(),
            worker: worker(),
            read: 0,
            lines: 0,
        })
    }

    /// Its path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Complete lines that were not read before. A last line without its end is still being
    /// written, or its writer was killed.
    pub(crate) fn new_lines(&mut self) -> Result<Vec<(usize, Value)>> {
        let problem = |error| SearchError::file(&self.path, error);
        let mut file = File::open(&self.path).map_err(problem)?;
        file.seek(SeekFrom::Start(self.read)).map_err(problem)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(problem)?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n');
        let mut lines = Vec::new();
        for line in bytes[..whole.map_or(0, |last| last + 1)].split_inclusive(|b| *b == b'\n') {
            let number = self.lines + 1;
            let value = parsed(line).map_err(|error| SearchError::Journal {
                path: self.path.clone(),
                line: number,
                problem: format!("this is not a line of a journal ({error})"),
            })?;
            self.read += line.len() as u64;
            self.lines = number;
            lines.push((number, value));
        }
        Ok(lines)
    }

    /// Locks out other writers.
    pub(crate) fn lock(&self) -> Result<Lock> {
        Lock::acquire(&self.path)
    }

    /// Appends lines and syncs them to disk. `_lock` proves that no other process writes, so an
    /// incomplete last line is from a killed writer, and is truncated.
    pub(crate) fn append(&self, lines: &[(Operation, Value)], _lock: &Lock) -> Result<()> {
        let mut text = String::new();
        for (operation, fields) in lines {
            let mut line = Map::new();
            line.insert("op_code".into(), Value::from(*operation as u64));
            line.insert("worker_id".into(), Value::from(self.worker.clone()));
            if let Value::Object(fields) = fields {
                line.extend(fields.clone());
            }
            text += &Value::Object(line).to_string();
            text.push('\n');
        }
        self.write(&text)
            .map_err(|error| SearchError::file(&self.path, error))
    }

    fn write(&self, text: &str) -> std::io::Result<()> {
        let mut options = OpenOptions::new();
        let mut file = options.read(true).append(true).open(&self.path)?;
        let whole = complete_lines(&mut file)?;
        if file.metadata()?.len() > whole {
            file.set_len(whole)?;
        }
        file.write_all(text.as_bytes())?;
        file.sync_all()
    }
}

/// Python writes NaN and infinity as words that JSON does not have.
fn parsed(line: &[u8]) -> serde_json::Result<Value> {
    serde_json::from_slice(line).or_else(|error| {
        let text = String::from_utf8_lossy(line);
        let words = [
            ":-Infinity",
            ":Infinity",
            ":NaN",
            "[-Infinity",
            "[Infinity",
            "[NaN",
        ];
        let without = words.iter().fold(text.into_owned(), |text, word| {
            text.replace(word, &format!("{}null", &word[..1]))
        });
        serde_json::from_str(&without).map_err(|_| error)
    })
}

/// Bytes up to the end of the last complete line.
fn complete_lines(file: &mut File) -> std::io::Result<u64> {
    const CHUNK: u64 = 4096;
    let mut end = file.metadata()?.len();
    while end > 0 {
        let start = end.saturating_sub(CHUNK);
        let mut bytes = vec![0; (end - start) as usize];
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(&mut bytes)?;
        if let Some(last) = bytes.iter().rposition(|byte| *byte == b'\n') {
            return Ok(start + last as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

/// A unique name.
fn worker() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let nanos = since.map_or(0, |since| since.as_nanos());
    let next = NEXT.fetch_add(1, Ordering::SeqCst);
    format!("cpcvae-{}-{nanos:x}-{next}", std::process::id())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_line_that_a_killed_writer_began_is_not_read_and_cut_off() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("journal.log");
        let mut journal = JournalFile::open(&path).expect("writable");
        let line = [(Operation::CreateStudy, json!({ "study_name": "a" }))];
        let append = |journal: &JournalFile| {
            let lock = journal.lock().expect("free");
            journal.append(&line, &lock).expect("writable");
        };
        append(&journal);
        assert_eq!(journal.new_lines().expect("whole").len(), 1);
        let torn = std::fs::read_to_string(&path).expect("there") + "{\"op_code\":4,\"wor";
        std::fs::write(&path, torn).expect("writable");
        assert!(journal.new_lines().expect("whole").is_empty());
        append(&journal);
        let lines = journal.new_lines().expect("whole");
        assert_eq!((lines.len(), lines[0].0), (1, 2));
    }

    #[test]
    fn a_line_of_something_else_is_an_error_with_its_number() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("journal.log");
        std::fs::write(&path, "{\"op_code\":0}\nhello\n").expect("writable");
        let mut journal = JournalFile::open(&path).expect("there");
        let error = journal.new_lines().expect_err("not JSON").to_string();
        assert!(error.contains("line 2"), "{error}");
    }
}
