//! The built-in data sets, and how they are opened.

use crate::{
    DataConfig, DataError, Dataset, HalfMoon, HalfMoonLabels, Result, Source, glyphs, open_celeba,
    open_mnist, open_norb, open_svhn,
};
use std::path::Path;

/// Rows of glyphs by default.
pub const GLYPH_ROWS: usize = 5000;
/// Rows of glyphs to test on.
pub const GLYPH_TEST_ROWS: usize = 1000;

/// The built-in data sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuiltIn {
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
}

impl BuiltIn {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::HalfMoon,
        Self::Glyphs,
        Self::Mnist,
        Self::Svhn,
        Self::Norb,
        Self::Celeba,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::HalfMoon => "half-moon",
            Self::Glyphs => "glyphs",
            Self::Mnist => "mnist",
            Self::Svhn => "svhn",
            Self::Norb => "norb",
            Self::Celeba => "celeba",
        }
    }

    /// The data set of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|data| data.name() == name)
    }

    /// Whether it holds images; otherwise it is a table.
    pub fn holds_images(self) -> bool {
        self != Self::HalfMoon
    }

    /// Opens it as the settings say. Files are looked for in `data_dir`; generators use the seed.
    pub fn open(self, data: &DataConfig, seed: u64, data_dir: &Path) -> Result<Source> {
        if data.test > 0.0 {
            let problem = format!("`{}` has a test set of its own; set it to 0", self.name());
            return Err(DataError::setting("data.test", problem));
        }
        match self {
            Self::HalfMoon => half_moon(data, seed),
            Self::Glyphs => {
                // Test rows are the next rows of the same endless sequence.
                let all = glyphs(data.rows.saturating_add(GLYPH_TEST_ROWS), seed)?;
                let (train, end) = (data.rows as u32, all.len() as u32);
                Ok(Source {
                    rows: all.select(&(0..train).collect::<Vec<_>>()),
                    test: Some(all.select(&(train..end).collect::<Vec<_>>())),
                    split: None,
                })
            }
            Self::Mnist => Ok(first_rows(open_mnist(data_dir)?, data.rows)),
            Self::Svhn => Ok(first_rows(open_svhn(data_dir)?, data.rows)),
            Self::Norb => Ok(first_rows(open_norb(data_dir)?, data.rows)),
            Self::Celeba => Ok(first_rows(open_celeba(data_dir, data.gray)?, data.rows)),
        }
    }
}

/// The first `rows` rows, and the same share of the test rows; 0 for all.
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

fn half_moon(data: &DataConfig, seed: u64) -> Result<Source> {
    let setting = data.half_moon_labels;
    if setting == HalfMoonLabels::EvenlySpaced && data.validation > 0.0 {
        let problem = "evenly spaced labels leave no rows to validate on; set it to 0, or \
                       `data.half_moon_labels` to random";
        return Err(DataError::setting("data.validation", problem));
    }
    let mut source = HalfMoon {
        rows: data.rows,
        labels: data.labels,
        setting,
        seed,
        ..HalfMoon::default()
    }
    .generate()?;
    if setting == HalfMoonLabels::Random && data.validation > 0.0 {
        // The run draws labelled and validation rows itself.
        source.split = None;
    }
    Ok(source)
}
