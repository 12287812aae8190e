//! Images in a MATLAB 5 file in the layout of SVHN: `X` of height x width x 3 x count, `y` with the
//! classes.

use super::ReadOptions;
use super::mat_array::{MatArray, read_arrays};
use crate::{Bytes, DataError, ImageSet, NumberKind, Result};
use std::path::Path;

/// Reads the images `X` and, if there are any, the labels `y`.
pub(super) fn read(path: &Path, options: &ReadOptions) -> Result<ImageSet> {
    let file = Bytes::map(path)?;
    let arrays = read_arrays(&file, path, options.most_in_memory())?;
    let wrong = |problem: String| DataError::content(path, problem);
    let named = |name: &str| arrays.iter().find(|array| array.name == name);
    let Some(images) = named("X") else {
        let names: Vec<&str> = arrays.iter().map(|array| array.name.as_str()).collect();
        return Err(wrong(format!(
            "there is no numeric array `X` (height x width x channels x count) in it; its arrays: {}",
            names.join(", ")
        )));
    };
    let (height, width, channels, count) = match images.sizes[..] {
        [height, width, channels @ (1 | 3), count] => (height, width, channels, count),
        [height, width, channels @ (1 | 3)] => (height, width, channels, 1),
        _ => (0, 0, 0, 0),
    };
    if height * width * count == 0 || images.kind != NumberKind::U8 {
        return Err(wrong(format!(
            "`X` is {:?} of {:?}; images are read as [height, width, 1 or 3, count] of uint8",
            images.sizes, images.kind
        )));
    }
    let labels = match named("y") {
        None => vec![None; count],
        Some(labels) => digits(labels, count).map_err(wrong)?,
    };
    let set = ImageSet {
        path: path.to_path_buf(),
        height,
        width,
        channels,
        files: crate::image_set::numbered(count),
        labels,
        pixels: pixels(images, height, width, channels).into(),
        skipped: Vec::new(),
    };
    set.fitted(options.size, options.gray, options.memory_budget)
}

/// From `[height, width, channels, count]`, the first fastest, to `[count, height, width,
/// channels]`, the last fastest.
fn pixels(images: &MatArray, height: usize, width: usize, channels: usize) -> Vec<u8> {
    let mut pixels = Vec::with_capacity(images.bytes.len());
    for image in images.bytes.chunks_exact(height * width * channels) {
        for y in 0..height {
            for x in 0..width {
                pixels.extend((0..channels).map(|c| image[y + height * (x + width * c)]));
            }
        }
    }
    pixels
}

/// The labels as text. Where they run from 1 to 10, 10 is the digit 0, as in SVHN.
fn digits(labels: &MatArray, count: usize) -> std::result::Result<Vec<Option<String>>, String> {
    let numbers: Vec<f64> = labels.numbers().collect();
    if numbers.len() != count {
        return Err(format!(
            "`X` holds {count} images, but `y` {} labels",
            numbers.len()
        ));
    }
    if let Some(label) = numbers.iter().find(|label| label.fract() != 0.0) {
        return Err(format!(
            "`y` holds {label}; labels of images are whole numbers"
        ));
    }
    let ten_is_zero =
        numbers.contains(&10.0) && numbers.iter().all(|label| (1.0..=10.0).contains(label));
    Ok(numbers
        .iter()
        .map(|&label| match label {
            -1.0 => None,
            10.0 if ten_is_zero => Some("0".into()),
            _ => Some(label.to_string()),
        })
        .collect())
}
