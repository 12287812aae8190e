//! A run's folder as files in memory, and back, for pickling.

use crate::error::{exception, value_error};
use cpcvae::estimator::Fitted;
use pyo3::PyErr;
use pyo3::exceptions::PyOSError;
use std::collections::BTreeMap;
use std::path::{Component, Path};

/// The files of a run: contents by path, with `/` between folders.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// The files that saving the model writes.
pub(crate) fn files(fitted: &Fitted) -> Result<Files, PyErr> {
    let place = tempfile::tempdir().map_err(PyOSError::new_err)?;
    let folder = place.path().join("run");
    fitted.save(&folder).map_err(exception)?;
    let mut files = Files::new();
    gather(&folder, "", &mut files).map_err(PyOSError::new_err)?;
    Ok(files)
}

fn gather(folder: &Path, before: &str, files: &mut Files) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{before}{}", entry.file_name().to_string_lossy());
        match entry.file_type()?.is_dir() {
            true => gather(&entry.path(), &format!("{name}/"), files)?,
            false => {
                files.insert(name, std::fs::read(entry.path())?);
            }
        }
    }
    Ok(())
}

/// The model from such files. They are read like a run's folder: nothing in them is executed.
pub(crate) fn open(files: &Files) -> Result<Fitted, PyErr> {
    let place = tempfile::tempdir().map_err(PyOSError::new_err)?;
    let folder = place.path().join("run");
    for (name, contents) in files {
        let inside = Path::new(name).components();
        if !inside
            .clone()
            .all(|part| matches!(part, Component::Normal(_)))
        {
            return Err(value_error(format!(
                "`{name}` is no file of a run's folder"
            )));
        }
        let path = folder.join(name);
        let parent = path.parent().unwrap_or(&folder);
        std::fs::create_dir_all(parent).map_err(PyOSError::new_err)?;
        std::fs::write(&path, contents).map_err(PyOSError::new_err)?;
    }
    Ok(Fitted::load(&folder).map_err(exception)?.in_memory())
}
