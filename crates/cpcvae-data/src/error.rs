//! The one error type of this crate.

use crate::DataRemedy;
use std::path::{Path, PathBuf};

/// What this crate's fallible functions return.
pub type Result<T> = std::result::Result<T, DataError>;

/// What can go wrong with data. Every message says what is wrong, where, and
/// what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// An error with a known remedy.
    #[error("{error}")]
    WithRemedy {
        /// The error.
        error: Box<DataError>,
        /// What can be done.
        remedy: DataRemedy,
    },

    /// The operating system refused to read or write a file.
    #[error("cannot {action} {}: {source}", path.display())]
    File {
        /// What was tried: "read", "write", "create" ...
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The reason given by the operating system or the decompressor.
        source: std::io::Error,
    },

    /// A file is there but its content is not what it should be.
    #[error("{}: {problem}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong in it, and what to do.
        problem: String,
    },

    /// One cell or line of a table cannot be used.
    #[error("{}, {place}: {problem}", path.display())]
    Table {
        /// The file.
        path: PathBuf,
        /// Line, row and column, as far as they apply.
        place: String,
        /// What is wrong there, and what to do.
        problem: String,
    },

    /// Several columns of a table cannot be used.
    #[error("{}: {} columns cannot be used as they are:{}", path.display(), problems.len(), listed(problems))]
    Columns {
        /// The file.
        path: PathBuf,
        /// For each column where and what is wrong, and what to do.
        problems: Vec<String>,
    },

    /// A data set's files are not on this machine.
    #[error("{what} not found: looked in {looked_in}. {advice}")]
    Missing {
        /// Which data set or file.
        what: String,
        /// The folders looked at.
        looked_in: String,
        /// How to get it.
        advice: String,
    },

    /// A feature is not what its column says it is.
    #[error(
        "`{dataset}`, row {row}, column `{column}`: {value} {problem}; correct such cells, or \
         leave them missing (NaN) in a table"
    )]
    BadValue {
        /// The data set's name.
        dataset: String,
        /// The row, counted from 0.
        row: usize,
        /// The column's name, or the pixel's place.
        column: String,
        /// The value found.
        value: String,
        /// What is wrong with it.
        problem: &'static str,
    },

    /// Arrays that belong together differ in size.
    #[error("sizes do not fit: {0}")]
    Shape(String),

    /// The labels cannot be used as asked.
    #[error("labels: {0}")]
    Labels(String),

    /// The rows cannot be split as asked.
    #[error("cannot split the rows: {0}")]
    Split(String),

    /// Batches cannot be laid out as asked.
    #[error("cannot make batches: {0}")]
    Batch(String),

    /// A generator's setting is out of range.
    #[error("cannot generate `{dataset}`: {problem}")]
    Generate {
        /// The generated data set's name.
        dataset: &'static str,
        /// Which setting is wrong and what it may be.
        problem: String,
    },

    /// No built-in data set has this name.
    #[error("there is no built-in data set `{name}`; the names are: {known}")]
    UnknownDataset {
        /// The name asked for.
        name: String,
        /// All names there are.
        known: String,
    },

    /// A name that is neither a file nor a built-in data set.
    #[error(
        "there is no file or folder `{name}`, and no built-in data set of that name (there are {known})"
    )]
    UnknownName {
        /// The name asked for.
        name: String,
        /// The built-in data sets.
        known: String,
    },

    /// A setting of `[data]` is wrong.
    #[error("setting `{key}`: {problem}")]
    Setting {
        /// The key as written in the configuration file.
        key: &'static str,
        /// What is wrong with it, and what would be right.
        problem: String,
    },

    /// A table does not say where its labels are.
    #[error(
        "{}: which column holds the labels? Name it; rows without a label are left blank in it{beside}",
        path.display()
    )]
    NoLabelColumn {
        /// The file.
        path: PathBuf,
        /// What there is beside the features, to be read after the sentence.
        beside: String,
    },

    /// No image of a set has a label.
    #[error("{}: no image has a label", .0.display())]
    UnlabelledImages(PathBuf),

    /// A download failed everywhere it was tried.
    #[error("cannot fetch {what}: {reasons}. {advice}")]
    Fetch {
        /// Which file.
        what: String,
        /// What each place answered.
        reasons: String,
        /// What to do instead.
        advice: String,
    },
}

/// So many columns are listed in a message.
const MOST_LISTED: usize = 20;

/// One a line.
fn listed(problems: &[String]) -> String {
    let lines = problems
        .iter()
        .take(MOST_LISTED)
        .map(|line| format!("\n  {line}"));
    let more = match problems.len().saturating_sub(MOST_LISTED) {
        0 => String::new(),
        more => format!("\n  and {more} more"),
    };
    lines.collect::<String>() + &more
}

impl DataError {
    /// What is wrong with the columns of a table, all at once; `None` where nothing is.
    pub(crate) fn of_columns(path: &Path, mut errors: Vec<DataError>) -> Option<DataError> {
        if errors.len() < 2 {
            return errors.pop();
        }
        fn line(error: DataError) -> String {
            match error {
                DataError::Table { place, problem, .. } => format!("{place}: {problem}"),
                DataError::WithRemedy { error, .. } => line(*error),
                other => other.to_string(),
            }
        }
        Some(DataError::Columns {
            path: path.to_path_buf(),
            problems: errors.into_iter().map(line).collect(),
        })
    }

    /// The same with another path in place of `from`.
    pub(crate) fn renamed(mut self, from: &Path, to: &Path) -> DataError {
        self.rename(from, to);
        self
    }

    fn rename(&mut self, from: &Path, to: &Path) {
        match self {
            DataError::WithRemedy { error, .. } => error.rename(from, to),
            DataError::File { path, .. }
            | DataError::Content { path, .. }
            | DataError::Table { path, .. }
            | DataError::Columns { path, .. }
                if path == from =>
            {
                *path = to.to_path_buf();
            }
            _ => {}
        }
    }

    /// For `map_err` on a file operation.
    pub(crate) fn file(
        action: &'static str,
        path: &Path,
    ) -> impl FnOnce(std::io::Error) -> DataError {
        let path = path.to_path_buf();
        move |source| DataError::File {
            action,
            path,
            source,
        }
    }

    /// A setting with a bad value.
    pub(crate) fn setting(key: &'static str, problem: impl Into<String>) -> DataError {
        DataError::Setting {
            key,
            problem: problem.into(),
        }
    }

    /// A problem with the content of a whole file.
    pub(crate) fn content(path: &Path, problem: impl Into<String>) -> DataError {
        DataError::Content {
            path: path.to_path_buf(),
            problem: problem.into(),
        }
    }
}
