//! Which rows train with their label, train without, validate and test.

use crate::{DataError, Result, atomic_file};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::Path;

/// The parts of a data set, as row numbers of [`crate::Source::rows`], each in order.
///
/// Drawn by [`Split::draw`](crate::SplitPlan) or read from a JSON file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Split {
    /// Training rows whose labels are used.
    pub labelled: Vec<u32>,
    /// Training rows whose labels are unknown, or known but hidden.
    pub unlabelled: Vec<u32>,
    /// Rows for choosing settings and stopping.
    #[serde(default)]
    pub validation: Vec<u32>,
    /// Rows for the final figure only.
    #[serde(default)]
    pub test: Vec<u32>,
}

impl Split {
    /// Fails unless every row number is below `rows` and used at most once.
    pub fn check(&self, rows: usize) -> Result<()> {
        let parts = self.parts();
        // A byte a row: there may be hundreds of millions.
        const FREE: u8 = u8::MAX;
        let mut part_of = vec![FREE; rows];
        for (place, (part, numbers)) in (0u8..).zip(parts) {
            for &row in numbers {
                let Some(seen) = part_of.get_mut(row as usize) else {
                    return Err(DataError::Split(format!(
                        "the {part} part names row {row}, but the data have only {rows} rows; \
                         the split was made for other data"
                    )));
                };
                let earlier = std::mem::replace(seen, place);
                if earlier != FREE {
                    let (earlier, _) = parts[usize::from(earlier)];
                    return Err(DataError::Split(format!(
                        "row {row} is in the {earlier} part and again in the {part} part; \
                         a row may be used once only"
                    )));
                }
            }
        }
        Ok(())
    }

    /// Fails when there is no unlabelled row, for methods that learn from them.
    pub fn require_unlabelled(&self) -> Result<()> {
        if self.unlabelled.is_empty() {
            return Err(DataError::Split(format!(
                "all {} training rows are labelled and none is left unlabelled; add rows without \
                 a label, use fewer of the labels, or choose a method that learns from labels only",
                self.labelled.len()
            )));
        }
        Ok(())
    }

    /// Reads a split from a JSON file.
    pub fn load(path: impl AsRef<Path>) -> Result<Split> {
        let path = path.as_ref();
        let file = File::open(path).map_err(DataError::file("read", path))?;
        serde_json::from_reader(BufReader::new(file))
            .map_err(|error| DataError::content(path, format!("not a split: {error}")))
    }

    /// Writes the split to a JSON file, atomically.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        // Not as one text in memory, which takes nine bytes a row.
        atomic_file::write_through(path, |file| {
            let mut file = BufWriter::new(file);
            let written = serde_json::to_writer(&mut file, self).map_err(std::io::Error::from);
            written
                .and_then(|()| file.flush())
                .map_err(|error| DataError::content(path, format!("cannot be written: {error}")))
        })
    }

    fn parts(&self) -> [(&'static str, &[u32]); 4] {
        [
            ("labelled", &self.labelled),
            ("unlabelled", &self.unlabelled),
            ("validation", &self.validation),
            ("test", &self.test),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(labelled: &[u32], unlabelled: &[u32], test: &[u32]) -> Split {
        Split {
            labelled: labelled.to_vec(),
            unlabelled: unlabelled.to_vec(),
            test: test.to_vec(),
            ..Split::default()
        }
    }

    #[test]
    fn a_row_is_used_once_and_must_exist() {
        split(&[0, 2], &[1], &[3]).check(4).unwrap();
        let message = split(&[0, 2], &[1], &[2]).check(4).unwrap_err().to_string();
        assert!(
            message.contains("row 2 is in the labelled part and again in the test part"),
            "{message}"
        );
        let message = split(&[0, 0], &[], &[]).check(4).unwrap_err().to_string();
        assert!(message.contains("row 0"), "{message}");
        let message = split(&[0], &[4], &[]).check(4).unwrap_err().to_string();
        assert!(message.contains("unlabelled part names row 4"), "{message}");
    }

    #[test]
    fn a_lack_of_unlabelled_rows_is_explained() {
        assert!(split(&[0], &[1], &[]).require_unlabelled().is_ok());
        let message = split(&[0, 1], &[], &[])
            .require_unlabelled()
            .unwrap_err()
            .to_string();
        assert!(
            message.contains("all 2 training rows are labelled"),
            "{message}"
        );
    }

    #[test]
    fn a_split_survives_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("split.json");
        let written = split(&[5, 1], &[2], &[7]);
        written.save(&path).unwrap();
        assert_eq!(Split::load(&path).unwrap(), written);
        assert_eq!(
            std::fs::read_dir(folder.path()).unwrap().count(),
            1,
            "no temporary file is left"
        );
        std::fs::write(&path, "{\"labelled\": [1], \"unlabeled\": []}").unwrap();
        let message = Split::load(&path).unwrap_err().to_string();
        assert!(
            message.contains("split.json") && message.contains("unlabeled"),
            "{message}"
        );
    }
}
