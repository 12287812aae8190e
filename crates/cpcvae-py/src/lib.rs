//! The native module of the Python package `cpcvae`: rows in, predictions out.
//!
//! Python code (`python/cpcvae`) collects the arguments, this crate converts them, and the library
//! decides. There are no mathematics or defaults here.
#![forbid(unsafe_code)]

mod arrow;
mod convert;
mod error;
mod fit;
mod folder;
mod model;
mod report;
mod table;
mod watch;

use pyo3::prelude::*;
use std::ffi::OsString;
use std::io::Write;

/// Training allocates and frees large buffers at every step, which the system's allocator does
/// slowly. Python's own memory does not use this allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Runs the command `cpcvae` with these arguments; returns the exit code.
#[pyfunction]
fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| {
        let code = cpcvae_cli::run(arguments);
        // The process ends like a Python one, which does not flush this buffer.
        let _ = std::io::stdout().flush();
        code.0
    })
}

/// The methods: names and one-line summaries.
#[pyfunction]
fn methods() -> Vec<(&'static str, &'static str)> {
    let methods = cpcvae::method::all();
    methods
        .map(|method| (method.name, method.summary))
        .collect()
}

/// The Python module.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<table::Table>()?;
    module.add_class::<model::Model>()?;
    module.add_function(wrap_pyfunction!(main, module)?)?;
    module.add_function(wrap_pyfunction!(methods, module)?)?;
    module.add_function(wrap_pyfunction!(fit::fit, module)?)?;
    module.add_function(wrap_pyfunction!(fit::settings, module)?)
}
