//! Images in IDX files: a pair named by the user, or a folder with the four of MNIST.

use super::{Opened, ReadOptions};
use crate::{DataError, ImageSet, Result, mnist, read_idx};
use std::path::{Path, PathBuf};

/// Whether a folder has the four files of MNIST and similar data sets.
pub(super) fn is_folder(path: &Path) -> bool {
    let is_there = |file: &&str| mnist::file_in(path, file).is_some();
    mnist::FILES.iter().all(is_there)
}

/// Reads the four files of a folder.
pub(super) fn read_folder(path: &Path, options: &ReadOptions) -> Result<Opened> {
    let [train_images, train_labels, test_images, test_labels] = mnist::FILES.map(|file| {
        mnist::file_in(path, file)
            .ok_or_else(|| DataError::content(path, format!("the file {file} is no longer there")))
    });
    let rows = read_pair(&train_images?, Some(&train_labels?), options)?;
    let test = read_pair(&test_images?, Some(&test_labels?), options)?;
    if (rows.height, rows.width) != (test.height, test.width) {
        let problem = "its images for training and for testing differ in size";
        return Err(DataError::content(path, problem));
    }
    Ok(Opened::ImagesWithTest { rows, test })
}

/// Reads images and their labels. The labels come from the named file, or from the file beside the
/// images that has `labels` and `idx1` in its name in place of `images` and `idx3`; without one
/// there are no labels.
pub(super) fn read(path: &Path, options: &ReadOptions) -> Result<ImageSet> {
    let beside = || {
        let name = path.file_name()?.to_str()?;
        let labels = name.replace("images", "labels").replace("idx3", "idx1");
        let labels = path.with_file_name(&labels);
        (labels != path && labels.is_file()).then_some(labels)
    };
    let labels: Option<PathBuf> = options.labels_file.clone().or_else(beside);
    read_pair(path, labels.as_deref(), options)
}

fn read_pair(path: &Path, labels: Option<&Path>, options: &ReadOptions) -> Result<ImageSet> {
    let images = read_idx(path)?;
    let &[count, height, width] = images.sizes.as_slice() else {
        return Err(DataError::content(
            path,
            "this IDX file holds labels (1-D); name the file of images (3-D), and this one as its \
             labels",
        ));
    };
    if images.bytes.is_empty() {
        return Err(DataError::content(path, "the file holds no images"));
    }
    let labels = match labels {
        None => vec![None; count],
        Some(labels) => label_bytes(labels, path, count)?,
    };
    let set = ImageSet {
        path: path.to_path_buf(),
        height,
        width,
        channels: 1,
        files: crate::image_set::numbered(count),
        labels,
        pixels: images.bytes.into(),
        skipped: Vec::new(),
    };
    set.fitted(options.size, options.gray, options.memory_budget)
}

fn label_bytes(path: &Path, images: &Path, count: usize) -> Result<Vec<Option<String>>> {
    let labels = read_idx(path)?;
    if labels.sizes.len() != 1 {
        return Err(DataError::content(
            path,
            "this IDX file holds images (3-D); labels are 1-D. Are the two files swapped?",
        ));
    }
    if labels.bytes.len() != count {
        return Err(DataError::Shape(format!(
            "{} holds {count} images, but {} holds {} labels; the files do not belong together",
            images.display(),
            path.display(),
            labels.bytes.len()
        )));
    }
    Ok(labels
        .bytes
        .iter()
        .map(|label| Some(label.to_string()))
        .collect())
}
