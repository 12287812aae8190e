//! A trained model and the rows it is asked about.

use crate::args::{ModelArgs, PlaceArgs, ReadArgs, RowsArgs};
use crate::column_notes::warn;
use crate::data_name::{DataName, some_text};
use crate::printer::Printer;
use crate::user_file::{LABELS_OF_IMAGES, read_options, tell_left_out};
use anyhow::{Context, Result, bail};
use cpcvae::calibration::Calibration;
use cpcvae::config::{DataConfig, RunConfig};
use cpcvae::model::Target;
use cpcvae::run::{RunFolder, Trained};
use cpcvae_data::{
    Dataset, Grey, ImageSet, Labels, Layout, Opened, RawTable, ReadOptions, Table, TableOptions,
    Task, open_path,
};
use std::path::Path;

/// A model with its run.
pub struct Model {
    /// The model.
    pub trained: Trained,
    /// The settings of the run, where they are still there.
    config: Option<RunConfig>,
    folder: RunFolder,
    place: PlaceArgs,
}

/// Rows to ask about.
pub struct Rows {
    /// The rows as they are, with labels as far as they were wanted.
    pub data: Dataset,
    /// The table they come from, if it is one.
    pub raw: Option<RawTable>,
}

/// Which labels of the rows are wanted.
#[derive(Clone, Debug)]
pub enum WantedLabels {
    /// None.
    None,
    /// Those of the run's own label columns, where these are there: only whether they are known.
    WhereThere,
    /// All, numbered as the model's.
    All(LabelColumns),
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

    /// The rows named by DATA.
    pub fn rows(&self, args: &RowsArgs, wanted: WantedLabels) -> Result<Rows> {
        let mut rows = match DataName::parse(&args.data)? {
            DataName::File(path) => {
                let options = self.read_options(&path, &args.read, &wanted);
                match open_path(&path, &options)? {
                    Opened::Table(raw) => self.table(raw, &wanted)?,
                    Opened::Images(set) => self.images(set, &options, &wanted)?,
                    Opened::ImagesWithTest { test, .. } => self.images(test, &options, &wanted)?,
                }
            }
            built_in => Rows {
                data: self.built_in(&built_in, &args.data, &wanted)?,
                raw: None,
            },
        };
        let labels = &rows.data.labels;
        rows.data.labels = match (&wanted, &self.trained.card.shape.target, labels) {
            (WantedLabels::None, _, _) | (_, Target::Nothing, _) => Labels::None,
            (WantedLabels::All(_), Target::Classes(names), Labels::Classes { .. }) => labels
                .with_class_names(names)
                .with_context(|| format!("the labels of `{}` do not fit the model", args.data))?,
            _ => labels.clone(),
        };
        Ok(rows)
    }

    /// The rows as the model sees them.
    pub fn prepare(&self, rows: &Dataset) -> cpcvae::Result<Dataset> {
        self.trained.card.preprocess.apply(rows.clone())
    }

    /// What the run knows about its answers; nothing where it has not measured them.
    pub fn answers(&self) -> cpcvae::Result<Option<Calibration>> {
        Calibration::load(&self.folder)
    }

    /// Values of features that mean "missing" by the run's settings.
    pub fn missing_values(&self) -> &[String] {
        self.data().map_or(&[], |data| &data.missing)
    }

    /// Whether this is the file that the run was trained on.
    pub fn is_training_file(&self, data: &str) -> bool {
        let source = self.data().map(|data| Path::new(&data.source));
        source.is_some_and(|source| source.exists() && source == Path::new(data))
    }

    fn data(&self) -> Option<&DataConfig> {
        self.config.as_ref().map(|config| &config.data)
    }

    /// How a file is read: as the run read its own, except for what is said anew.
    fn read_options(&self, path: &Path, args: &ReadArgs, wanted: &WantedLabels) -> ReadOptions {
        let mut options = self.data().map(read_options).unwrap_or_default();
        // Columns that the model does not know are left out anyway, and may be carried along.
        options.ignore.clear();
        if let Layout::Image {
            height, channels, ..
        } = self.trained.card.preprocess.layout
        {
            options.gray = channels == 1 && !self.has_contrast();
            if self.config.is_none() {
                options.size = Some(height);
            }
        }
        let own_labels = options.labels_file.take();
        options.labels_file = match wanted {
            WantedLabels::None => None,
            _ if args.labels_file.is_some() => args.labels_file.clone(),
            _ => own_labels.filter(|_| self.is_training_file(&path.display().to_string())),
        };
        options.label_names = match wanted {
            WantedLabels::All(columns) if !columns.names.is_empty() => columns.names.clone(),
            WantedLabels::None => Vec::new(),
            WantedLabels::WhereThere if options.labels_file.is_none() => Vec::new(),
            _ => options.label_names,
        };
        options.features_name = args.features_name.clone().or(options.features_name);
        options.strict |= args.strict;
        options.most_bytes = args.most_bytes.unwrap_or(options.most_bytes);
        options
    }

    fn has_contrast(&self) -> bool {
        self.data().is_some_and(|data| data.contrast)
    }

    fn images(&self, set: ImageSet, options: &ReadOptions, wanted: &WantedLabels) -> Result<Rows> {
        let Layout::Image { channels, .. } = self.trained.card.preprocess.layout else {
            bail!(
                "{} holds images, but the model was trained on the table `{}`",
                set.path.display(),
                self.trained.card.data
            );
        };
        tell_left_out(&set, Printer::default());
        let set = match self.has_contrast() {
            true => {
                let grey = (channels == 1).then_some(Grey::Luminance);
                set.contrast_normalised(grey, options.memory_budget)?
            }
            false => set,
        };
        let data = set.to_dataset()?;
        if matches!(wanted, WantedLabels::All(_)) && data.labelled_rows().is_empty() {
            bail!(
                "{}: no image has a label; {LABELS_OF_IMAGES}",
                set.path.display()
            );
        }
        Ok(Rows { data, raw: None })
    }

    /// A table with the columns of the model, read as they were in training; rows are named by
    /// the id column of the run, where the table has it.
    fn table(&self, raw: RawTable, wanted: &WantedLabels) -> Result<Rows> {
        let features = match &self.trained.card.preprocess.layout {
            Layout::Columns(columns) => columns.clone(),
            Layout::Image { height, width, .. } => bail!(
                "{} is a table, but the model was trained on images of {height} x {width} pixels; \
                 ask it about `{}`",
                raw.path.display(),
                self.trained.card.data
            ),
        };
        let data = self.data();
        let id = data.and_then(|data| some_text(&data.id));
        let options = TableOptions {
            features: Some(features),
            id: id.filter(|name| raw.column(name).is_some()),
            missing: self.missing_values().to_vec(),
            ..self.label_options(&raw, wanted)?
        };
        let table = Table::new(&raw, &options)?;
        warn(&table.warnings, Printer::default());
        Ok(Rows {
            data: table.data,
            raw: Some(raw),
        })
    }

    /// What the table's labels are, as far as they are wanted.
    fn label_options(&self, raw: &RawTable, wanted: &WantedLabels) -> Result<TableOptions> {
        let data = self.data();
        let own = || data.map_or_else(Vec::new, |data| data.label.clone());
        let task = match &self.trained.card.shape.target {
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
                let labels = match (&self.trained.card.shape.target, &columns.names[..]) {
                    (Target::Values(names), []) => names.clone(),
                    (_, []) => own(),
                    (_, names) => names.to_vec(),
                };
                if labels.is_empty() {
                    bail!(
                        "{}: which column holds the labels? Name it with `--label COLUMN`",
                        raw.path.display()
                    );
                }
                (labels, columns.unlabelled_value.clone())
            }
        };
        Ok(TableOptions {
            labels,
            task: Some(task),
            unlabelled_value: unlabelled_value
                .or_else(|| data.and_then(|data| some_text(&data.unlabeled_value))),
            ..TableOptions::default()
        })
    }

    /// Test rows of a built-in data set, else all of its rows: those of the run itself, where
    /// they are generated.
    fn built_in(&self, name: &DataName, data: &str, wanted: &WantedLabels) -> Result<Dataset> {
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
        let mut rows = source.test.unwrap_or(source.rows);
        if !matches!(wanted, WantedLabels::All(_)) {
            // All labels of built-in data are known; they are played with as if they were not.
            rows.labels = Labels::None;
        }
        Ok(rows)
    }
}
