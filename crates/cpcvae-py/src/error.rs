//! Library errors as Python exceptions.

use cpcvae::Error;
use cpcvae_data::DataError;
use pyo3::PyErr;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};

/// The exception for an error: `ValueError` for errors that the caller can correct, `OSError` for
/// files.
pub(crate) fn exception(error: impl Into<Error>) -> PyErr {
    let error = error.into();
    let text = error.to_string();
    match error {
        Error::File { .. } | Error::RunExists(_) => PyOSError::new_err(text),
        Error::Device(_) | Error::Stopped { .. } | Error::NotFinite { .. } => {
            PyRuntimeError::new_err(text)
        }
        _ => PyValueError::new_err(text),
    }
}

/// The exception for invalid values.
pub(crate) fn value_error(problem: impl Into<String>) -> PyErr {
    PyValueError::new_err(problem.into())
}

/// The same for data.
pub(crate) fn data_exception(error: DataError) -> PyErr {
    exception(error)
}
