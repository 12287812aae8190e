//! A table as read from a file, before the kinds and roles of its columns are known.

use crate::{PackedNumbers, PackedTexts};
use std::path::PathBuf;

/// Named columns of equally many cells.
#[derive(Clone, Debug, PartialEq)]
pub struct RawTable {
    /// Where the table comes from, for messages.
    pub path: PathBuf,
    /// The columns, in the file's order. Names are unique, also among those of `beside`.
    pub columns: Vec<RawColumn>,
    /// Columns that describe rows and are features only if asked for: the annotations of cells in
    /// an AnnData file, the other arrays of an NPZ file.
    pub beside: Vec<RawColumn>,
    /// Number of rows.
    pub rows: usize,
}

impl RawTable {
    /// The column of this name, among both lists.
    pub fn column(&self, name: &str) -> Option<&RawColumn> {
        let mut all = self.columns.iter().chain(&self.beside);
        all.find(|column| column.name == name)
    }
}

/// One column.
#[derive(Clone, Debug, PartialEq)]
pub struct RawColumn {
    /// Its name.
    pub name: String,
    /// Its cells, one a row.
    pub cells: Cells,
}

/// The cells of a column, typed as in the file.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// Text as typed, trimmed: what a CSV file has. A blank cell is missing.
    Texts(Vec<String>),
    /// Numbers; NaN is missing.
    Numbers(Vec<f64>),
    /// Numbers left in the bytes they were read in, as for large arrays; NaN is missing.
    Packed(PackedNumbers),
    /// True or false, or missing.
    Flags(Vec<Option<bool>>),
    /// Flags left in the bytes they were read in: 0 is false, 1 true, and 255 missing.
    PackedFlags(PackedNumbers),
    /// Text stored back to back.
    PackedTexts(PackedTexts),
    /// Dates or times left in the bytes they were read in.
    PackedTimes {
        /// Seconds since the beginning of 1970; NaN is missing.
        seconds: PackedNumbers,
        /// Whether they are in UTC; otherwise the time zone is not known.
        zoned: bool,
    },
}

impl Cells {
    /// Number of cells.
    pub fn len(&self) -> usize {
        match self {
            Cells::Texts(cells) => cells.len(),
            Cells::Numbers(cells) => cells.len(),
            Cells::Packed(cells) => cells.len(),
            Cells::Flags(cells) => cells.len(),
            Cells::PackedFlags(cells) => cells.len(),
            Cells::PackedTexts(cells) => cells.len(),
            Cells::PackedTimes { seconds, .. } => seconds.len(),
        }
    }

    /// Whether the cells may be in a file and are cheap to clone.
    pub(crate) fn is_packed(&self) -> bool {
        match self {
            Cells::Packed(_) | Cells::PackedFlags(_) => true,
            Cells::PackedTexts(_) | Cells::PackedTimes { .. } => true,
            Cells::Texts(_) | Cells::Numbers(_) | Cells::Flags(_) => false,
        }
    }

    /// Whether there are no cells.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whole numbers, as [`Numbers`](Cells::Numbers) if an `f64` holds each of them exactly;
    /// otherwise as texts, so that long ids stay distinct.
    pub(crate) fn whole_numbers(cells: impl Iterator<Item = Option<i128>> + Clone) -> Cells {
        if cells.clone().flatten().all(is_exact) {
            let number = |cell: Option<i128>| cell.map_or(f64::NAN, |value| value as f64);
            return Cells::Numbers(cells.map(number).collect());
        }
        let text = |cell: Option<i128>| cell.map_or(String::new(), |value| value.to_string());
        Cells::Texts(cells.map(text).collect())
    }
}

/// Whether an `f64` holds the whole number exactly.
pub(crate) fn is_exact(number: i128) -> bool {
    const EXACT: i128 = 1 << 53;
    (-EXACT..=EXACT).contains(&number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_too_long_for_a_number_stay_apart_as_texts() {
        let cells = Cells::whole_numbers([Some(3), None, Some(-(1 << 53))].into_iter());
        let Cells::Numbers(numbers) = cells else {
            panic!("{cells:?}")
        };
        assert!(numbers[0] == 3.0 && numbers[1].is_nan() && numbers[2] == -9007199254740992.0);
        let cells = Cells::whole_numbers([Some(9007199254740993), None].into_iter());
        assert_eq!(
            cells,
            Cells::Texts(vec!["9007199254740993".into(), String::new()])
        );
    }
}
