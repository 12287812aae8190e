//! Bytes in memory or in a memory-mapped file.

use crate::{DataError, Result};
use memmap2::Mmap;
use std::fmt;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::ops::{Deref, Range};
use std::path::Path;
use std::sync::Arc;

/// A sequence of bytes. Mapped ones are loaded by the system as they are read and may be evicted
/// again, so they may be larger than memory.
#[derive(Debug)]
pub enum Bytes {
    /// In memory.
    Owned(Vec<u8>),
    /// In a file.
    Mapped(Mmap),
    /// Borrowed from another owner, such as another program's table.
    External(Box<dyn ExternalBytes>),
}

/// Bytes that another owner keeps alive and unchanged until this is dropped.
pub trait ExternalBytes: AsRef<[u8]> + Send + Sync + fmt::Debug {}

impl<B: AsRef<[u8]> + Send + Sync + fmt::Debug> ExternalBytes for B {}

impl Bytes {
    /// Maps a whole file, which may be empty.
    pub fn map(path: impl AsRef<Path>) -> Result<Bytes> {
        let path = path.as_ref();
        let file = File::open(path).map_err(DataError::file("open", path))?;
        map_open(&file).map_err(DataError::file("map", path))
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Owned(bytes) => bytes,
            Bytes::Mapped(map) => map,
            Bytes::External(bytes) => (**bytes).as_ref(),
        }
    }
}

/// A part of shared bytes; clones are cheap.
#[derive(Clone, Debug)]
pub struct SharedBytes {
    whole: Arc<Bytes>,
    part: Range<usize>,
}

impl SharedBytes {
    /// A part of this part, or `None` if it is out of bounds.
    pub fn part(&self, part: Range<usize>) -> Option<SharedBytes> {
        self.get(part.clone())?;
        Some(SharedBytes {
            whole: self.whole.clone(),
            part: self.part.start + part.start..self.part.start + part.end,
        })
    }

    /// Whether the other is the same part of the same bytes.
    pub(crate) fn is(&self, other: &SharedBytes) -> bool {
        Arc::ptr_eq(&self.whole, &other.whole) && self.part == other.part
    }
}

impl Deref for SharedBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.whole[self.part.clone()]
    }
}

impl From<Bytes> for SharedBytes {
    fn from(whole: Bytes) -> SharedBytes {
        SharedBytes {
            part: 0..whole.len(),
            whole: Arc::new(whole),
        }
    }
}

impl From<Vec<u8>> for SharedBytes {
    fn from(bytes: Vec<u8>) -> SharedBytes {
        SharedBytes::from(Bytes::Owned(bytes))
    }
}

#[allow(unsafe_code)]
fn map_open(file: &File) -> std::io::Result<Bytes> {
    // SAFETY: the map is read-only and only ever seen as plain bytes, of which every value is
    // valid. The remaining risk is that another program changes or truncates the file meanwhile;
    // then values change or the system ends the process, as with every memory-mapped reader.
    let map = unsafe { Mmap::map(file)? };
    Ok(Bytes::Mapped(map))
}

/// Collects bytes in order: in memory while they fit the budget, from then on in a nameless file in
/// the system's temporary folder, which the system deletes when the bytes are dropped.
pub(crate) struct Gatherer {
    budget: u64,
    place: Place,
}

enum Place {
    Memory(Vec<u8>),
    Cache(BufWriter<File>),
}

impl Gatherer {
    /// For about `expected` bytes, of which at most `budget` may be in memory.
    pub(crate) fn new(expected: u64, budget: u64) -> Result<Gatherer> {
        Ok(Gatherer {
            budget,
            place: match usize::try_from(expected) {
                Ok(expected) if expected as u64 <= budget => {
                    Place::Memory(Vec::with_capacity(expected))
                }
                _ => Place::Cache(cache()?),
            },
        })
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<()> {
        if let Place::Memory(all) = &mut self.place {
            if (all.len() + bytes.len()) as u64 <= self.budget {
                all.extend_from_slice(bytes);
                return Ok(());
            }
            let mut file = cache()?;
            file.write_all(all).map_err(in_cache("write to"))?;
            self.place = Place::Cache(file);
        }
        match &mut self.place {
            Place::Memory(_) => Ok(()),
            Place::Cache(file) => file.write_all(bytes).map_err(in_cache("write to")),
        }
    }

    pub(crate) fn finish(self) -> Result<Bytes> {
        match self.place {
            Place::Memory(all) => Ok(Bytes::Owned(all)),
            Place::Cache(file) => {
                let file = file.into_inner().map_err(|error| error.into_error());
                map_open(&file.map_err(in_cache("write to"))?).map_err(in_cache("map a file of"))
            }
        }
    }
}

fn cache() -> Result<BufWriter<File>> {
    let file = tempfile::tempfile().map_err(in_cache("create a file in"))?;
    Ok(BufWriter::with_capacity(1 << 20, file))
}

/// Errors of the temporary folder, which may be full.
pub(crate) fn in_cache(action: &'static str) -> impl Fn(std::io::Error) -> DataError {
    move |error| {
        let problem = format!(
            "cannot {action} the folder of temporary files ({error}); name one with room for the \
             data in the environment variable TMPDIR"
        );
        DataError::content(&std::env::temp_dir(), problem)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_gathered_is_the_same_in_memory_and_in_a_file() {
        // There may be more bytes than expected.
        for (expected, budget, mapped) in [(6, 6, false), (6, 5, true), (2, 5, true), (0, 6, false)]
        {
            let mut gatherer = Gatherer::new(expected, budget).unwrap();
            gatherer.push(&[1, 2, 3]).unwrap();
            gatherer.push(&[4, 5, 6]).unwrap();
            let bytes = gatherer.finish().unwrap();
            assert_eq!(matches!(bytes, Bytes::Mapped(_)), mapped);
            assert_eq!(bytes[..], [1, 2, 3, 4, 5, 6]);
        }
    }

    #[test]
    fn a_part_stays_inside_its_part() {
        let bytes = SharedBytes::from(vec![0, 1, 2, 3, 4]);
        let part = bytes.part(1..4).unwrap();
        assert_eq!(part[..], [1, 2, 3]);
        assert_eq!(part.part(1..3).unwrap()[..], [2, 3]);
        assert!(part.part(1..4).is_none());
    }

    #[test]
    fn an_empty_file_has_no_bytes_and_a_missing_one_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("empty");
        std::fs::write(&path, b"").unwrap();
        assert!(Bytes::map(&path).unwrap().is_empty());
        let message = Bytes::map(folder.path().join("none"))
            .unwrap_err()
            .to_string();
        assert!(message.contains("none"), "{message}");
    }
}
