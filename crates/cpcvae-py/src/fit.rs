//! Training: an estimator of the library from Python's request.

use crate::error::{exception, value_error};
use crate::model::Model;
use crate::table::Table;
use crate::watch::watched;
use cpcvae::config::{Preset, RunConfig};
use cpcvae::estimator::{Estimator, Fit};
use cpcvae::method::DataKind;
use cpcvae::prelude::Source;
use pyo3::prelude::*;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// The request of a fit; what is missing is chosen by the library.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    method: String,
    #[serde(default)]
    preset: Option<String>,
    /// Settings by their keys.
    #[serde(default)]
    settings: BTreeMap<String, serde_json::Value>,
    #[serde(default)]
    folds: Option<usize>,
    #[serde(default)]
    repeats: Option<usize>,
    #[serde(default)]
    hold_out: Option<bool>,
    #[serde(default)]
    compare: bool,
    /// Seconds.
    #[serde(default)]
    budget: Option<f64>,
    #[serde(default)]
    device: Option<String>,
    #[serde(default)]
    folder: Option<PathBuf>,
    #[serde(default)]
    resume: bool,
    #[serde(default)]
    overwrite: bool,
}

impl Asked {
    fn parse(text: &str) -> PyResult<Self> {
        serde_json::from_str(text).map_err(|error| value_error(error.to_string()))
    }

    fn estimator(&self) -> PyResult<Estimator> {
        let mut estimator = Estimator::named(&self.method).compare(self.compare);
        match self.preset.as_deref() {
            None | Some("default") => {}
            Some("paper") => estimator = estimator.preset(Preset::Paper),
            Some(other) => {
                return Err(value_error(format!(
                    "there is no preset `{other}`; there are default and paper"
                )));
            }
        }
        for (key, value) in &self.settings {
            let value = toml::Value::try_from(value);
            let value = value.map_err(|error| value_error(format!("setting `{key}`: {error}")))?;
            estimator = estimator.set(key, value);
        }
        if let Some(device) = &self.device {
            estimator = estimator.device(device);
        }
        if let Some(wanted) = self.hold_out {
            estimator = estimator.hold_out(wanted);
        }
        if let Some(folds) = self.folds {
            estimator = estimator.folds(folds);
        }
        if let Some(repeats) = self.repeats {
            estimator = estimator.repeats(repeats);
        }
        if let Some(seconds) = self.budget {
            let time = Duration::try_from_secs_f64(seconds);
            let time =
                time.map_err(|error| value_error(format!("a budget of {seconds}: {error}")))?;
            estimator = estimator.budget(time);
        }
        if let Some(folder) = &self.folder {
            estimator = estimator.folder(folder);
        }
        Ok(estimator.resume(self.resume).overwrite(self.overwrite))
    }

    /// The rows as the settings say, with warnings.
    fn source(&self, estimator: &Estimator, table: &Table) -> PyResult<(Source, Vec<String>)> {
        let kind = match table.holds_images() {
            true => DataKind::Images,
            false => DataKind::Table,
        };
        let usual = RunConfig::defaults(&self.method, kind, "rows").map_err(exception)?;
        let config = estimator.request().laid_over(usual).map_err(exception)?;
        table.source(&config)
    }
}

/// Trains a model. `asked` is JSON; `listener` receives the progress, and may raise an error to
/// stop it.
#[pyfunction]
#[pyo3(signature = (table, asked, listener=None))]
pub(crate) fn fit(
    py: Python<'_>,
    table: &Table,
    asked: &str,
    listener: Option<Py<PyAny>>,
) -> PyResult<Model> {
    let asked = Asked::parse(asked)?;
    let estimator = asked.estimator()?;
    let (source, warnings) = py.detach(|| asked.source(&estimator, table))?;
    let fitted = watched(py, listener.as_ref(), |watch| {
        warnings.iter().for_each(|warning| watch.note(warning));
        estimator.fit_watched(source, watch)
    })?;
    Ok(Model::new(fitted.map_err(exception)?))
}

/// The complete settings of a fit, as TOML.
#[pyfunction]
pub(crate) fn settings(py: Python<'_>, table: &Table, asked: &str) -> PyResult<String> {
    let asked = Asked::parse(asked)?;
    let estimator = asked.estimator()?;
    py.detach(|| {
        let (source, _) = asked.source(&estimator, table)?;
        Ok(estimator
            .settings(&source.rows)
            .map_err(exception)?
            .to_toml())
    })
}
