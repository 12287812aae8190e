//! Data by its name: a built-in data set, or a user's file or folder.

use crate::settings::some_text;
use crate::{BuiltIn, DataConfig, DataError, ReadOptions, Result, Source, UserFile};
use crate::{holds_images, name_of};
use std::path::{Path, PathBuf};

/// The data that a name refers to.
#[derive(Clone, Debug, PartialEq)]
pub enum DataName {
    /// A built-in data set.
    BuiltIn(BuiltIn),
    /// A user's file or folder.
    File(PathBuf),
}

impl DataName {
    /// What `text` names; a file or folder must exist. `-` is standard input.
    pub fn parse(text: &str) -> Result<Self> {
        if let Some(built_in) = BuiltIn::named(text) {
            return Ok(Self::BuiltIn(built_in));
        }
        if text == "-" || Path::new(text).exists() {
            return Ok(Self::File(text.into()));
        }
        Err(DataError::UnknownName {
            name: text.into(),
            known: BuiltIn::ALL.map(BuiltIn::name).join(", "),
        })
    }

    /// The built-in data set, if it is one.
    pub fn built_in(&self) -> Option<BuiltIn> {
        match self {
            Self::BuiltIn(built_in) => Some(*built_in),
            Self::File(_) => None,
        }
    }

    /// A short name, for the run's folder.
    pub fn short(&self) -> String {
        match self {
            Self::BuiltIn(built_in) => built_in.name().into(),
            Self::File(path) => name_of(path),
        }
    }

    /// Whether it holds images; otherwise it is a table. Files are inspected, as the options say.
    pub fn holds_images(&self, options: &ReadOptions) -> Result<bool> {
        match self {
            Self::BuiltIn(built_in) => Ok(built_in.holds_images()),
            Self::File(path) => holds_images(path, options),
        }
    }

    /// Opens the data as the settings say. Built-in data sets are looked for in `data_dir`;
    /// generators use the seed. Where labels are needed, a table must name its label column and
    /// images must have labels.
    pub fn open(
        &self,
        data: &DataConfig,
        seed: u64,
        data_dir: &Path,
        needs_labels: bool,
    ) -> Result<Source> {
        match self {
            Self::BuiltIn(built_in) => {
                let source = built_in.open(data, seed, data_dir)?;
                Ok(source.with_origin(data))
            }
            Self::File(path) => UserFile::open(path, data, needs_labels)?.into_source(data),
        }
    }
}

impl Source {
    /// The same data, which keeps the settings that it was opened with.
    pub(crate) fn with_origin(mut self, data: &DataConfig) -> Self {
        self.rows.origin = Some(Box::new(data.clone()));
        self
    }
}

/// The label of a table's rows: which column or columns hold it.
///
/// ```
/// use cpcvae_data::Label;
///
/// assert_eq!(Label::column("class"), Label::columns(["class"]));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Label(Vec<String>);

impl Label {
    /// One column: classes or numbers.
    pub fn column(name: impl Into<String>) -> Self {
        Self(vec![name.into()])
    }

    /// Several columns of numbers, predicted together.
    pub fn columns<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Self {
        Self(names.into_iter().map(Into::into).collect())
    }

    /// No label: for images whose folders are their classes, and for models that need none.
    pub fn none() -> Self {
        Self(Vec::new())
    }
}

impl crate::Dataset {
    /// Reads a table or images from a file or folder. Rows without a label have a blank, `NaN` or
    /// `-1` in the label column; kinds of columns are guessed. [`UserFile::open`] has all options.
    ///
    /// ```
    /// use cpcvae_data::{Dataset, Label};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.csv");
    /// std::fs::write(&path, "length,kind\n1.5,a\n2.5,\n9.5,b\n")?;
    /// let data = Dataset::read(&path, Label::column("kind"))?;
    /// assert_eq!((data.len(), data.labelled_rows()), (3, vec![0, 2]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read(path: impl AsRef<Path>, label: Label) -> Result<Self> {
        let path = path.as_ref();
        let data = DataConfig {
            label: label.0,
            ..DataConfig::of(&path.display().to_string())
        };
        Ok(UserFile::open(path, &data, false)?.into_source(&data)?.rows)
    }

    /// The settings it was opened with; for rows made in memory, default settings.
    pub fn data_config(&self) -> DataConfig {
        match &self.origin {
            Some(data) => (**data).clone(),
            None => DataConfig::of(some_text(&self.name).as_deref().unwrap_or("rows")),
        }
    }

    /// The built-in data set that it is, if it is one.
    pub fn built_in(&self) -> Option<BuiltIn> {
        BuiltIn::named(&self.origin.as_ref()?.source)
    }
}
