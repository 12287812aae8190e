//! One error type. Messages say what is wrong, where, and what to do.

use std::path::{Path, PathBuf};

/// What can go wrong in a search.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// A space that cannot be searched.
    #[error("{context}: {problem}")]
    Space {
        /// The file it was read from.
        context: String,
        /// The parameter and what is wrong with it.
        problem: String,
    },

    /// A file could not be read or written.
    #[error("{}: {problem}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What happened.
        problem: String,
    },

    /// A line of a journal that is not in Optuna's format.
    #[error("{}, line {line}: {problem}; move the file away to start afresh", path.display())]
    Journal {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What is wrong.
        problem: String,
    },

    /// A trial that the study does not have, or that has an invalid state.
    #[error("trial {number}: {problem}")]
    Trial {
        /// Its number.
        number: usize,
        /// What is wrong, and what to do.
        problem: String,
    },
}

impl SearchError {
    pub(crate) fn file(path: &Path, problem: impl ToString) -> Self {
        Self::File {
            path: path.into(),
            problem: problem.to_string(),
        }
    }
}

/// The result type of this crate.
pub type Result<T> = std::result::Result<T, SearchError>;
