//! A table as a file holds it, before it is known which columns are labels and what kind each is.

use std::path::PathBuf;

/// Named columns of equally many cells.
#[derive(Clone, Debug, PartialEq)]
pub struct RawTable {
    /// Where the table comes from, for messages.
    pub path: PathBuf,
    /// The columns, in the file's order. Names are unique.
    pub columns: Vec<RawColumn>,
    /// Columns that are not features unless they are asked for, such as what an AnnData file
    /// says of its cells. Their names differ from those of `columns`.
    pub beside: Vec<RawColumn>,
    /// Number of rows.
    pub rows: usize,
}

/// One column.
#[derive(Clone, Debug, PartialEq)]
pub struct RawColumn {
    /// Its name.
    pub name: String,
    /// Its cells, one a row.
    pub cells: Cells,
}

/// The cells of a column, as the file types them.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// Text as typed, trimmed: what a CSV file has. A blank cell is missing.
    Texts(Vec<String>),
    /// Numbers; NaN is missing.
    Numbers(Vec<f64>),
    /// True or false, or missing.
    Flags(Vec<Option<bool>>),
}

impl Cells {
    /// Number of cells.
    pub fn len(&self) -> usize {
        match self {
            Cells::Texts(cells) => cells.len(),
            Cells::Numbers(cells) => cells.len(),
            Cells::Flags(cells) => cells.len(),
        }
    }

    /// Whether there are no cells.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
