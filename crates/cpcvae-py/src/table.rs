//! Rows passed from Python: a table column by column or in blocks, or images.

use crate::arrow;
use crate::convert::{bytes, doubles, floats};
use crate::error::{data_exception, exception, value_error};
use cpcvae::config::RunConfig;
use cpcvae::estimator::{Fitted, WantedLabels};
use cpcvae::prelude::{Dataset, Labels, Layout, Matrix, Source};
use cpcvae_data::{
    Cells, DataConfig, NumberKind, PackedNumbers, RawColumn, RawTable, SharedBytes, TaskSetting,
};
use pyo3::prelude::*;

/// The name of the rows in messages and reports.
const NAME: &str = "rows";

/// Labels passed from Python.
#[derive(Clone, Debug)]
enum Given {
    None,
    Classes {
        names: Vec<String>,
        of_row: Vec<Option<u32>>,
    },
    /// Columns of numbers, NaN for missing labels.
    Values(Vec<RawColumn>),
}

/// Rows with their known labels.
#[pyclass(module = "cpcvae._native", from_py_object)]
#[derive(Clone, Debug)]
pub struct Table {
    rows: usize,
    columns: Vec<RawColumn>,
    images: Option<(Matrix, [usize; 3])>,
    labels: Given,
    label_names: Vec<String>,
}

#[pymethods]
impl Table {
    /// Without columns.
    #[new]
    fn new(rows: usize) -> Self {
        Self {
            rows,
            columns: Vec::new(),
            images: None,
            labels: Given::None,
            label_names: Vec::new(),
        }
    }

    /// A frame with the Arrow stream interface: pandas, polars, pyarrow.
    #[staticmethod]
    fn from_stream(frame: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (rows, columns) = arrow::columns(frame)?;
        Ok(Self {
            columns,
            ..Self::new(rows)
        })
    }

    /// Images with pixels in [0, 1]: a buffer of 32-bit numbers by row, height, width, channel.
    #[staticmethod]
    fn images(pixels: &Bound<'_, PyAny>, rows: usize, shape: [usize; 3]) -> PyResult<Self> {
        let width = shape.iter().product();
        let pixels = Matrix::new(rows, width, floats(pixels)?).map_err(data_exception)?;
        Ok(Self {
            images: Some((pixels, shape)),
            ..Self::new(rows)
        })
    }

    /// Columns of numbers in one row-major buffer, with a numpy data type.
    fn numbers(
        &mut self,
        names: Vec<String>,
        buffer: &Bound<'_, PyAny>,
        kind: &str,
    ) -> PyResult<()> {
        let kind = number_kind(kind)?;
        let shared = SharedBytes::from(bytes(buffer)?);
        let stride = names.len() * kind.size();
        for (place, name) in names.into_iter().enumerate() {
            let start = place * kind.size();
            let format = (kind, cfg!(target_endian = "big"));
            let packed = PackedNumbers::new(shared.clone(), format, start, stride, self.rows);
            let short = || value_error(format!("the buffer holds fewer than {} rows", self.rows));
            let cells = Cells::Packed(packed.ok_or_else(short)?);
            self.columns.push(RawColumn { name, cells });
        }
        Ok(())
    }

    /// A column of flags: bytes, 0 and 1, and 255 where one is missing.
    fn flags(&mut self, name: String, buffer: &Bound<'_, PyAny>) -> PyResult<()> {
        let flag = |byte: u8| (byte != 255).then_some(byte != 0);
        let cells = Cells::Flags(bytes(buffer)?.into_iter().map(flag).collect());
        self.columns.push(RawColumn { name, cells });
        Ok(())
    }

    /// A column of texts; `None` for missing ones.
    fn texts(&mut self, name: String, texts: Vec<Option<String>>) {
        let texts = texts.into_iter().map(Option::unwrap_or_default);
        let cells = Cells::Texts(texts.map(|text| text.trim().into()).collect());
        self.columns.push(RawColumn { name, cells });
    }

    /// Class labels: the index in `names` for each row, negative for missing labels.
    fn classes(&mut self, column: String, names: Vec<String>, of_row: Vec<i64>) {
        let place = |place: i64| u32::try_from(place).ok();
        let of_row = of_row.into_iter().map(place).collect();
        self.label_names = vec![column];
        self.labels = Given::Classes { names, of_row };
    }

    /// Continuous labels, a buffer of 64-bit numbers for each name, NaN for missing labels.
    fn values(&mut self, names: Vec<String>, buffers: Vec<Bound<'_, PyAny>>) -> PyResult<()> {
        let columns = names.iter().zip(&buffers).map(|(name, buffer)| {
            Ok(RawColumn {
                name: name.clone(),
                cells: Cells::Numbers(doubles(buffer)?),
            })
        });
        self.labels = Given::Values(columns.collect::<PyResult<_>>()?);
        self.label_names = names;
        Ok(())
    }

    /// Number of rows.
    fn __len__(&self) -> usize {
        self.rows
    }

    /// Names of the columns.
    #[getter]
    fn names(&self) -> Vec<String> {
        let names = self.columns.iter().map(|column| column.name.clone());
        names.collect()
    }
}

impl Table {
    /// Whether the rows are images.
    pub fn holds_images(&self) -> bool {
        self.images.is_some()
    }

    /// The rows for a training with these settings, with warnings.
    pub fn source(&self, config: &RunConfig) -> PyResult<(Source, Vec<String>)> {
        let mut of_data = DataConfig {
            source: NAME.into(),
            ..config.data.clone()
        };
        if !self.label_names.is_empty() {
            of_data.label = self.label_names.clone();
        }
        if let Some((pixels, shape)) = &self.images {
            let labels = match &self.labels {
                Given::Values(columns) => number_labels(columns),
                given => class_labels(given),
            };
            let images = Dataset::from_images(pixels.clone(), *shape, labels);
            let mut images = images.map_err(data_exception)?;
            images.origin = Some(Box::new(of_data));
            return Ok((images.into(), Vec::new()));
        }
        let mut options = of_data.table_options().map_err(data_exception)?;
        let mut raw = self.raw();
        options.labels.clear();
        if let Given::Values(columns) = &self.labels {
            of_data.task = TaskSetting::Regress;
            options.task = of_data.task.task();
            options.labels = self.label_names.clone();
            raw.columns.extend(columns.iter().cloned());
        }
        options.ignore = of_data.ignore.clone();
        let table = cpcvae_data::Table::new(&raw, &options).map_err(data_exception)?;
        let (mut data, warnings) = (table.data, table.warnings);
        if let Given::Classes { .. } = &self.labels {
            of_data.task = TaskSetting::Classify;
            data.labels = class_labels(&self.labels);
        }
        data.origin = Some(Box::new(of_data));
        Ok((data.into(), warnings))
    }

    /// The rows for a model, with class labels if there are any.
    pub fn rows_for(&self, fitted: &Fitted) -> PyResult<(Dataset, Vec<String>)> {
        let (mut data, warnings) = match (&self.images, fitted.layout()) {
            (Some((pixels, shape)), _) => {
                let images = Dataset::from_images(pixels.clone(), *shape, Labels::None);
                (images.map_err(data_exception)?, Vec::new())
            }
            (None, Layout::Columns(_)) => {
                let opened = fitted.table(self.raw(), &WantedLabels::None);
                let opened = opened.map_err(exception)?;
                (opened.data, opened.warnings)
            }
            (None, Layout::Image { height, width, .. }) => {
                return Err(value_error(format!(
                    "the model was trained on images of {height} x {width} pixels; ask it about an \
                     array of shape [rows, height, width] or [rows, height, width, channels]"
                )));
            }
        };
        if let Given::Classes { .. } = &self.labels {
            let labels = class_labels(&self.labels);
            let labels = labels.with_class_names(fitted.classes());
            data.labels = labels.map_err(data_exception)?;
        }
        Ok((data, warnings))
    }

    fn raw(&self) -> RawTable {
        RawTable {
            path: NAME.into(),
            columns: self.columns.clone(),
            beside: Vec::new(),
            rows: self.rows,
        }
    }
}

fn class_labels(given: &Given) -> Labels {
    match given {
        Given::Classes { names, of_row } => Labels::Classes {
            names: names.clone(),
            of_row: of_row.clone(),
        },
        Given::None | Given::Values(_) => Labels::None,
    }
}

/// Continuous labels of images, which have no table for interpreting them.
fn number_labels(columns: &[RawColumn]) -> Labels {
    let number = |column: &RawColumn, row: usize| match &column.cells {
        Cells::Numbers(numbers) => numbers[row] as f32,
        _ => f32::NAN,
    };
    let rows = columns.first().map_or(0, |column| column.cells.len());
    let of_row = (0..rows).map(|row| {
        let label: Vec<f32> = columns.iter().map(|column| number(column, row)).collect();
        (!label.iter().any(|value| value.is_nan())).then_some(label)
    });
    Labels::Values {
        names: columns.iter().map(|column| column.name.clone()).collect(),
        of_row: of_row.collect(),
        offsets: Vec::new(),
    }
}

fn number_kind(name: &str) -> PyResult<NumberKind> {
    NumberKind::from_numpy(name)
        .ok_or_else(|| value_error(format!("numbers of the kind `{name}` are not read")))
}
