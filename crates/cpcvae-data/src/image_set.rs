//! A set of images of one size, as bytes, with the labels that are known.

use crate::cell::{as_flag, time_text};
use crate::mapped::Gatherer;
use crate::parallel::map_in_order;
use crate::reader::name_of;
use crate::{Cells, DataError, Dataset, Features, Ids, Labels, Layout, Result, SharedBytes};
use image::{DynamicImage, GrayImage, RgbImage, imageops};
use std::collections::HashMap;
use std::path::PathBuf;

/// How many bytes of images are processed at a time.
const CHUNK_BYTES: usize = 64 << 20;

/// Images of one size.
#[derive(Clone, Debug)]
pub struct ImageSet {
    /// Where they come from, for messages.
    pub path: PathBuf,
    /// Rows of pixels.
    pub height: usize,
    /// Pixels in a row.
    pub width: usize,
    /// Values in a pixel: 1 for grey, 3 for red, green and blue.
    pub channels: usize,
    /// The name of each image: its path inside the folder or zip, or its number.
    pub files: Vec<String>,
    /// The class of each image, where it is known.
    pub labels: Vec<Option<String>>,
    /// `[images, height, width, channels]`, the last fastest.
    pub pixels: SharedBytes,
    /// What was left out, and why: images that do not decode, labels without an image.
    pub skipped: Vec<(String, String)>,
}

impl ImageSet {
    /// Number of images.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The pixels of one image: `[height, width, channels]`.
    ///
    /// # Panics
    /// When there is no image `place`, as indexing a slice does.
    pub fn image(&self, place: usize) -> &[u8] {
        let size = self.height * self.width * self.channels;
        &self.pixels[place * size..(place + 1) * size]
    }

    /// The classes: in order of number where all are whole numbers, else of the alphabet.
    pub fn class_names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.labels.iter().flatten().cloned().collect();
        names.sort_unstable();
        names.dedup();
        let numbers: Option<Vec<i64>> = names.iter().map(|name| name.parse().ok()).collect();
        if numbers.is_some() {
            names.sort_by_key(|name| name.parse::<i64>().unwrap_or(0));
        }
        names
    }

    /// The set as rows of pixels in `[0, 1]`, with the classes of [`class_names`](Self::class_names);
    /// the names of files are the ids of rows.
    pub fn to_dataset(&self) -> Result<Dataset> {
        let names = self.class_names();
        let numbers: HashMap<&str, u32> =
            (0..).zip(&names).map(|(i, name)| (&name[..], i)).collect();
        let class = |label: &Option<String>| Some(*numbers.get(label.as_deref()?)?);
        let labels = match names.is_empty() {
            true => Labels::None,
            false => Labels::Classes {
                of_row: self.labels.iter().map(class).collect(),
                names: names.clone(),
            },
        };
        let layout = Layout::Image {
            height: self.height,
            width: self.width,
            channels: self.channels,
        };
        let features = Features::of_bytes(self.pixels.clone(), layout.width());
        let mut data = Dataset::new(name_of(&self.path), features, layout, labels)?;
        // Images that are only numbered have no names.
        let named = self.files.iter().all(|file| !file.starts_with('#'));
        data.ids = named.then(|| Ids {
            name: "file".into(),
            of_row: self.files.clone(),
        });
        Ok(data)
    }

    /// The set with every image cropped to its middle square of `size` pixels a side and converted
    /// to grey, as far as asked for.
    pub(crate) fn fitted(self, size: Option<usize>, gray: bool, budget: u64) -> Result<ImageSet> {
        let side = size.unwrap_or(0);
        let fits = size.is_none() || (side == self.height && side == self.width);
        let channels = if gray { 1 } else { self.channels };
        if fits && channels == self.channels {
            return Ok(self);
        }
        let (height, width) = size.map_or((self.height, self.width), |side| (side, side));
        let change = |place: usize| {
            let (width, height) = (self.width as u32, self.height as u32);
            let pixels = self.image(place).to_vec();
            let image = match self.channels {
                1 => GrayImage::from_raw(width, height, pixels).map(DynamicImage::from),
                _ => RgbImage::from_raw(width, height, pixels).map(DynamicImage::from),
            };
            image.map_or_else(Vec::new, |image| fit(&image, size, channels))
        };
        let pixels = changed(self.len(), height * width * channels, budget, change)?;
        Ok(ImageSet {
            height,
            width,
            channels,
            pixels,
            ..self
        })
    }
}

/// The pixels of `count` images of `size` bytes each, computed on all cores in chunks.
pub(crate) fn changed(
    count: usize,
    size: usize,
    budget: u64,
    make: impl Fn(usize) -> Vec<u8> + Send + Sync,
) -> Result<SharedBytes> {
    let mut gatherer = Gatherer::new(count as u64 * size as u64, budget)?;
    for chunk in chunks(count, size) {
        for pixels in map_in_order(chunk, &make) {
            if pixels.len() != size {
                let problem = format!("an image has {} bytes instead of {size}", pixels.len());
                return Err(DataError::Shape(problem));
            }
            gatherer.push(&pixels)?;
        }
    }
    Ok(gatherer.finish()?.into())
}

/// Ranges of images that are processed together, about [`CHUNK_BYTES`] each.
pub(crate) fn chunks(count: usize, size: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    let step = (CHUNK_BYTES / size.max(1)).max(64);
    (0..count)
        .step_by(step)
        .map(move |start| start..(start + step).min(count))
}

/// An image as bytes: its middle square resized, if a size is given, in 1 or 3 channels.
pub(crate) fn fit(image: &DynamicImage, size: Option<usize>, channels: usize) -> Vec<u8> {
    match channels {
        1 => fit_buffer(image.to_luma8(), size).into_raw(),
        _ => fit_buffer(image.to_rgb8(), size).into_raw(),
    }
}

fn fit_buffer<P: image::Pixel<Subpixel = u8> + 'static>(
    image: image::ImageBuffer<P, Vec<u8>>,
    size: Option<usize>,
) -> image::ImageBuffer<P, Vec<u8>> {
    let Some(size) = size else { return image };
    let (width, height) = image.dimensions();
    let side = width.min(height);
    let (left, top) = ((width - side) / 2, (height - side) / 2);
    let square = imageops::crop_imm(&image, left, top, side, side).to_image();
    match side as usize == size {
        true => square,
        // Area averaging, so that fine patterns do not alias.
        false => imageops::resize(
            &square,
            size as u32,
            size as u32,
            imageops::FilterType::Triangle,
        ),
    }
}

/// Names for images that have no files of their own.
pub(crate) fn numbered(count: usize) -> Vec<String> {
    (0..count).map(|image| format!("#{image}")).collect()
}

/// Cells as names of classes; blank, NaN and -1 mean unlabelled.
pub(crate) fn label_texts(cells: &Cells) -> Vec<Option<String>> {
    let number = |value: f64| (!value.is_nan() && value != -1.0).then(|| value.to_string());
    let text = |text: &str| (!text.is_empty()).then(|| text.to_string());
    let flag = |flag: Option<bool>| flag.map(|flag| flag.to_string());
    match cells {
        Cells::Texts(cells) => cells.iter().map(|cell| text(cell)).collect(),
        Cells::PackedTexts(cells) => cells.iter().map(text).collect(),
        Cells::Numbers(cells) => cells.iter().map(|&value| number(value)).collect(),
        Cells::Packed(cells) => cells.iter().map(number).collect(),
        Cells::Flags(cells) => cells.iter().map(|cell| flag(*cell)).collect(),
        Cells::PackedFlags(cells) => cells.iter().map(|byte| flag(as_flag(byte))).collect(),
        Cells::PackedTimes { seconds, zoned } => {
            let all = seconds.iter().map(|seconds| time_text(seconds, *zoned));
            all.map(|cell| text(&cell)).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(height: usize, width: usize, channels: usize, pixels: Vec<u8>) -> ImageSet {
        let count = pixels.len() / (height * width * channels);
        ImageSet {
            path: "set".into(),
            height,
            width,
            channels,
            files: (0..count).map(|image| image.to_string()).collect(),
            labels: (0..count)
                .map(|image| (image > 0).then(|| (12 - image).to_string()))
                .collect(),
            pixels: pixels.into(),
            skipped: Vec::new(),
        }
    }

    #[test]
    fn classes_are_ordered_by_number_and_missing_ones_stay_missing() {
        let data = set(1, 1, 1, vec![0, 51, 255, 0]).to_dataset().unwrap();
        assert_eq!(data.class_names(), ["9", "10", "11"]);
        assert_eq!(data.features.matrix().values[..3], [0.0, 0.2, 1.0]);
        let of_row: Vec<_> = (0..4).map(|row| data.labels.class_of(row)).collect();
        assert_eq!(of_row, [None, Some(2), Some(1), Some(0)]);
        assert_eq!(data.ids.unwrap().of_row[3], "3");
        let mut numbered = set(1, 1, 1, vec![0]);
        numbered.files[0] = "#0".into();
        assert_eq!(numbered.to_dataset().unwrap().ids, None);
    }

    #[test]
    fn the_middle_square_is_kept_and_colour_turns_to_grey() {
        // Two rows of four pixels; the middle square is columns 1 and 2.
        let wide = set(2, 4, 1, vec![1, 2, 3, 4, 5, 6, 7, 8]);
        let wide = wide.fitted(Some(2), false, 1 << 20).unwrap();
        assert_eq!(
            (wide.height, wide.width, wide.pixels.to_vec()),
            (2, 2, vec![2, 3, 6, 7])
        );
        let grey = set(1, 2, 3, vec![90, 90, 90, 0, 255, 0])
            .fitted(None, true, 0)
            .unwrap();
        assert_eq!((grey.channels, grey.width, grey.pixels[0]), (1, 2, 90));
        assert!(
            grey.pixels[1] > 150,
            "green looks bright: {}",
            grey.pixels[1]
        );
    }

    #[test]
    fn minus_one_and_blank_are_no_labels() {
        let numbers = Cells::Numbers(vec![3.0, -1.0, f64::NAN]);
        assert_eq!(label_texts(&numbers), [Some("3".into()), None, None]);
        let texts = Cells::Texts(vec![String::new(), "cat".into()]);
        assert_eq!(label_texts(&texts), [None, Some("cat".into())]);
    }
}
