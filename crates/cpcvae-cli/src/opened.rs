//! A trained model and the rows it is asked about.

use crate::args::ModelArgs;
use crate::data_name::{DataName, some_text};
use anyhow::{Context, Result, bail};
use cpcvae::answers::Answers;
use cpcvae::config::RunConfig;
use cpcvae::model::Target;
use cpcvae::run::{RunFolder, Trained};
use cpcvae_data::{CsvOptions, Dataset, Labels, Layout, Task, read_csv, read_csv_features};
use std::path::Path;

/// A model with its run.
pub struct Model {
    /// The model.
    pub trained: Trained,
    /// The settings of the run, where they are still there.
    config: Option<RunConfig>,
    folder: RunFolder,
    place: crate::args::PlaceArgs,
}

/// The label columns of a table, where they are not the run's own.
#[derive(Clone, Debug, Default)]
pub struct LabelColumns {
    /// Their names.
    pub names: Vec<String>,
    /// What means "not labelled".
    pub unlabelled_value: Option<String>,
}

impl Model {
    /// Loads the model of a run.
    pub fn open(args: &ModelArgs) -> Result<Self> {
        let path = &args.run;
        if !path.is_dir() {
            bail!(
                "there is no run folder {}; `cpcvae fit` makes one",
                path.display()
            );
        }
        args.place.set_up()?;
        let folder = RunFolder::at(path);
        let device = cpcvae::device::device(&args.place.device)?;
        let trained = Trained::open(&folder, &device, u64::from(args.seed))
            .with_context(|| format!("the model of {} cannot be opened", path.display()))?;
        Ok(Self {
            trained,
            config: folder.config().ok(),
            folder,
            place: args.place.clone(),
        })
    }

    /// The rows named by DATA as they are, without labels.
    pub fn features(&self, data: &str) -> Result<Dataset> {
        let mut rows = match DataName::parse(data)? {
            DataName::File(path) => read_csv_features(&path, self.columns(&path)?)?,
            built_in => self.built_in(&built_in, data)?,
        };
        rows.labels = Labels::None;
        Ok(rows)
    }

    /// The rows named by DATA with labels, numbered as the model's.
    pub fn labelled(&self, data: &str, columns: LabelColumns) -> Result<Dataset> {
        let mut rows = match DataName::parse(data)? {
            DataName::File(path) => self.labelled_table(&path, columns)?,
            built_in => self.built_in(&built_in, data)?,
        };
        match (&self.trained.card.shape.target, &rows.labels) {
            (Target::Classes(names), Labels::Classes { .. }) => {
                rows.labels = rows
                    .labels
                    .with_class_names(names)
                    .with_context(|| format!("the labels of `{data}` do not fit the model"))?;
            }
            (Target::Nothing, _) => rows.labels = Labels::None,
            _ => {}
        }
        Ok(rows)
    }

    /// The rows as the model sees them.
    pub fn prepare(&self, rows: &Dataset) -> cpcvae::Result<Dataset> {
        self.trained.card.preprocess.apply(rows.clone())
    }

    /// Columns that the run left out, such as names of rows.
    pub fn ignored(&self) -> &[String] {
        match &self.config {
            Some(config) => &config.data.ignore,
            None => &[],
        }
    }

    /// The label columns that the run was trained with.
    pub fn label_columns(&self) -> &[String] {
        match &self.config {
            Some(config) => &config.data.label,
            None => &[],
        }
    }

    /// What the run knows about its answers; nothing where it has not measured them.
    pub fn answers(&self) -> cpcvae::Result<Option<Answers>> {
        Answers::load(&self.folder)
    }

    /// Whether this is the file that the run was trained on.
    pub fn is_training_file(&self, data: &str) -> bool {
        let source = self
            .config
            .as_ref()
            .map(|config| Path::new(&config.data.source));
        source.is_some_and(|source| source.is_file() && source == Path::new(data))
    }

    fn labelled_table(&self, path: &Path, columns: LabelColumns) -> Result<Dataset> {
        let data = self.config.as_ref().map(|config| &config.data);
        let (task, names) = match &self.trained.card.shape.target {
            Target::Classes(_) => (Task::Classify, data.map(|data| data.label.clone())),
            Target::Values(names) => (Task::Regress, Some(names.clone())),
            Target::Nothing => return self.features(&path.display().to_string()),
        };
        let labels = match columns.names.is_empty() {
            true => names.unwrap_or_default(),
            false => columns.names,
        };
        if labels.is_empty() {
            bail!(
                "{}: which column holds the labels? Name it with `--label COLUMN`",
                path.display()
            );
        }
        let options = CsvOptions {
            labels,
            task: Some(task),
            unlabelled_value: columns
                .unlabelled_value
                .or_else(|| data.and_then(|data| some_text(&data.unlabeled_value))),
            features: Some(self.columns(path)?.to_vec()),
            ..CsvOptions::default()
        };
        Ok(read_csv(path, &options)?)
    }

    /// The columns that the model was trained on.
    fn columns(&self, path: &Path) -> Result<&[String]> {
        match &self.trained.card.preprocess.layout {
            Layout::Columns(names) => Ok(names),
            Layout::Image { height, width, .. } => bail!(
                "{} is a table, but the model was trained on images of {height} x {width} pixels; \
                 ask it about `{}`",
                path.display(),
                self.trained.card.data
            ),
        }
    }

    /// Test rows of a built-in data set, else all of its rows: those of the run itself, where
    /// they are generated.
    fn built_in(&self, name: &DataName, data: &str) -> Result<Dataset> {
        let own = self
            .config
            .as_ref()
            .filter(|config| config.data.source == data);
        let config = match own {
            Some(config) => config.clone(),
            None => RunConfig {
                seed: self.trained.card.seed,
                ..name.defaults("cpc", data)?
            },
        };
        let source = name.open(&config, &self.place.data_dir())?;
        Ok(source.test.unwrap_or(source.rows))
    }
}
