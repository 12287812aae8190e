//! Street View House Numbers, cropped digits: the official colour files, or grey ones made from
//! them.

use crate::{
    DataError, DataRemedy, Dataset, Grey, ImageSet, Layout, MEMORY_BUDGET, Opened, ReadOptions,
    Result, Source, mnist, open_idx, open_path,
};
use std::path::{Path, PathBuf};

/// The official files.
pub(crate) const FILES: [&str; 2] = ["train_32x32.mat", "test_32x32.mat"];

/// Grey IDX files, images and labels for training and for testing, without `.gz`.
const GREY_FILES: [&str; 4] = [
    "gray-train-images-idx3-ubyte",
    "gray-train-labels-idx1-ubyte",
    "gray-test-images-idx3-ubyte",
    "gray-test-labels-idx1-ubyte",
];

/// Where the files may be, under a data folder.
const FOLDERS: [&str; 2] = ["svhn", ""];

/// Opens SVHN in grey: 73,257 rows and the official test set of 26,032.
///
/// The official `.mat` files are prepared as in the paper: contrast-normalised in every channel of
/// every image, then converted to grey. Where these files are not there, IDX files that hold such
/// images are used as they are.
pub fn open_svhn(data_dir: impl AsRef<Path>) -> Result<Source> {
    let data_dir = data_dir.as_ref();
    let (rows, test) = match (official(data_dir), grey(data_dir)) {
        (Some([train, test]), _) => (open_mat(&train)?, open_mat(&test)?),
        (None, Some([images, labels, test_images, test_labels])) => (
            open_idx(images, labels)?,
            open_idx(test_images, test_labels)?,
        ),
        (None, None) => return Err(missing(data_dir)),
    };
    as_source(rows, test, data_dir)
}

/// Whether all files of one kind are there.
pub(crate) fn is_present(data_dir: &Path) -> bool {
    official(data_dir).is_some() || grey(data_dir).is_some()
}

fn official(data_dir: &Path) -> Option<[PathBuf; 2]> {
    let in_folder = |folder: &&str| {
        let paths = FILES.map(|file| data_dir.join(folder).join(file));
        paths.iter().all(|path| path.is_file()).then_some(paths)
    };
    FOLDERS.iter().find_map(in_folder)
}

fn grey(data_dir: &Path) -> Option<[PathBuf; 4]> {
    let in_folder = |folder: &&str| {
        let [a, b, c, d] = GREY_FILES.map(|file| mnist::file_in(&data_dir.join(folder), file));
        Some([a?, b?, c?, d?])
    };
    FOLDERS.iter().find_map(in_folder)
}

fn open_mat(path: &Path) -> Result<Dataset> {
    match open_path(path, &ReadOptions::default())? {
        Opened::Images(images) => prepared(&images)?.to_dataset(),
        _ => Err(DataError::content(path, "this is no file of SVHN's images")),
    }
}

/// The paper's preparation.
fn prepared(images: &ImageSet) -> Result<ImageSet> {
    images.contrast_normalised(Some(Grey::Luminance), MEMORY_BUDGET)
}

fn as_source(mut rows: Dataset, mut test: Dataset, data_dir: &Path) -> Result<Source> {
    let is_svhn = |data: &Dataset| {
        let layout = Layout::Image {
            height: 32,
            width: 32,
            channels: 1,
        };
        data.layout == layout
    };
    if !is_svhn(&rows) || !is_svhn(&test) {
        return Err(DataError::Shape(format!(
            "images of SVHN are 32 x 32 pixels, but those in {} are {:?} and {:?}",
            data_dir.display(),
            rows.layout,
            test.layout
        )));
    }
    // A cut-down test set may lack a digit; both sets must number classes alike.
    let names: Vec<String> = (0..10).map(|digit| digit.to_string()).collect();
    for part in [&mut rows, &mut test] {
        part.name = "svhn".into();
        part.labels = part.labels.with_class_names(&names)?;
    }
    Ok(Source {
        rows,
        test: Some(test),
        split: None,
    })
}

fn missing(data_dir: &Path) -> DataError {
    let folders = FOLDERS.map(|folder| data_dir.join(folder).display().to_string());
    let error = DataError::Missing {
        what: format!("the SVHN files {} and {}", FILES[0], FILES[1]),
        looked_in: folders.join(", "),
        advice: "Fetch them (`fetch_svhn`), or name another folder".into(),
    };
    error.with_remedy(DataRemedy::FindData {
        fetch: Some("svhn"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Idx, write_idx};

    fn write_grey(folder: &Path, side: usize) {
        for (part, digits) in [("train", &[3u8, 0, 9][..]), ("test", &[1, 3])] {
            let images = Idx {
                sizes: vec![digits.len(), side, side],
                bytes: vec![7; digits.len() * side * side],
            };
            let labels = Idx {
                sizes: vec![digits.len()],
                bytes: digits.to_vec(),
            };
            let path = |what: &str| folder.join(format!("gray-{part}-{what}-ubyte.gz"));
            write_idx(path("images-idx3"), &images).unwrap();
            write_idx(path("labels-idx1"), &labels).unwrap();
        }
    }

    #[test]
    fn grey_files_are_taken_as_they_are() {
        let data = tempfile::tempdir().unwrap();
        assert!(!is_present(data.path()));
        let folder = data.path().join("svhn");
        std::fs::create_dir(&folder).unwrap();
        write_grey(&folder, 32);
        assert!(is_present(data.path()));
        let source = open_svhn(data.path()).unwrap();
        assert_eq!(source.rows.name, "svhn");
        assert_eq!(source.rows.class_names().len(), 10);
        assert_eq!(source.rows.labels.class_of(2), Some(9));
        assert_eq!(source.test.unwrap().labels.class_of(1), Some(3));
        assert_eq!(source.rows.features.row(0)[0], 7.0 / 255.0);
    }

    #[test]
    fn other_images_and_missing_files_are_refused() {
        let data = tempfile::tempdir().unwrap();
        write_grey(data.path(), 28);
        let message = open_svhn(data.path()).unwrap_err().to_string();
        assert!(message.contains("32 x 32"), "{message}");
        let message = open_svhn("/nowhere").unwrap_err().to_string();
        for part in ["train_32x32.mat", "/nowhere/svhn", "fetch_svhn"] {
            assert!(message.contains(part), "{message}");
        }
    }

    #[test]
    fn official_files_that_are_cut_say_so() {
        let data = tempfile::tempdir().unwrap();
        for file in FILES {
            std::fs::write(data.path().join(file), b"MATLAB 5.0 MAT-file, but no more").unwrap();
        }
        let message = open_svhn(data.path()).unwrap_err().to_string();
        assert!(message.contains("train_32x32.mat"), "{message}");
    }
}
