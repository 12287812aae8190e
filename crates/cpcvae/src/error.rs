//! One error type for the library. Messages say what is wrong, where, and what to do.

use std::path::{Path, PathBuf};

/// What can go wrong in `cpcvae`.
///
/// ```
/// use cpcvae::prelude::*;
///
/// let data = Dataset::from_rows(&[[0.0], [1.0]], Labels::classes([Some("a"), Some("b")]))?;
/// let refused = Cpc::new().set("method.lamda", 3.0).fit(&data).unwrap_err();
/// assert!(matches!(refused, Error::UnknownSetting { .. }), "{refused}");
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The data could not be read or does not suit the task.
    #[error(transparent)]
    Data(#[from] cpcvae_data::DataError),

    /// A search for settings, or its journal.
    #[error(transparent)]
    Search(#[from] cpcvae_search::SearchError),

    /// A setting is wrong.
    #[error("setting `{key}`: {problem}")]
    Setting {
        /// The key as written in the configuration file.
        key: String,
        /// What is wrong with it, and what would be right.
        problem: String,
    },

    /// A key that the configuration does not have.
    #[error("unknown setting `{key}`; did you mean `{nearest}`?")]
    UnknownSetting {
        /// The key as written.
        key: String,
        /// The known key that is closest to it.
        nearest: String,
    },

    /// The configuration file is not valid TOML, or a value has the wrong type.
    #[error("{context}: {problem}")]
    Config {
        /// The file or argument.
        context: String,
        /// What the parser said.
        problem: String,
    },

    /// The data does not fit the model, or the model lacks what is asked for.
    #[error("{0}")]
    Mismatch(String),

    /// A file could not be read or written.
    #[error("{}: {problem}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What happened, and what to do.
        problem: String,
    },

    /// Training met a value that is not finite.
    #[error(
        "step {step}: the term `{term}` is {value}; {} (try a smaller `train.learning_rate`, a \
         `train.clip_norm` of 10, or look for outliers in the data)",
        kept(checkpoint)
    )]
    NotFinite {
        /// The step at which it happened.
        step: u64,
        /// The term of the objective.
        term: String,
        /// Its value.
        value: f32,
        /// The checkpoint before that step.
        checkpoint: PathBuf,
    },

    /// One of several trainings failed.
    #[error("{what}: {source}")]
    Part {
        /// Which one.
        what: String,
        /// Why.
        source: Box<Error>,
    },

    /// A run was started in the folder before.
    #[error("there is a run in {} already; resume it, or choose another folder", .0.display())]
    RunExists(PathBuf),

    /// A stop was asked for before the model was ready. With a folder, the same call resumes from
    /// there.
    #[error("stopped at step {step} before the model was ready")]
    Stopped {
        /// Steps that were taken.
        step: u64,
    },

    /// An error with a known remedy.
    #[error("{error}")]
    WithRemedy {
        /// The error.
        error: Box<Error>,
        /// What can be done.
        remedy: Remedy,
    },

    /// The requested device is not in this build or not on this machine.
    #[error("{0}")]
    Device(String),
}

/// A remedy for an error. Messages name settings; a caller with other words for them, such as the
/// flags of a command line, matches on this and adds its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Naming the labels of the data (`data.label`).
    NameLabels,
    /// Holding out rows that no training sees (`data.test`).
    HoldOutRows,
    /// Training for missing cells (`model.missing_cells`).
    ExpectMissingCells,
    /// Training with an affine transform in the code (`model.transform.enabled`).
    EnableTransform,
    /// A constraint on the loss (`constraint.measure = "loss"`).
    ConstrainLoss,
    /// Other limits of the rejection sampler.
    RelaxRejection,
    /// Resuming the run.
    Resume,
    /// Another folder for the run.
    OtherFolder,
    /// Comparing with a plain VAE trained for the comparison.
    TrainPlainVae,
    /// Evaluating predictions.
    Evaluate,
}

/// Names the checkpoint that is left on disk when training fails.
fn kept(checkpoint: &Path) -> String {
    if checkpoint.exists() {
        format!(
            "the last good checkpoint is kept in {}",
            checkpoint.display()
        )
    } else {
        "it came before the first checkpoint".into()
    }
}

/// Results of this library.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// The same error, with a way out.
    pub(crate) fn with_remedy(self, remedy: Remedy) -> Self {
        Self::WithRemedy {
            error: Box::new(self),
            remedy,
        }
    }

    /// A file problem with its path.
    pub fn file(path: &Path, problem: impl std::fmt::Display) -> Self {
        Self::File {
            path: path.to_owned(),
            problem: problem.to_string(),
        }
    }

    /// A setting with a bad value.
    pub fn setting(key: &str, problem: impl Into<String>) -> Self {
        Self::Setting {
            key: key.into(),
            problem: problem.into(),
        }
    }
}
