//! DATA as typed: a built-in data set or a file, and how it is opened for a run.

use crate::user_file::UserFile;
use anyhow::{Result, bail};
use cpcvae::Error;
use cpcvae::config::{BuiltIn, Preset, PresetData, RunConfig};
use cpcvae::method::DataKind;
use cpcvae_data::{
    Dataset, HalfMoon, HalfMoonLabels, ReadOptions, Source, glyphs, holds_images, name_of,
    open_celeba, open_mnist, open_norb, open_svhn,
};
use std::path::{Path, PathBuf};

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
    /// House numbers.
    Svhn,
    /// Toys.
    Norb,
    /// Faces.
    Celeba,
    /// A user's file or folder.
    File(PathBuf),
}

impl DataName {
    /// Reads the argument; a file or folder must exist.
    pub fn parse(text: &str) -> Result<Self> {
        Ok(match text {
            "half-moon" => Self::HalfMoon,
            "glyphs" => Self::Glyphs,
            "mnist" => Self::Mnist,
            "svhn" => Self::Svhn,
            "norb" => Self::Norb,
            "celeba" => Self::Celeba,
            path if Path::new(path).exists() => Self::File(path.into()),
            path => bail!(
                "there is no file or folder `{path}`, and no built-in data set of that name (there are \
                 half-moon, glyphs, mnist, svhn, norb and celeba)"
            ),
        })
    }

    /// A short name, for the run's folder.
    pub fn short(&self) -> String {
        match self {
            Self::HalfMoon => "half-moon".into(),
            Self::Glyphs => "glyphs".into(),
            Self::Mnist => "mnist".into(),
            Self::Svhn => "svhn".into(),
            Self::Norb => "norb".into(),
            Self::Celeba => "celeba".into(),
            Self::File(path) => name_of(path),
        }
    }

    /// What is learnt from; files are looked into, which the options have a say in.
    pub fn kind(&self, options: &ReadOptions) -> Result<DataKind> {
        Ok(match self {
            Self::HalfMoon => DataKind::Table,
            Self::Glyphs | Self::Mnist | Self::Svhn | Self::Norb | Self::Celeba => DataKind::Images,
            Self::File(path) if holds_images(path, options)? => DataKind::Images,
            Self::File(_) => DataKind::Table,
        })
    }

    /// The settings for a method on this data where nothing else is said.
    pub fn defaults(&self, method: &str, source: &str) -> Result<RunConfig> {
        self.preset(method, source, Preset::Default)
    }

    /// The settings of a preset.
    pub fn preset(&self, method: &str, source: &str, preset: Preset) -> Result<RunConfig> {
        let kind = self.kind(&ReadOptions::default())?;
        self.preset_for(method, source, kind, preset)
    }

    /// The same for a file that is known to be of a kind.
    pub fn preset_for(
        &self,
        method: &str,
        source: &str,
        kind: DataKind,
        preset: Preset,
    ) -> Result<RunConfig> {
        let data = match self {
            Self::File(_) => PresetData::Own(kind),
            Self::HalfMoon => PresetData::BuiltIn(BuiltIn::HalfMoon),
            Self::Glyphs => PresetData::BuiltIn(BuiltIn::Glyphs),
            Self::Mnist => PresetData::BuiltIn(BuiltIn::Mnist),
            Self::Svhn => PresetData::BuiltIn(BuiltIn::Svhn),
            Self::Norb => PresetData::BuiltIn(BuiltIn::Norb),
            Self::Celeba => PresetData::BuiltIn(BuiltIn::Celeba),
        };
        Ok(RunConfig::preset(method, data, source, preset)?)
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
            Self::Mnist => first_rows(open_mnist(data_dir)?, data.rows),
            Self::Svhn => first_rows(open_svhn(data_dir)?, data.rows),
            Self::Norb => first_rows(open_norb(data_dir)?, data.rows),
            Self::Celeba => first_rows(open_celeba(data_dir, data.gray)?, data.rows),
            Self::File(path) => UserFile::open(path, config)?.into_source()?,
        })
    }
}

/// So many of the rows, the first ones, and as large a share of the test rows; 0 for all.
fn first_rows(source: Source, rows: usize) -> Source {
    let all = source.rows.len();
    if rows == 0 || rows >= all {
        return source;
    }
    let first = |data: &Dataset, count: usize| data.select(&(0..count as u32).collect::<Vec<_>>());
    let of_test = |test: &Dataset| (test.len() * rows).div_ceil(all);
    Source {
        rows: first(&source.rows, rows),
        test: source.test.map(|test| first(&test, of_test(&test))),
        split: None,
    }
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

/// The text, unless it is empty.
pub fn some_text(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_string())
}
