//! The built-in data sets and their descriptions.

use crate::{BuiltIn, DataError, GLYPH_ROWS, GLYPH_TEST_ROWS, Result, celeba, mnist, norb, svhn};
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
    /// Its files must be downloaded by hand: they may not be redistributed, or no server is known.
    ByHand,
}

/// All built-in data sets, with the sizes that they have by default; `data_dir` is where files are
/// looked for. [`BuiltIn::open`] opens them.
pub fn list(data_dir: impl AsRef<Path>) -> Vec<Entry> {
    let data_dir = data_dir.as_ref();
    let entries = BuiltIn::ALL.into_iter();
    entries.map(|data| entry(data, data_dir)).collect()
}

fn entry(data: BuiltIn, data_dir: &Path) -> Entry {
    let state = |is_present: bool, else_state| match is_present {
        true => Presence::OnDisk,
        false => else_state,
    };
    let name = data.name();
    match data {
        BuiltIn::HalfMoon => Entry {
            name,
            description: "Two interleaved half circles in the plane with normal noise, drawn by \
                seed. The smallest task that shows what unlabelled rows are worth: 6 labels in \
                1,000 rows, either evenly spaced along the arcs (the paper's figure) or drawn at \
                random (harder, and the fair test).",
            rows: 1000,
            test_rows: 1000,
            shape: "2 columns",
            classes: 2,
            presence: Presence::Generated,
        },
        BuiltIn::Glyphs => Entry {
            name,
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
        BuiltIn::Mnist => Entry {
            name,
            description: "Handwritten digits of LeCun, Cortes and Burges, with the official test \
                set. The paper's protocol keeps 10,000 of the 60,000 rows for validation and \
                reveals the labels of 100.",
            rows: 60_000,
            test_rows: 10_000,
            shape: "28 x 28 pixels, grey",
            classes: 10,
            presence: state(mnist::is_present(data_dir), Presence::ToFetch),
        },
        BuiltIn::Svhn => Entry {
            name,
            description: "Street View House Numbers of Netzer et al., cropped digits, contrast-\
                normalised and converted to grey, with the official test set. The paper's protocol \
                keeps 10,000 rows for validation and reveals the labels of 1,000.",
            rows: 73_257,
            test_rows: 26_032,
            shape: "32 x 32 pixels, grey",
            classes: 10,
            presence: state(svhn::is_present(data_dir), Presence::ToFetch),
        },
        BuiltIn::Norb => Entry {
            name,
            description: "Small NORB of LeCun, Huang and Bottou: toys of five categories, seen \
                from all sides; the first image of each stereo pair. The paper's protocol keeps \
                2,000 rows for validation and reveals the labels of 1,000.",
            rows: 24_300,
            test_rows: 24_300,
            shape: "48 x 48 pixels, grey",
            classes: 5,
            presence: state(norb::is_present(data_dir), Presence::ByHand),
        },
        BuiltIn::Celeba => Entry {
            name,
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
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DataConfig;

    #[test]
    fn sizes_told_are_sizes_given() {
        for data in [BuiltIn::HalfMoon, BuiltIn::Glyphs] {
            let entry = info(data.name(), "/nowhere").unwrap();
            let config = DataConfig {
                rows: entry.rows,
                labels: 6,
                ..DataConfig::of(data.name())
            };
            let source = data.open(&config, 1, Path::new("/nowhere")).unwrap();
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
        let config = DataConfig::of("mnist");
        let error = BuiltIn::Mnist.open(&config, 0, Path::new("/nowhere"));
        assert!(error.unwrap_err().to_string().contains("fetch_mnist"));
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let message = info("mnits", "/nowhere").unwrap_err().to_string();
        assert!(
            message
                .contains("`mnits`; the names are: half-moon, glyphs, mnist, svhn, norb, celeba"),
            "{message}"
        );
    }
}
