//! CelebA (Liu et al. 2015): faces, as the paper's task of four classes, gender x smiling.

use crate::{DataError, DataRemedy, Opened, ReadOptions, Result, Source, open_path};
use std::path::{Path, PathBuf};

/// The official files.
const FILES: [&str; 2] = ["img_align_celeba.zip", "list_attr_celeba.txt"];
/// Where the files may be, under a data folder.
const FOLDERS: [&str; 2] = ["celeba", ""];
/// Pixels a side.
const SIDE: usize = 64;
/// Names of the classes.
const CLASSES: [(&str, &str); 4] = [
    ("Male=-1 Smiling=-1", "woman neutral"),
    ("Male=-1 Smiling=1", "woman smiling"),
    ("Male=1 Smiling=-1", "man neutral"),
    ("Male=1 Smiling=1", "man smiling"),
];
/// In the official partition, files up to the first number are for training, files after the
/// second for testing; those between are for validation, and the paper does not use them.
const PARTITION: [u32; 2] = [162_770, 182_637];
/// The test share of the faces that are used.
const TEST_SHARE: f64 = 19_962.0 / (162_770.0 + 19_962.0);

/// Opens CelebA: 162,770 faces and the 19,962 of the official test partition, cropped to their
/// middle square and resized to 64 x 64 pixels, in colour or, as in the paper, in grey. Of a copy
/// without the test partition, the last faces are the test set, in the same proportion.
///
/// Faces are decoded once, a few at a time; what does not fit into memory is kept in a temporary
/// file.
pub fn open_celeba(data_dir: impl AsRef<Path>, gray: bool) -> Result<Source> {
    let data_dir = data_dir.as_ref();
    let [zip, attributes] = find(data_dir).ok_or_else(|| missing(data_dir))?;
    let options = ReadOptions {
        labels_file: Some(attributes),
        label_names: vec!["Male".into(), "Smiling".into()],
        size: Some(SIDE),
        gray,
        ..ReadOptions::default()
    };
    let Opened::Images(mut images) = open_path(&zip, &options)? else {
        let problem = "it holds `train` and `test`; CelebA's zip is one folder of faces";
        return Err(DataError::content(&zip, problem));
    };
    for label in images.labels.iter_mut().flatten() {
        if let Some((_, name)) = CLASSES.iter().find(|(listed, _)| listed == label) {
            *label = name.to_string();
        }
    }
    let numbers: Vec<u32> = images.files.iter().map(|file| number(file)).collect();
    let mut all = images.to_dataset()?;
    let names = CLASSES.map(|(_, name)| name.to_string());
    all.labels = all.labels.with_class_names(&names)?;
    all.name = "celeba".into();
    let (rows, test) = parts(&numbers);
    Ok(Source {
        rows: all.select(&rows),
        test: Some(all.select(&test)),
        split: None,
    })
}

/// Whether both files are there.
pub(crate) fn is_present(data_dir: &Path) -> bool {
    find(data_dir).is_some()
}

fn find(data_dir: &Path) -> Option<[PathBuf; 2]> {
    let in_folder = |folder: &&str| {
        let paths = FILES.map(|file| data_dir.join(folder).join(file));
        paths.iter().all(|path| path.is_file()).then_some(paths)
    };
    FOLDERS.iter().find_map(in_folder)
}

/// `000123.jpg` is 123; other names are for training.
fn number(file: &str) -> u32 {
    let name = file.rsplit('/').next().unwrap_or(file);
    let digits = name.split('.').next().unwrap_or(name);
    digits.parse().unwrap_or(0)
}

/// The positions of faces for training and for testing, from the numbers of their files.
fn parts(numbers: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let places = || (0u32..).zip(numbers);
    let tests = |(place, number): (u32, &u32)| (*number > PARTITION[1]).then_some(place);
    let test: Vec<u32> = places().filter_map(tests).collect();
    if test.is_empty() {
        let first = numbers.len() - (numbers.len() as f64 * TEST_SHARE).round() as usize;
        let mut order: Vec<u32> = (0..numbers.len() as u32).collect();
        order.sort_by_key(|place| numbers[*place as usize]);
        let test = order.split_off(first);
        return (order, test);
    }
    let trains = |(place, number): (u32, &u32)| (*number <= PARTITION[0]).then_some(place);
    (places().filter_map(trains).collect(), test)
}

fn missing(data_dir: &Path) -> DataError {
    let folders = FOLDERS.map(|folder| data_dir.join(folder).display().to_string());
    let error = DataError::Missing {
        what: format!("the CelebA files {} and {}", FILES[0], FILES[1]),
        looked_in: folders.join(", "),
        advice: "Get them from https://mmlab.ie.cuhk.edu.hk/projects/CelebA.html, whose terms are \
                 for research only, put them there, or name another folder"
            .into(),
    };
    error.with_remedy(DataRemedy::FindData { fetch: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_official_partition_where_it_is_there() {
        let numbers = [1, 162_770, 162_771, 182_637, 182_638, 202_599];
        assert_eq!(parts(&numbers), (vec![0, 1], vec![4, 5]));
    }

    #[test]
    fn the_last_faces_of_a_part_of_it() {
        // In the order of their numbers, whatever the order in the zip.
        let numbers: Vec<u32> = (1..=10_000).rev().collect();
        let (rows, test) = parts(&numbers);
        assert_eq!((rows.len(), test.len()), (8908, 1092));
        assert_eq!((rows[0], test[1091]), (9999, 0));
    }

    #[test]
    fn numbers_of_files() {
        assert_eq!(number("000123.jpg"), 123);
        assert_eq!(number("faces/202599.png"), 202_599);
        assert_eq!(number("me.jpg"), 0);
    }

    #[test]
    fn a_missing_file_says_where_and_what_to_do() {
        let message = open_celeba("/nowhere", false).unwrap_err().to_string();
        for part in ["img_align_celeba.zip", "/nowhere/celeba", "another folder"] {
            assert!(message.contains(part), "{message}");
        }
    }
}
