//! Texts stored back to back in bytes that may be in a file: a column of a large table.

use crate::SharedBytes;
#[cfg(any(feature = "parquet", test))]
use crate::{Result, mapped::Gatherer};
use std::fmt;

/// Bytes of an end position.
const END: usize = 8;

/// A column of texts inside shared bytes.
#[derive(Clone)]
pub struct PackedTexts {
    bytes: SharedBytes,
    /// The end position of each text, as little-endian 64-bit numbers.
    ends: SharedBytes,
}

impl PackedTexts {
    /// Number of texts.
    pub fn len(&self) -> usize {
        self.ends.len() / END
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The text at `place`.
    ///
    /// # Panics
    /// When `place` is not below [`len`](Self::len), as indexing a slice does.
    pub fn get(&self, place: usize) -> &str {
        let end = |place: usize| {
            let bytes = &self.ends[place * END..][..END];
            u64::from_le_bytes(bytes.try_into().unwrap_or_default()) as usize
        };
        let start = if place == 0 { 0 } else { end(place - 1) };
        // Only complete texts are ever appended.
        std::str::from_utf8(&self.bytes[start..end(place)]).unwrap_or_default()
    }

    /// All texts in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> + '_ {
        (0..self.len()).map(|place| self.get(place))
    }
}

impl PartialEq for PackedTexts {
    fn eq(&self, other: &PackedTexts) -> bool {
        self.iter().eq(other.iter())
    }
}

impl fmt::Debug for PackedTexts {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "PackedTexts({})", self.len())
    }
}

/// Collects the texts of a Parquet column in order.
#[cfg(any(feature = "parquet", test))]
pub(crate) struct TextGatherer {
    bytes: Gatherer,
    ends: Gatherer,
    end: u64,
}

#[cfg(any(feature = "parquet", test))]
impl TextGatherer {
    /// For texts of which at most `budget` bytes may be in memory.
    pub(crate) fn new(budget: u64) -> Result<TextGatherer> {
        Ok(TextGatherer {
            bytes: Gatherer::new(0, budget / 2)?,
            ends: Gatherer::new(0, budget / 2)?,
            end: 0,
        })
    }

    pub(crate) fn push(&mut self, text: &str) -> Result<()> {
        self.end += text.len() as u64;
        self.bytes.push(text.as_bytes())?;
        self.ends.push(&self.end.to_le_bytes())
    }

    pub(crate) fn finish(self) -> Result<PackedTexts> {
        Ok(PackedTexts {
            bytes: self.bytes.finish()?.into(),
            ends: self.ends.finish()?.into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_from_memory_and_from_a_file() {
        let texts = ["", "Zürich", "x", "", "a longer text"];
        for budget in [0, 30, 1000] {
            let mut gatherer = TextGatherer::new(budget).unwrap();
            texts.iter().for_each(|text| gatherer.push(text).unwrap());
            let packed = gatherer.finish().unwrap();
            assert_eq!(packed.iter().collect::<Vec<_>>(), texts);
        }
        assert!(TextGatherer::new(0).unwrap().finish().unwrap().is_empty());
    }
}
