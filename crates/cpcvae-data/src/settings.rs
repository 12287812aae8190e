//! The settings of `[data]`: which data, how it is read, and how its rows are split.

use crate::{DataError, HalfMoonLabels, KindName, ReadOptions, Result, TableOptions, Task};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The most bytes that a compressed file may unpack to, unless settings say otherwise.
const MOST_BYTES: u64 = 16 << 30;

/// Which data, how it is read, and which of its rows train, validate and test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataConfig {
    /// A file, or the name of a built-in data set.
    pub source: String,
    /// Label columns of a table: one, or several continuous ones.
    pub label: Vec<String>,
    /// auto, classify or regress.
    pub task: TaskSetting,
    /// A value of the label column that means "no label"; blank, NaN and -1 always do.
    pub unlabeled_value: String,
    /// Columns to leave out.
    pub ignore: Vec<String>,
    /// The column that names the rows; empty for none.
    pub id: String,
    /// Kinds of columns that are not to be guessed: `NAME=number`, flag, category, count, ignore.
    pub columns: Vec<String>,
    /// Values of features that mean "missing", next to blank, NA, N/A, NaN, null and `?`.
    pub missing: Vec<String>,
    /// Images: the table of files and labels; empty for none.
    pub labels_file: String,
    /// NPZ: the array of features; empty for `X` or `x`.
    pub features_name: String,
    /// Images: pixels a side that the middle square is resized to; 0 leaves images as they are.
    pub size: usize,
    /// Images: whether colour is converted to grey.
    pub gray: bool,
    /// Images: whether they are contrast-normalised, channel by channel, before colour is converted
    /// to grey.
    pub contrast: bool,
    /// Images: whether one that cannot be read is an error; else it is left out.
    pub strict: bool,
    /// The most bytes that a compressed file may unpack to.
    pub most_bytes: u64,
    /// Whether columns are brought to mean 0 and standard deviation 1.
    pub standardise: bool,
    /// Labels that training may use, the same number for each class; 0 for all.
    pub labels: usize,
    /// Rows for validation: a share below 1, a number of rows from 1 on, 0 for none.
    pub validation: f64,
    /// Rows for the final test, where the data has no test set of its own.
    pub test: f64,
    /// Rows to generate, or to take of a downloaded data set, with as large a share of its test
    /// rows; 0 for all of it.
    pub rows: usize,
    /// Which rows of half-moon have labels: `random`, or `evenly-spaced` as in the paper.
    pub half_moon_labels: HalfMoonLabels,
}

/// What the labels of a table are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TaskSetting {
    /// Guessed from the labels.
    #[default]
    Auto,
    /// Classes.
    Classify,
    /// Numbers.
    Regress,
}

impl TaskSetting {
    /// The task that is asked for; `None` where it is guessed.
    pub fn task(self) -> Option<Task> {
        match self {
            Self::Auto => None,
            Self::Classify => Some(Task::Classify),
            Self::Regress => Some(Task::Regress),
        }
    }
}

impl DataConfig {
    /// All rows of a built-in data set or a file, with default settings.
    pub fn of(source: &str) -> Self {
        Self {
            source: source.into(),
            label: Vec::new(),
            task: TaskSetting::Auto,
            unlabeled_value: String::new(),
            ignore: Vec::new(),
            id: String::new(),
            columns: Vec::new(),
            missing: Vec::new(),
            labels_file: String::new(),
            features_name: String::new(),
            size: 0,
            gray: false,
            contrast: false,
            strict: false,
            most_bytes: MOST_BYTES,
            // The paper's toy data is not standardised.
            standardise: source != "half-moon",
            labels: 0,
            validation: 0.0,
            test: 0.0,
            rows: 0,
            half_moon_labels: HalfMoonLabels::Random,
        }
    }

    /// How a user's file is read.
    pub fn read_options(&self) -> ReadOptions {
        ReadOptions {
            ignore: self.ignore.clone(),
            features_name: some_text(&self.features_name),
            label_names: self.label.clone(),
            labels_file: some_text(&self.labels_file).map(PathBuf::from),
            size: (self.size > 0).then_some(self.size),
            // Contrast is normalised in colour, which is converted to grey afterwards.
            gray: self.gray && !self.contrast,
            strict: self.strict,
            most_bytes: self.most_bytes,
            ..ReadOptions::default()
        }
    }

    /// What the columns of a table are taken for.
    pub fn table_options(&self) -> Result<TableOptions> {
        Ok(TableOptions {
            labels: self.label.clone(),
            task: self.task.task(),
            unlabelled_value: some_text(&self.unlabeled_value),
            // Already left out when reading.
            ignore: Vec::new(),
            id: some_text(&self.id),
            features: None,
            kinds: kinds(&self.columns)?,
            missing: self.missing.clone(),
            ..TableOptions::default()
        })
    }
}

/// `NAME=KIND` pairs; a name may have an equals sign itself.
fn kinds(pairs: &[String]) -> Result<Vec<(String, KindName)>> {
    let parse = |pair: &String| {
        let named = pair
            .rsplit_once('=')
            .and_then(|(name, kind)| Some((name.to_string(), KindName::named(kind.trim())?)));
        named.ok_or_else(|| {
            let known: Vec<&str> = KindName::NAMES.iter().map(|(name, _)| *name).collect();
            let problem = format!("`{pair}` is not NAME=KIND; kinds are {}", known.join(", "));
            DataError::setting("data.columns", problem)
        })
    };
    pairs.iter().map(parse).collect()
}

/// The text, unless it is empty.
pub(crate) fn some_text(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_string())
}
