//! Rows of a file for a fitted model: opened like its training rows.

use super::{Fitted, RowOptions, WantedLabels};
use crate::config::RunConfig;
use crate::error::{Error, Result};
use crate::model::Target;
use cpcvae_data::{
    BuiltIn, DataConfig, DataError, DataName, Dataset, Grey, ImageSet, Labels, Layout, Opened,
    RawTable, ReadOptions, Table, TableOptions, Task, open_path,
};
use std::path::Path;

/// Opened rows for a fitted model.
///
/// ```
/// use cpcvae::estimator::RowOptions;
/// use cpcvae::prelude::*;
/// # let folder = tempfile::tempdir().expect("a folder");
/// # let path = folder.path().join("rows.csv");
/// # let mut table = String::from("length,class\n");
/// # (0..40).for_each(|i| table += &format!("{}.5,{}\n", i % 7, ["a", "b"][i % 2]));
/// # std::fs::write(&path, table).expect("a file");
/// let data = Dataset::read(&path, Label::column("class"))?;
/// let fitted = Pc::new().steps(20).hold_out(false).fit(&data)?;
/// let opened = fitted.open_rows(&path.display().to_string(), &RowOptions::default())?;
/// assert_eq!((opened.data.len(), opened.warnings.len()), (40, 0));
/// # Ok::<(), cpcvae::Error>(())
/// ```
#[derive(Debug)]
pub struct OpenedRows {
    /// The unprepared rows, with the requested labels.
    pub data: Dataset,
    /// The table they come from, if it is one.
    pub raw: Option<RawTable>,
    /// Warnings for the user; each a sentence.
    pub warnings: Vec<String>,
    /// Images that were left out, and why.
    pub skipped: Vec<(String, String)>,
}

impl OpenedRows {
    fn of(data: Dataset) -> Self {
        Self {
            data,
            raw: None,
            warnings: Vec::new(),
            skipped: Vec::new(),
        }
    }
}

impl Fitted {
    /// Rows of a file for this model, without labels.
    pub fn read(&self, path: impl AsRef<Path>) -> Result<Dataset> {
        let name = path.as_ref().display().to_string();
        Ok(self.open_rows(&name, &RowOptions::default())?.data)
    }

    /// The rows of a file or a built-in data set.
    pub fn open_rows(&self, name: &str, options: &RowOptions) -> Result<OpenedRows> {
        let wanted = &options.labels;
        let mut rows = match DataName::parse(name)? {
            DataName::File(path) => {
                let read = self.read_options(&path, options);
                match open_path(&path, &read)? {
                    Opened::Table(raw) => self.table(raw, wanted)?,
                    Opened::Images(set) => self.images(set, &read, wanted)?,
                    Opened::ImagesWithTest { test, .. } => self.images(test, &read, wanted)?,
                }
            }
            DataName::BuiltIn(built_in) => {
                OpenedRows::of(self.built_in(built_in, &options.data_dir, wanted)?)
            }
        };
        let labels = &rows.data.labels;
        rows.data.labels = match (wanted, &self.card().shape.target, labels) {
            (WantedLabels::None, _, _) | (_, Target::Nothing, _) => Labels::None,
            (WantedLabels::All(_), Target::Classes(names), Labels::Classes { .. }) => {
                let fitting = labels.with_class_names(names);
                fitting.map_err(|error| Error::Part {
                    what: format!("the labels of `{name}` do not fit the model"),
                    source: Box::new(error.into()),
                })?
            }
            _ => labels.clone(),
        };
        Ok(rows)
    }

    /// Values of features that mean "missing" by the run's settings.
    pub fn missing_values(&self) -> &[String] {
        &self.config.data.missing
    }

    /// Whether this is the file that the run was trained on.
    pub fn is_training_file(&self, name: &str) -> bool {
        let source = Path::new(&self.config.data.source);
        source.exists() && source == Path::new(name)
    }

    fn data_config(&self) -> &DataConfig {
        &self.config.data
    }

    /// How a file is read: like the run's own, with the options given.
    fn read_options(&self, path: &Path, asked: &RowOptions) -> ReadOptions {
        let mut options = self.data_config().read_options();
        // Columns that the model does not know are left out anyway, and may be copied to the
        // output.
        options.ignore.clear();
        if let Layout::Image { channels, .. } = self.layout() {
            options.gray = *channels == 1 && !self.data_config().contrast;
        }
        let own_labels = options.labels_file.take();
        options.labels_file = match asked.labels {
            WantedLabels::None => None,
            _ if asked.labels_file.is_some() => asked.labels_file.clone(),
            _ => own_labels.filter(|_| self.is_training_file(&path.display().to_string())),
        };
        options.label_names = match &asked.labels {
            WantedLabels::All(columns) if !columns.names.is_empty() => columns.names.clone(),
            WantedLabels::None => Vec::new(),
            WantedLabels::WhereThere if options.labels_file.is_none() => Vec::new(),
            _ => options.label_names,
        };
        options.features_name = asked.features_name.clone().or(options.features_name);
        options.strict |= asked.strict;
        options.most_bytes = asked.most_bytes.unwrap_or(options.most_bytes);
        options
    }

    fn images(
        &self,
        set: ImageSet,
        options: &ReadOptions,
        wanted: &WantedLabels,
    ) -> Result<OpenedRows> {
        let Layout::Image { channels, .. } = self.layout() else {
            return Err(Error::Mismatch(format!(
                "{} holds images, but the model was trained on the table `{}`",
                set.path.display(),
                self.card().data
            )));
        };
        let skipped = set.skipped.clone();
        let set = match self.data_config().contrast {
            true => {
                let grey = (*channels == 1).then_some(Grey::Luminance);
                set.contrast_normalised(grey, options.memory_budget)?
            }
            false => set,
        };
        let data = set.to_dataset()?;
        if matches!(wanted, WantedLabels::All(_)) && data.labelled_rows().is_empty() {
            return Err(DataError::UnlabelledImages(set.path.clone()).into());
        }
        Ok(OpenedRows {
            skipped,
            ..OpenedRows::of(data)
        })
    }

    /// A table with the columns of the model, interpreted like the training rows; rows are named by
    /// the id column of the run, if the table has it. For tables that are not in files.
    ///
    /// ```
    /// use cpcvae::estimator::WantedLabels;
    /// use cpcvae::prelude::*;
    /// use cpcvae_data::{Cells, RawColumn, RawTable};
    /// # let rows: Vec<[f32; 1]> = (0..60).map(|i| [(i % 2 * 9 + i % 5) as f32]).collect();
    /// # let labels = (0..60).map(|i| (i < 20).then_some(["low", "high"][i % 2]));
    /// # let data = Dataset::from_rows(&rows, Labels::classes(labels))?;
    /// let fitted = Pc::new().steps(20).hold_out(false).fit(&data)?;
    /// let column = RawColumn { name: "x0".into(), cells: Cells::Numbers(vec![3.0, 11.0]) };
    /// let (columns, beside) = (vec![column], Vec::new());
    /// let table = RawTable { path: "new rows".into(), columns, beside, rows: 2 };
    /// assert_eq!(fitted.table(table, &WantedLabels::None)?.data.len(), 2);
    /// # Ok::<(), cpcvae::Error>(())
    /// ```
    pub fn table(&self, raw: RawTable, wanted: &WantedLabels) -> Result<OpenedRows> {
        let features = match self.layout() {
            Layout::Columns(columns) => columns.clone(),
            Layout::Image { height, width, .. } => {
                return Err(Error::Mismatch(format!(
                    "{} is a table, but the model was trained on images of {height} x {width} \
                     pixels; ask it about `{}`",
                    raw.path.display(),
                    self.card().data
                )));
            }
        };
        let id = Some(self.data_config().id.clone()).filter(|name| !name.is_empty());
        let options = TableOptions {
            features: Some(features),
            id: id.filter(|name| raw.column(name).is_some()),
            missing: self.missing_values().to_vec(),
            ..self.label_options(&raw, wanted)?
        };
        let table = Table::new(&raw, &options)?;
        Ok(OpenedRows {
            raw: Some(raw),
            warnings: table.warnings,
            ..OpenedRows::of(table.data)
        })
    }

    /// The requested labels of the table.
    fn label_options(&self, raw: &RawTable, wanted: &WantedLabels) -> Result<TableOptions> {
        let data = self.data_config();
        let own = || data.label.clone();
        let task = match &self.card().shape.target {
            Target::Classes(_) => Task::Classify,
            Target::Values(_) => Task::Regress,
            Target::Nothing => return Ok(TableOptions::default()),
        };
        let (labels, unlabelled_value) = match wanted {
            WantedLabels::None => return Ok(TableOptions::default()),
            WantedLabels::WhereThere => {
                let all_there = own().iter().all(|name| raw.column(name).is_some());
                (if all_there { own() } else { Vec::new() }, None)
            }
            WantedLabels::All(columns) => {
                let labels = match (&self.card().shape.target, &columns.names[..]) {
                    (Target::Values(names), []) => names.clone(),
                    (_, []) => own(),
                    (_, names) => names.to_vec(),
                };
                if labels.is_empty() {
                    return Err(DataError::NoLabelColumn {
                        path: raw.path.clone(),
                        beside: String::new(),
                    }
                    .into());
                }
                (labels, columns.unlabelled_value.clone())
            }
        };
        let own_value = Some(data.unlabeled_value.clone()).filter(|value| !value.is_empty());
        Ok(TableOptions {
            labels,
            task: Some(task),
            label_offsets: Some(self.card().preprocess.label_offsets.clone()),
            unlabelled_value: unlabelled_value.or(own_value),
            ..TableOptions::default()
        })
    }

    /// Test rows of a built-in data set, otherwise all of its rows: those of the run itself, if
    /// they are generated.
    fn built_in(
        &self,
        built_in: BuiltIn,
        data_dir: &Path,
        wanted: &WantedLabels,
    ) -> Result<Dataset> {
        let config = match self.config.data.source == built_in.name() {
            true => self.config.clone(),
            false => RunConfig {
                seed: self.card().seed,
                ..RunConfig::for_built_in_data("cpc", built_in)?
            },
        };
        let source = built_in.open(&config.data, config.seed, data_dir)?;
        let mut rows = source.test.unwrap_or(source.rows);
        if !matches!(wanted, WantedLabels::All(_)) {
            // All labels of built-in data are known; they are hidden to simulate unlabelled rows.
            rows.labels = Labels::None;
        }
        Ok(rows)
    }
}
