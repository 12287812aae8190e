//! Known remedies of errors.

use crate::DataError;

/// A remedy for an error. Messages name settings; a caller with other words for them, such as the
/// flags of a command line, matches on this and adds its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DataRemedy {
    /// A higher limit on what a compressed file unpacks to (`data.most_bytes`).
    RaiseLimit,
    /// Naming the arrays of features (`data.features_name`) and labels (`data.label`).
    NameArrays,
    /// One size (`data.size`) and colour (`data.gray`) for all images.
    ResizeImages,
    /// Leaving out images that cannot be decoded (`data.strict = false`).
    LeaveOutImages,
    /// For a cell that does not fit its column: calling it missing (`data.missing`), another kind
    /// of column (`data.columns`), or leaving the column out (`data.ignore`).
    ReadCell {
        /// The column's name.
        column: String,
        /// The cell's text.
        text: String,
        /// A kind of column that could have the cell.
        kind: &'static str,
    },
    /// Training again with another kind of column (`data.columns`).
    RetrainColumn {
        /// The column's name.
        column: String,
        /// A kind of column that could have the cell.
        kind: &'static str,
    },
    /// For a column of texts: leaving it out (`data.ignore`), naming rows by it (`data.id`), or
    /// declaring it a category (`data.columns`).
    LeaveOutColumn {
        /// The column's name.
        column: String,
    },
    /// Fewer columns (`data.ignore`).
    LeaveOutColumns,
    /// Another folder of data sets, or first fetching the data set of this name, if that is
    /// possible.
    FindData {
        /// Its name, where it can be fetched.
        fetch: Option<&'static str>,
    },
}

impl DataError {
    /// The same error, with a remedy.
    pub(crate) fn with_remedy(self, remedy: DataRemedy) -> Self {
        Self::WithRemedy {
            error: Box::new(self),
            remedy,
        }
    }
}
