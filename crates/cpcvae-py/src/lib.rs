//! The native module of the Python package `cpcvae`: rows in, the library's front door, answers out.
//!
//! Python says what is wanted (`python/cpcvae`), this crate carries it over, and the library decides.
//! Nothing here knows mathematics or defaults.
#![forbid(unsafe_code)]

mod arrow;
mod convert;
mod error;
mod fit;
mod folder;
mod model;
mod table;
mod watch;

use pyo3::prelude::*;
use std::ffi::OsString;
use std::io::Write;

/// Training allocates and frees large buffers at every step, which the system's allocator does
/// slowly. Python's own memory does not come from here.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The command `cpcvae` with these arguments; gives the number that the process is to end with.
#[pyfunction]
fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| {
        let code = cpcvae_cli::run(arguments);
        // The process ends as a Python one, which does not know of this buffer.
        let _ = std::io::stdout().flush();
        code.0
    })
}

/// The methods: name and what each is, in a line.
#[pyfunction]
fn methods() -> Vec<(&'static str, &'static str)> {
    let methods = cpcvae::method::all();
    methods
        .map(|method| (method.name, method.summary))
        .collect()
}

/// What Python imports.
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
