//! A data set as opened, with its test rows and split.

use crate::{Dataset, Split};

/// The result of opening or generating a data set.
///
/// ```
/// use cpcvae_data::{Dataset, Labels, Source};
///
/// let rows = Dataset::from_rows(&[[1.0], [2.0]], Labels::None)?;
/// let source = Source::from(rows);
/// assert!(source.test.is_none());
/// # Ok::<(), cpcvae_data::DataError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Source {
    /// The rows to train (and validate) on.
    pub rows: Dataset,
    /// The data set's own test rows, where it has them.
    pub test: Option<Dataset>,
    /// Which of `rows` are labelled, where the data set itself says so.
    pub split: Option<Split>,
}

impl From<Dataset> for Source {
    fn from(rows: Dataset) -> Source {
        Source {
            rows,
            test: None,
            split: None,
        }
    }
}

impl From<&Dataset> for Source {
    /// The rows are shared, not copied.
    fn from(rows: &Dataset) -> Source {
        rows.clone().into()
    }
}

impl From<&Source> for Source {
    fn from(source: &Source) -> Source {
        source.clone()
    }
}
