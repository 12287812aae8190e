//! Options for reading rows of a file for a fitted model.

use std::path::PathBuf;

/// How rows are read, where it differs from the training rows.
///
/// ```
/// use cpcvae::estimator::{RowOptions, WantedLabels};
/// let options = RowOptions { labels: WantedLabels::WhereThere, ..RowOptions::default() };
/// assert!(!options.strict);
/// ```
#[derive(Clone, Debug, Default)]
pub struct RowOptions {
    /// Which labels are read.
    pub labels: WantedLabels,
    /// Images: the table of files and labels.
    pub labels_file: Option<PathBuf>,
    /// NPZ: the array of features.
    pub features_name: Option<String>,
    /// Images: whether one that cannot be read is an error.
    pub strict: bool,
    /// The most bytes that a compressed file may unpack to.
    pub most_bytes: Option<u64>,
    /// The folder of built-in data sets.
    pub data_dir: PathBuf,
}

/// Which labels of the rows are read.
///
/// ```
/// use cpcvae::estimator::{LabelColumns, WantedLabels};
///
/// let column = LabelColumns { names: vec!["class".into()], ..LabelColumns::default() };
/// let wanted = WantedLabels::All(column);
/// assert!(matches!(wanted, WantedLabels::All(columns) if columns.names == ["class"]));
/// ```
#[derive(Clone, Debug, Default)]
pub enum WantedLabels {
    /// None.
    #[default]
    None,
    /// Those of the run's own label columns, if these exist: only whether they are known.
    WhereThere,
    /// All, numbered like the model's.
    All(LabelColumns),
}

/// The label columns of a table, if they differ from the run's.
///
/// ```
/// use cpcvae::estimator::LabelColumns;
///
/// // No names: those of the run.
/// let columns = LabelColumns { unlabelled_value: Some("?".into()), ..LabelColumns::default() };
/// assert!(columns.names.is_empty());
/// ```
#[derive(Clone, Debug, Default)]
pub struct LabelColumns {
    /// Their names.
    pub names: Vec<String>,
    /// What means "not labelled".
    pub unlabelled_value: Option<String>,
}
