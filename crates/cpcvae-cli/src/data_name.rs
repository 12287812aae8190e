//! DATA as typed: a built-in data set or a file, and how it is opened for a run.

use anyhow::{Result, bail};
use cpcvae::Error;
use cpcvae::config::RunConfig;
use cpcvae::method::DataKind;
use cpcvae_data::{
    HalfMoon, HalfMoonLabels, Kind, Source, Table, TableOptions, Task, glyphs, open_mnist,
    read_csv_table,
};
use std::path::{Path, PathBuf};

/// Rows of glyphs to train on, unless `data.rows` says otherwise.
pub const GLYPH_ROWS: usize = 5000;
/// Rows of glyphs to test on.
pub const GLYPH_TEST_ROWS: usize = 1000;

/// What DATA names.
#[derive(Clone, Debug, PartialEq)]
pub enum DataName {
    /// Points in the plane.
    HalfMoon,
    /// Small drawn shapes.
    Glyphs,
    /// Handwritten digits.
    Mnist,
    /// A table.
    File(PathBuf),
}

impl DataName {
    /// Reads the argument; a file must exist.
    pub fn parse(text: &str) -> Result<Self> {
        Ok(match text {
            "half-moon" => Self::HalfMoon,
            "glyphs" => Self::Glyphs,
            "mnist" => Self::Mnist,
            path if Path::new(path).is_file() => Self::File(path.into()),
            path if Path::new(path).is_dir() => {
                bail!("{path} is a folder; name a .csv or .tsv file")
            }
            path => bail!(
                "there is no file `{path}`, and no built-in data set of that name (there are \
                 half-moon, glyphs and mnist)"
            ),
        })
    }

    /// A short name, for the run's folder.
    pub fn short(&self) -> String {
        match self {
            Self::HalfMoon => "half-moon".into(),
            Self::Glyphs => "glyphs".into(),
            Self::Mnist => "mnist".into(),
            Self::File(path) => {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                let plain = name.trim_end_matches(".gz");
                let stem = plain.trim_end_matches(".csv").trim_end_matches(".tsv");
                stem.into()
            }
        }
    }

    fn kind(&self) -> DataKind {
        match self {
            Self::HalfMoon | Self::File(_) => DataKind::Table,
            Self::Glyphs | Self::Mnist => DataKind::Images,
        }
    }

    /// The settings for a method on this data where nothing else is said.
    pub fn defaults(&self, method: &str, source: &str) -> cpcvae::Result<RunConfig> {
        let mut config = RunConfig::defaults(method, self.kind(), source)?;
        let data = &mut config.data;
        match self {
            Self::HalfMoon => (data.labels, data.rows) = (6, 1000),
            Self::Glyphs => (data.labels, data.rows) = (50, GLYPH_ROWS),
            Self::Mnist => {
                (data.labels, data.validation) = (100, 10_000.0);
                if method == "m2" {
                    // As the paper trained it: a smaller rate when validation stops improving.
                    config.train.schedule = "plateau".into();
                    config.train.learning_rate = 3e-4;
                }
            }
            Self::File(_) => {}
        }
        Ok(config)
    }

    /// Opens the data as the settings say.
    pub fn open(&self, config: &RunConfig, data_dir: &Path) -> Result<Source> {
        let data = &config.data;
        if data.test > 0.0 && !matches!(self, Self::File(_)) {
            let problem = format!("`{}` has a test set of its own; set it to 0", self.short());
            return Err(Error::setting("data.test", problem).into());
        }
        Ok(match self {
            Self::HalfMoon => half_moon(config)?,
            Self::Glyphs => {
                // Test rows are the next stretch of the same endless sequence.
                let all = glyphs(data.rows.saturating_add(GLYPH_TEST_ROWS), config.seed)?;
                let (train, end) = (data.rows as u32, all.len() as u32);
                Source {
                    rows: all.select(&(0..train).collect::<Vec<_>>()),
                    test: Some(all.select(&(train..end).collect::<Vec<_>>())),
                    split: None,
                }
            }
            Self::Mnist => open_mnist(data_dir)?,
            Self::File(path) => open_table(path, config)?.data.into(),
        })
    }
}

/// Opens a table as the settings say, with what was made of its columns.
pub fn open_table(path: &Path, config: &RunConfig) -> Result<Table> {
    let data = &config.data;
    if config.method.uses_labels() && data.label.is_empty() {
        bail!(
            "{}: which column holds the labels? Name it with `--label COLUMN` (rows without a \
             label are left blank in it), or train without labels with `--method vae`",
            path.display()
        );
    }
    let options = TableOptions {
        labels: data.label.clone(),
        task: task(&data.task)?,
        unlabelled_value: some_text(&data.unlabeled_value),
        ignore: data.ignore.clone(),
        id: some_text(&data.id),
        features: None,
        kinds: kinds(&data.columns)?,
        missing: data.missing.clone(),
    };
    Ok(Table::new(&read_csv_table(path, None)?, &options)?)
}

/// `NAME=KIND` pairs; a name may have an equals sign itself.
fn kinds(pairs: &[String]) -> cpcvae::Result<Vec<(String, Kind)>> {
    let parse = |pair: &String| {
        let named = pair
            .rsplit_once('=')
            .and_then(|(name, kind)| Some((name.to_string(), Kind::named(kind.trim())?)));
        named.ok_or_else(|| {
            let known: Vec<&str> = Kind::NAMES.iter().map(|(name, _)| *name).collect();
            let problem = format!("`{pair}` is not NAME=KIND; kinds are {}", known.join(", "));
            Error::setting("data.columns", problem)
        })
    };
    pairs.iter().map(parse).collect()
}

fn half_moon(config: &RunConfig) -> Result<Source> {
    let data = &config.data;
    let setting = match data.half_moon_labels.as_str() {
        "random" => HalfMoonLabels::Random,
        "evenly-spaced" => HalfMoonLabels::EvenlySpaced,
        other => {
            let problem = format!("is `{other}`; it must be random or evenly-spaced");
            return Err(Error::setting("data.half_moon_labels", problem).into());
        }
    };
    if setting == HalfMoonLabels::EvenlySpaced && data.validation > 0.0 {
        let problem = "evenly spaced labels leave no rows to validate on; set it to 0, or \
                       `data.half_moon_labels` to random";
        return Err(Error::setting("data.validation", problem).into());
    }
    let mut source = HalfMoon {
        rows: data.rows,
        labels: data.labels,
        setting,
        seed: config.seed,
        ..HalfMoon::default()
    }
    .generate()?;
    if setting == HalfMoonLabels::Random && data.validation > 0.0 {
        // The run draws the same labelled rows, and validation rows too.
        source.split = None;
    }
    Ok(source)
}

/// What the labels of a table are.
fn task(text: &str) -> cpcvae::Result<Option<Task>> {
    match text {
        "auto" => Ok(None),
        "classify" => Ok(Some(Task::Classify)),
        "regress" => Ok(Some(Task::Regress)),
        other => {
            let problem = format!("is `{other}`; it must be auto, classify or regress");
            Err(Error::setting("data.task", problem))
        }
    }
}

/// The text, unless it is empty.
pub fn some_text(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_string())
}
