//! A fitted model for Python: the library's `Fitted` with arrays as results.

use crate::convert::{Array, array, floats, matrix, rows};
use crate::error::{exception, value_error};
use crate::folder::{self, Files};
use crate::report;
use crate::table::Table;
use cpcvae::error::Result;
use cpcvae::estimator::{Fitted, PredictOptions, SampleOptions};
use cpcvae::export::OnnxOptions;
use cpcvae::infer::{CodeSource, Filling, IMPUTE_ITERATIONS, Reconstruction};
use cpcvae::prelude::{Dataset, Matrix};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

/// A trained model with its calibration and reports.
#[pyclass(module = "cpcvae._native", frozen, skip_from_py_object)]
#[derive(Clone)]
pub struct Model(Arc<Fitted>);

impl Model {
    pub fn new(fitted: Fitted) -> Self {
        Self(Arc::new(fitted))
    }

    /// Rows for the model. Warnings are logged in Python.
    fn rows(&self, py: Python<'_>, table: &Table) -> PyResult<Dataset> {
        let (data, warnings) = py.detach(|| table.rows_for(&self.0))?;
        if !warnings.is_empty() {
            let logging = py.import("logging")?;
            let logger = logging.call_method1("getLogger", ("cpcvae",))?;
            for warning in warnings {
                logger.call_method1("warning", ("%s", warning))?;
            }
        }
        Ok(data)
    }

    /// With another seed for random draws, if given.
    fn seeded(&self, seed: Option<u64>) -> Arc<Fitted> {
        match seed {
            Some(seed) => Arc::new(self.0.with_seed(seed)),
            None => Arc::clone(&self.0),
        }
    }
}

#[pymethods]
impl Model {
    /// Opens the folder of a finished run.
    #[staticmethod]
    #[pyo3(signature = (folder, device="cpu"))]
    fn load(py: Python<'_>, folder: PathBuf, device: &str) -> PyResult<Self> {
        let loaded = py.detach(|| Fitted::load_on(folder, device));
        Ok(Self::new(loaded.map_err(exception)?))
    }

    /// Writes a run folder, which the command line can open, too.
    fn save(&self, py: Python<'_>, folder: PathBuf) -> PyResult<()> {
        py.detach(|| self.0.save(folder)).map_err(exception)
    }

    /// The files of such a folder.
    fn files<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let files = py.detach(|| folder::files(&self.0))?;
        let all = PyDict::new(py);
        for (name, contents) in files {
            all.set_item(name, PyBytes::new(py, &contents))?;
        }
        Ok(all)
    }

    /// The model from such files.
    #[staticmethod]
    fn from_files(py: Python<'_>, files: &Bound<'_, PyDict>) -> PyResult<Self> {
        let mut all = Files::new();
        for (name, contents) in files {
            all.insert(name.extract()?, contents.extract::<Vec<u8>>()?);
        }
        Ok(Self::new(py.detach(|| folder::open(&all))?))
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyDict>,))> {
        let make = slf.py().get_type::<Self>().getattr("from_files")?;
        Ok((make, (slf.get().files(slf.py())?,)))
    }

    fn __deepcopy__(&self, _memo: &Bound<'_, PyAny>) -> Self {
        self.clone()
    }

    /// The model's metadata as JSON: the card, voters, whether labels were held out.
    fn about(&self) -> PyResult<String> {
        text(&report::about(&self.0))
    }

    /// Names of the classes; empty if labels are numbers.
    #[getter]
    fn classes(&self) -> Vec<String> {
        self.0.classes().to_vec()
    }

    /// The complete settings of its training, as TOML.
    #[getter]
    fn settings(&self) -> String {
        self.0.config().to_toml()
    }

    /// Every term of the objective over time: one JSON object a line.
    #[getter]
    fn history<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.0.history())
    }

    /// The reports of training and of held-out labels, as JSON.
    fn report(&self) -> PyResult<String> {
        text(&report::report(&self.0))
    }

    /// The method and its baselines on held-out labels, and the verdict, as JSON; `null` if no
    /// labels were held out.
    fn comparison(&self) -> PyResult<String> {
        text(&report::comparison(&self.0))
    }

    /// Predictions for rows: outputs, and what else was requested.
    #[pyo3(signature = (table, coverage=None, density=false, samples=0, seed=None))]
    fn predict<'py>(
        &self,
        py: Python<'py>,
        table: &Table,
        coverage: Option<f64>,
        density: bool,
        samples: usize,
        seed: Option<u64>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let data = self.rows(py, table)?;
        let fitted = self.seeded(seed);
        let usual = PredictOptions::default();
        let options = PredictOptions {
            coverage: coverage.unwrap_or(usual.coverage),
            density,
            samples,
            ..usual
        };
        let said = py
            .detach(|| fitted.predict_with(&data, options))
            .map_err(exception)?;
        let answers = PyDict::new(py);
        answers.set_item("outputs", matrix(py, &said.outputs)?)?;
        answers.set_item("offsets", said.offsets)?;
        answers.set_item("half_widths", said.half_widths)?;
        answers.set_item("sets", said.sets)?;
        let numbers = |values: Option<Vec<f32>>| {
            values
                .map(|values| array(py, &values, vec![values.len()]))
                .transpose()
        };
        answers.set_item("log_density", numbers(said.log_density)?)?;
        answers.set_item("percentile", numbers(said.percentile)?)?;
        Ok(answers)
    }

    /// Means and standard deviations of codes.
    fn encode<'py>(&self, py: Python<'py>, table: &Table) -> PyResult<(Array<'py>, Array<'py>)> {
        let data = self.rows(py, table)?;
        let codes = py.detach(|| self.0.encode(&data)).map_err(exception)?;
        Ok((matrix(py, &codes.mean)?, matrix(py, &codes.sigma)?))
    }

    /// Decodes codes, a buffer of 32-bit numbers, to rows.
    fn decode<'py>(
        &self,
        py: Python<'py>,
        codes: &Bound<'py, PyAny>,
        columns: usize,
    ) -> PyResult<Array<'py>> {
        let values = floats(codes)?;
        let codes = Matrix {
            rows: values.len() / columns.max(1),
            columns,
            values,
        };
        let made = py.detach(|| self.0.decode(&codes)).map_err(exception)?;
        rows(py, self.0.layout(), &made)
    }

    /// Lower bounds of log p(x), and importance-weighted estimates with `draws` draws of the code.
    #[pyo3(signature = (table, draws, seed=None))]
    fn score<'py>(
        &self,
        py: Python<'py>,
        table: &Table,
        draws: usize,
        seed: Option<u64>,
    ) -> PyResult<(Array<'py>, Array<'py>)> {
        let data = self.rows(py, table)?;
        let fitted = self.seeded(seed);
        let scores = py
            .detach(|| fitted.score(&data, draws))
            .map_err(exception)?;
        let numbers = |values: &[f32]| array(py, values, vec![values.len()]);
        Ok((numbers(&scores.elbo)?, numbers(&scores.log_likelihood)?))
    }

    /// Reconstructions of rows.
    fn reconstruct<'py>(&self, py: Python<'py>, table: &Table, kind: &str) -> PyResult<Array<'py>> {
        let kind = match kind {
            "mean" => Reconstruction::Mean,
            "sampled" => Reconstruction::Sampled,
            "aligned" => Reconstruction::Aligned,
            "transformed" => Reconstruction::Transformed,
            other => {
                return Err(value_error(format!(
                    "there is no reconstruction `{other}`; there are mean, sampled, aligned and \
                     transformed"
                )));
            }
        };
        let data = self.rows(py, table)?;
        let made = py
            .detach(|| self.0.reconstruct(&data, kind))
            .map_err(exception)?;
        rows(py, self.0.layout(), &made)
    }

    /// New rows, of a class if one is named.
    #[pyo3(signature = (count, class_=None, noisy=false, prior=false, threshold=None, seed=None))]
    #[allow(clippy::too_many_arguments)]
    fn sample<'py>(
        &self,
        py: Python<'py>,
        count: usize,
        class_: Option<&str>,
        noisy: bool,
        prior: bool,
        threshold: Option<f32>,
        seed: Option<u64>,
    ) -> PyResult<Array<'py>> {
        let usual = SampleOptions::default();
        let options = SampleOptions {
            noisy,
            codes: if prior {
                CodeSource::Prior
            } else {
                usual.codes
            },
            threshold: threshold.unwrap_or(usual.threshold),
            ..usual
        };
        let fitted = self.seeded(seed);
        let made = py.detach(|| match class_ {
            Some(class) => Ok(fitted.sample_class(class, count, options)?.rows),
            None => fitted.sample_with(count, options),
        });
        rows(py, self.0.layout(), &made.map_err(exception)?)
    }

    /// Rows with missing cells imputed by the mean, or by the draw of that number.
    #[pyo3(signature = (table, draw=None, iterations=None, seed=None))]
    fn impute<'py>(
        &self,
        py: Python<'py>,
        table: &Table,
        draw: Option<usize>,
        iterations: Option<usize>,
        seed: Option<u64>,
    ) -> PyResult<Array<'py>> {
        let data = self.rows(py, table)?;
        let filling = draw.map_or(Filling::Mean, Filling::Draw);
        let fitted = self.seeded(seed);
        let iterations = iterations.unwrap_or(IMPUTE_ITERATIONS);
        let filled = py.detach(|| fitted.impute(&data, filling, iterations));
        rows(py, self.0.layout(), &filled.map_err(exception)?.rows)
    }

    /// Rows to label next: number, class, entropy, percentile.
    fn suggest(
        &self,
        py: Python<'_>,
        table: &Table,
        count: usize,
    ) -> PyResult<Vec<(usize, String, f64, f32)>> {
        let data = self.rows(py, table)?;
        let found = py
            .detach(|| self.0.suggest(&data, count))
            .map_err(exception)?;
        let found = found.into_iter();
        Ok(found
            .map(|one| (one.row, one.label, one.entropy, one.percentile))
            .collect())
    }

    /// Evaluation on rows whose classes are known, as JSON.
    fn evaluate(&self, py: Python<'_>, table: &Table) -> PyResult<String> {
        let data = self.rows(py, table)?;
        let found = py.detach(|| self.0.evaluate(&data)).map_err(exception)?;
        text(&json!(found))
    }

    /// Writes an ONNX graph; returns its inputs and outputs as JSON.
    #[pyo3(signature = (path, network_only=false))]
    fn export_onnx(&self, py: Python<'_>, path: PathBuf, network_only: bool) -> PyResult<String> {
        let written = py.detach(|| -> Result<_> {
            let file = self.0.onnx(OnnxOptions { network_only })?;
            file.save(&path)?;
            Ok(file)
        });
        text(&json!(written.map_err(exception)?))
    }

    /// Writes `report.html`, a page about the model on its training rows.
    fn write_report(&self, py: Python<'_>, table: &Table, path: PathBuf) -> PyResult<()> {
        let data = self.rows(py, table)?;
        py.detach(|| self.0.write_html_report(&data, &path))
            .map_err(exception)
    }
}

fn text(value: &Value) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| value_error(error.to_string()))
}
