//! The data sets that have a name of their own.

use crate::GLYPH_TEST_ROWS;
use crate::{
    DataError, HalfMoon, Result, Source, celeba, glyphs, mnist, norb, open_celeba, open_mnist,
    open_norb, open_svhn, svhn,
};
use serde::Serialize;
use std::path::Path;

/// What is known about a built-in data set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// The name to ask for it by.
    pub name: &'static str,
    /// What it is, in one paragraph.
    pub description: &'static str,
    /// Training rows.
    pub rows: usize,
    /// Test rows.
    pub test_rows: usize,
    /// Values in a row, such as `28 x 28 pixels`.
    pub shape: &'static str,
    /// Number of classes.
    pub classes: usize,
    /// Whether it can be opened now.
    pub presence: Presence,
}

/// Whether a data set can be opened now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Presence {
    /// It is drawn when asked for and needs no files.
    Generated,
    /// Its files are in the data folder.
    OnDisk,
    /// Its files must be fetched first.
    ToFetch,
    /// Its files must be got by hand: nobody may pass them on, or no server is known for them.
    ByHand,
}

const GLYPH_ROWS: usize = 5000;

/// All built-in data sets; `data_dir` is where files are looked for.
pub fn list(data_dir: impl AsRef<Path>) -> Vec<Entry> {
    let data_dir = data_dir.as_ref();
    let state = |is_present: bool, else_state| match is_present {
        true => Presence::OnDisk,
        false => else_state,
    };
    vec![
        Entry {
            name: "half-moon",
            description: "Two interleaved half circles in the plane with normal noise, drawn by \
                seed. The smallest task that shows what unlabelled rows are worth: 6 labels in \
                1,000 rows, either evenly spaced along the arcs (the paper's figure) or drawn at \
                random (harder, and the honest test).",
            rows: 1000,
            test_rows: 994,
            shape: "2 columns",
            classes: 2,
            presence: Presence::Generated,
        },
        Entry {
            name: "glyphs",
            description: "Ten simple drawn shapes (bar, plus, ring, ell, tee, vee, triangle, \
                square, zigzag, arrow), each shifted, turned, sheared and scaled at random, with \
                pixel noise and a few outlier pixels, drawn by seed. A stand-in for handwritten \
                digits that needs no download.",
            rows: GLYPH_ROWS,
            test_rows: GLYPH_TEST_ROWS,
            shape: "28 x 28 pixels, grey",
            classes: 10,
            presence: Presence::Generated,
        },
        Entry {
            name: "mnist",
            description: "Handwritten digits of LeCun, Cortes and Burges, with the official test \
                set. The paper's protocol keeps 10,000 of the 60,000 rows for validation and \
                reveals the labels of 100.",
            rows: 60_000,
            test_rows: 10_000,
            shape: "28 x 28 pixels, grey",
            classes: 10,
            presence: state(mnist::is_present(data_dir), Presence::ToFetch),
        },
        Entry {
            name: "svhn",
            description: "Street View House Numbers of Netzer et al., cropped digits, contrasts \
                made alike and turned to grey, with the official test set. The paper's protocol \
                keeps 10,000 rows for validation and reveals the labels of 1,000.",
            rows: 73_257,
            test_rows: 26_032,
            shape: "32 x 32 pixels, grey",
            classes: 10,
            presence: state(svhn::is_present(data_dir), Presence::ToFetch),
        },
        Entry {
            name: "norb",
            description: "Small NORB of LeCun, Huang and Bottou: toys of five categories, seen \
                from all sides; the first image of each stereo pair. The paper's protocol keeps \
                2,000 rows for validation and reveals the labels of 1,000.",
            rows: 24_300,
            test_rows: 24_300,
            shape: "48 x 48 pixels, grey",
            classes: 5,
            presence: state(norb::is_present(data_dir), Presence::ByHand),
        },
        Entry {
            name: "celeba",
            description: "Faces of Liu et al. in four classes, women and men, neutral and \
                smiling, with the official test partition. The paper's protocol keeps 2,000 rows \
                for validation and reveals the labels of 1,000. Of a smaller copy, the last \
                faces are the test.",
            rows: 162_770,
            test_rows: 19_962,
            shape: "64 x 64 pixels, colour",
            classes: 4,
            presence: state(celeba::is_present(data_dir), Presence::ByHand),
        },
    ]
}

/// What is known about one built-in data set.
pub fn info(name: &str, data_dir: impl AsRef<Path>) -> Result<Entry> {
    let entries = list(data_dir);
    let known = entries
        .iter()
        .map(|entry| entry.name)
        .collect::<Vec<_>>()
        .join(", ");
    entries
        .into_iter()
        .find(|entry| entry.name == name)
        .ok_or_else(|| DataError::UnknownDataset {
            name: name.into(),
            known,
        })
}

/// Opens a built-in data set at its usual size. The seed is for generated ones.
pub fn open(name: &str, data_dir: impl AsRef<Path>, seed: u64) -> Result<Source> {
    match info(name, &data_dir)?.name {
        "half-moon" => HalfMoon {
            seed,
            ..HalfMoon::default()
        }
        .generate(),
        "glyphs" => open_glyphs(seed),
        "svhn" => open_svhn(data_dir),
        "norb" => open_norb(data_dir),
        "celeba" => open_celeba(data_dir, false),
        _mnist => open_mnist(data_dir),
    }
}

/// Training and test rows are two stretches of one endless sequence.
fn open_glyphs(seed: u64) -> Result<Source> {
    let all = glyphs(GLYPH_ROWS + GLYPH_TEST_ROWS, seed)?;
    let (train, end) = (GLYPH_ROWS as u32, all.len() as u32);
    Ok(Source {
        rows: all.select(&(0..train).collect::<Vec<_>>()),
        test: Some(all.select(&(train..end).collect::<Vec<_>>())),
        split: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_told_are_sizes_given() {
        for name in ["half-moon", "glyphs"] {
            let entry = info(name, "/nowhere").unwrap();
            let source = open(name, "/nowhere", 1).unwrap();
            assert_eq!(entry.presence, Presence::Generated);
            assert_eq!(source.rows.name, entry.name);
            assert_eq!(
                (source.rows.len(), source.rows.class_names().len()),
                (entry.rows, entry.classes)
            );
            assert_eq!(source.test.map(|test| test.len()), Some(entry.test_rows));
        }
    }

    #[test]
    fn files_that_are_not_there_are_to_be_fetched() {
        assert_eq!(
            info("mnist", "/nowhere").unwrap().presence,
            Presence::ToFetch
        );
        assert!(
            open("mnist", "/nowhere", 0)
                .unwrap_err()
                .to_string()
                .contains("fetch_mnist")
        );
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let message = open("mnits", "/nowhere", 0).unwrap_err().to_string();
        assert!(
            message
                .contains("`mnits`; the names are: half-moon, glyphs, mnist, svhn, norb, celeba"),
            "{message}"
        );
    }
}
