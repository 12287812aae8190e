//! `--sampler optuna`: Optuna chooses the settings of trials, in a Python that has it and the
//! package `cpcvae`.

use cpcvae::{Error, Result};
use std::path::Path;
use std::process::Command;

/// The variable that selects another Python.
const PYTHON: &str = "CPCVAE_PYTHON";

/// Lets Optuna write the next trial into the journal of a search; returns its number.
pub(super) fn ask(folder: &Path) -> Result<usize> {
    let python = std::env::var(PYTHON).unwrap_or_else(|_| "python3".into());
    let problem = |problem: String| {
        Err(Error::Mismatch(format!(
            "Optuna could not be asked for a trial, by `{python} -m cpcvae.tune ask`: {problem}; \
             install the Python packages `cpcvae` and `optuna`, or name a Python that has them in \
             {PYTHON}"
        )))
    };
    let mut command = Command::new(&python);
    command.args(["-m", "cpcvae.tune", "ask"]).arg(folder);
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => return problem(error.to_string()),
    };
    let said = String::from_utf8_lossy(&output.stdout);
    match said.trim().parse() {
        Ok(number) if output.status.success() => Ok(number),
        _ => {
            let said = String::from_utf8_lossy(&output.stderr);
            let last = said.trim().lines().last().unwrap_or("it said nothing");
            problem(last.to_string())
        }
    }
}
