//! MNIST, and other images in pairs of IDX files.

use crate::{DataError, DataRemedy, Dataset, Features, Labels, Layout, Result, Source, read_idx};
use std::path::{Path, PathBuf};

/// The four files of MNIST as their authors named them, without `.gz`.
pub(crate) const FILES: [&str; 4] = [
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
];

/// Where the files may be, under a data folder. The last is torchvision's place.
const FOLDERS: [&str; 3] = ["mnist", "", "MNIST/raw"];

/// Opens MNIST: 60,000 rows and the official test set of 10,000.
///
/// The four files are looked for in `data_dir/mnist`, `data_dir` and
/// `data_dir/MNIST/raw`, plain or gzip, with a `-` or a `.` before `idx`.
pub fn open_mnist(data_dir: impl AsRef<Path>) -> Result<Source> {
    let data_dir = data_dir.as_ref();
    let find = |file| find_file(data_dir, file).ok_or_else(|| missing(data_dir, file));
    let [train_images, train_labels, test_images, test_labels] = FILES.map(find);
    let mut rows = open_idx(train_images?, train_labels?)?;
    let mut test = open_idx(test_images?, test_labels?)?;
    if rows.layout != test.layout {
        return Err(DataError::Shape(format!(
            "the training images are {:?}, but the test images {:?}; \
             the files in {} are not of one data set",
            rows.layout,
            test.layout,
            data_dir.display()
        )));
    }
    // A cut-down test set may lack the last classes; both sets must number classes alike.
    let names = digit_names(rows.class_names().len().max(test.class_names().len()));
    for part in [&mut rows, &mut test] {
        part.name = "mnist".into();
        part.labels = part.labels.with_class_names(&names)?;
    }
    Ok(Source {
        rows,
        test: Some(test),
        split: None,
    })
}

/// Opens grey images of any size and their labels from a pair of IDX files.
///
/// The classes are the digits from 0 to the largest label.
pub fn open_idx(images: impl AsRef<Path>, labels: impl AsRef<Path>) -> Result<Dataset> {
    let (image_path, label_path) = (images.as_ref(), labels.as_ref());
    let images = read_idx(image_path)?;
    let &[count, height, width] = images.sizes.as_slice() else {
        return Err(DataError::content(
            image_path,
            "this IDX file holds labels (1-D); images are 3-D. Are the two files swapped?",
        ));
    };
    let labels = read_idx(label_path)?;
    if labels.sizes.len() != 1 {
        return Err(DataError::content(
            label_path,
            "this IDX file holds images (3-D); labels are 1-D. Are the two files swapped?",
        ));
    }
    if labels.bytes.len() != count {
        return Err(DataError::Shape(format!(
            "{} holds {count} images, but {} holds {} labels; the files do not belong together",
            image_path.display(),
            label_path.display(),
            labels.bytes.len()
        )));
    }
    if images.bytes.is_empty() {
        return Err(DataError::content(image_path, "the file holds no images"));
    }
    let layout = Layout::Image {
        height,
        width,
        channels: 1,
    };
    let name = image_path.file_stem().unwrap_or_default().to_string_lossy();
    let pixels = Features::of_bytes(images.bytes, height * width);
    Dataset::new(name, pixels, layout, classes(&labels.bytes))
}

/// Whether all four files are there.
pub(crate) fn is_present(data_dir: &Path) -> bool {
    FILES.iter().all(|file| find_file(data_dir, file).is_some())
}

fn classes(bytes: &[u8]) -> Labels {
    let classes = bytes
        .iter()
        .max()
        .map_or(0, |&largest| usize::from(largest) + 1);
    Labels::Classes {
        names: digit_names(classes),
        of_row: bytes.iter().map(|&b| Some(u32::from(b))).collect(),
    }
}

fn digit_names(classes: usize) -> Vec<String> {
    (0..classes).map(|class| class.to_string()).collect()
}

fn find_file(data_dir: &Path, file: &str) -> Option<PathBuf> {
    FOLDERS
        .iter()
        .find_map(|folder| file_in(&data_dir.join(folder), file))
}

/// One of [`FILES`] in this folder (not in subfolders), under any of its usual names.
pub(crate) fn file_in(folder: &Path, file: &str) -> Option<PathBuf> {
    let dotted = file.replace("-idx", ".idx");
    [file, &dotted]
        .into_iter()
        .flat_map(|name| [format!("{name}.gz"), name.to_string()])
        .map(|name| folder.join(name))
        .find(|path| path.is_file())
}

fn missing(data_dir: &Path, file: &str) -> DataError {
    let folders = FOLDERS.map(|folder| data_dir.join(folder).display().to_string());
    let error = DataError::Missing {
        what: format!("the MNIST file {file} (or {file}.gz)"),
        looked_in: folders.join(", "),
        advice: "Fetch it (`fetch_mnist`), or name another folder".into(),
    };
    error.with_remedy(DataRemedy::FindData {
        fetch: Some("mnist"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Idx;
    use crate::write_idx;

    fn write_pair(folder: &Path, images: &str, labels: &str, sizes: [usize; 3], of_row: &[u8]) {
        std::fs::create_dir_all(folder).unwrap();
        let count = sizes.iter().product::<usize>();
        let bytes = (0..count).map(|i| (i * 51 % 256) as u8).collect();
        write_idx(
            folder.join(images),
            &Idx {
                sizes: sizes.to_vec(),
                bytes,
            },
        )
        .unwrap();
        let labels_idx = Idx {
            sizes: vec![of_row.len()],
            bytes: of_row.to_vec(),
        };
        write_idx(folder.join(labels), &labels_idx).unwrap();
    }

    #[test]
    fn files_are_found_under_their_usual_names() {
        let data = tempfile::tempdir().unwrap();
        let data = data.path();
        write_pair(
            data,
            "train-images.idx3-ubyte",
            "train-labels-idx1-ubyte.gz",
            [3, 2, 4],
            &[0, 2, 1],
        );
        assert!(!is_present(data));
        write_pair(
            &data.join("mnist"),
            "t10k-images-idx3-ubyte.gz",
            "t10k-labels.idx1-ubyte.gz",
            [2, 2, 4],
            &[1, 0],
        );
        assert!(is_present(data));
        let source = open_mnist(data).unwrap();
        let test = source.test.unwrap();
        assert_eq!(
            source.rows.layout,
            Layout::Image {
                height: 2,
                width: 4,
                channels: 1
            }
        );
        assert_eq!(
            source.rows.features.row(0)[..6],
            [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
        );
        assert_eq!(source.rows.labels.class_of(1), Some(2));
        assert_eq!(
            test.class_names(),
            ["0", "1", "2"],
            "numbered like the training rows"
        );
    }

    #[test]
    fn a_missing_file_says_where_and_what_to_do() {
        let message = open_mnist("/nowhere").unwrap_err().to_string();
        for part in [
            "train-images-idx3-ubyte",
            "/nowhere/mnist",
            "fetch_mnist",
            "another folder",
        ] {
            assert!(message.contains(part), "{message}");
        }
    }

    #[test]
    fn pairs_that_do_not_belong_together_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        write_pair(folder, "images", "labels", [2, 3, 3], &[0, 1, 1]);
        let message = open_idx(folder.join("images"), folder.join("labels"))
            .unwrap_err()
            .to_string();
        assert!(
            message.contains("2 images") && message.contains("3 labels"),
            "{message}"
        );
        let message = open_idx(folder.join("labels"), folder.join("images"))
            .unwrap_err()
            .to_string();
        assert!(message.contains("swapped"), "{message}");
        write_pair(folder, "images", "labels", [0, 3, 3], &[]);
        assert!(open_idx(folder.join("images"), folder.join("labels")).is_err());
    }
}
