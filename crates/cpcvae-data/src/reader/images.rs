//! Folders and zips of images: one sub-folder per class, or a table of labels.

use super::image_files::{ImageFiles, Input};
use super::image_labels::LabelTable;
use super::{Opened, ReadOptions, jpeg};
use crate::image_set::{chunks, fit};
use crate::mapped::Gatherer;
use crate::parallel::{map_in_order, threads};
use crate::{Bytes, DataError, DataRemedy, ImageSet, Result};
use image::{DynamicImage, ImageDecoder, ImageReader, Limits, metadata::Orientation};
use std::path::Path;

/// Folders whose images have no label.
const UNLABELLED: [&str; 2] = ["unlabeled", "unlabelled"];
/// The most bytes that an image may have, as a file and decoded, on any machine.
const MOST_IMAGE_BYTES: u64 = 512 << 20;
/// While an image is resized, about this many copies of it are in memory.
const COPIES: u64 = 4;

/// Reads the images of a folder.
pub(super) fn read_folder(path: &Path, options: &ReadOptions) -> Result<Opened> {
    read(path, &ImageFiles::in_folder(path)?, options)
}

/// Reads the images of a zip, laid out like a folder.
pub(super) fn read_zip(path: &Path, options: &ReadOptions) -> Result<Opened> {
    let bytes = Bytes::map(path)?;
    read(
        path,
        &ImageFiles::in_zip(&bytes, path, options.most_bytes)?,
        options,
    )
}

/// An image to read: its number among the files, its name and its label.
struct Chosen {
    file: usize,
    name: String,
    label: Option<String>,
}

fn read(path: &Path, files: &ImageFiles, options: &ReadOptions) -> Result<Opened> {
    if files.names.is_empty() {
        return Err(DataError::content(
            path,
            "there are no images here (PNG, JPEG, BMP or TIFF) in the folder or its sub-folders",
        ));
    }
    let below = common_folder(&files.names).len();
    let names: Vec<&str> = files.names.iter().map(|name| &name[below..]).collect();
    let table = match &options.labels_file {
        Some(table) => Some(LabelTable::read(table, &names, options)?),
        None => None,
    };
    let choose = |chosen: &dyn Fn(&str) -> bool, below: &dyn Fn(&str) -> usize| -> Vec<Chosen> {
        let all = names.iter().enumerate().filter(|(_, name)| chosen(name));
        all.map(|(file, name)| Chosen {
            file,
            name: name.to_string(),
            label: match &table {
                Some(table) => table.labels[file].clone(),
                None => folder_label(&name[below(name)..]),
            },
        })
        .collect()
    };
    let top = |name: &str| name.split_once('/').map_or("", |(top, _)| top).to_string();
    let has = |folder: &str| names.iter().any(|name| top(name) == folder);
    let missing = table
        .as_ref()
        .map_or(Vec::new(), |table| table.without_image.clone());
    let missing = [files.skipped.clone(), missing].concat();
    if has("train") && has("test") {
        let past_top = |name: &str| top(name).len() + 1;
        let test = choose(&|name| top(name) == "test", &past_top);
        let rows = choose(&|name| top(name) == "train", &past_top);
        let mut rows = decode(path, files, rows, options)?;
        rows.skipped.extend(missing);
        let test = decode(path, files, test, options)?;
        if (rows.height, rows.width, rows.channels) != (test.height, test.width, test.channels) {
            return Err(DataError::content(
                path,
                "the images of `train` and `test` differ in size or colour; set `data.size` and \
                 `data.gray`",
            )
            .with_remedy(DataRemedy::ResizeImages));
        }
        return Ok(Opened::ImagesWithTest { rows, test });
    }
    let mut set = decode(path, files, choose(&|_| true, &|_| 0), options)?;
    set.skipped.extend(missing);
    Ok(Opened::Images(set))
}

/// The folders that all names begin with: they do not distinguish images, so they are not a class.
fn common_folder(names: &[String]) -> &str {
    let first = names[0].rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut length = 0;
    for part in first.split_inclusive('/') {
        let folder = format!("{}/", names[0][..length + part.len()].trim_end_matches('/'));
        if !names.iter().all(|name| name.starts_with(&folder)) {
            break;
        }
        length = folder.len();
    }
    &names[0][..length]
}

fn folder_label(name: &str) -> Option<String> {
    let (folder, _) = name.split_once('/')?;
    (!UNLABELLED.contains(&folder.to_lowercase().as_str())).then(|| folder.to_string())
}

/// Height, width and number of channels.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Shape(usize, usize, usize);

fn decode(
    path: &Path,
    files: &ImageFiles,
    chosen: Vec<Chosen>,
    options: &ReadOptions,
) -> Result<ImageSet> {
    if options
        .size
        .is_some_and(|size| !(1..=1 << 14).contains(&size))
    {
        return Err(DataError::content(
            path,
            "`data.size` must be from 1 to 16384 pixels",
        ));
    }
    let Shape(height, width, channels) = common_shape(path, files, &chosen, options)?;
    let bytes = height * width * channels;
    let mut gatherer = Gatherer::new(chosen.len() as u64 * bytes as u64, options.memory_budget)?;
    let mut set = ImageSet {
        path: path.to_path_buf(),
        height,
        width,
        channels,
        files: Vec::new(),
        labels: Vec::new(),
        pixels: Vec::new().into(),
        skipped: Vec::new(),
    };
    for chunk in chunks(chosen.len(), bytes) {
        let decoded = map_in_order(chunk.clone(), |place| {
            let image = decode_image(files, chosen[place].file, most_image(options));
            image.map(|image| fit(&image, options.size, channels))
        });
        for (image, pixels) in chosen[chunk].iter().zip(decoded) {
            match pixels {
                Ok(pixels) => {
                    gatherer.push(&pixels)?;
                    set.files.push(image.name.clone());
                    set.labels.push(image.label.clone());
                }
                Err(problem) if options.strict => return Err(undecoded(path, image, &problem)),
                Err(problem) => set.skipped.push((image.name.clone(), problem)),
            }
        }
    }
    set.pixels = gatherer.finish()?.into();
    if let (true, Some((name, problem))) = (set.is_empty(), set.skipped.first()) {
        let count = set.skipped.len();
        return Err(DataError::content(
            path,
            format!("none of {count} images could be decoded; the first, `{name}`: {problem}"),
        ));
    }
    Ok(set)
}

fn undecoded(path: &Path, image: &Chosen, problem: &str) -> DataError {
    let problem = format!(
        "`{}` cannot be decoded: {problem}; repair or remove it, or leave such images out \
         (`data.strict = false`)",
        image.name
    );
    DataError::content(path, problem).with_remedy(DataRemedy::LeaveOutImages)
}

/// The common shape of all images: as asked for, or from the headers of all files.
fn common_shape(
    path: &Path,
    files: &ImageFiles,
    chosen: &[Chosen],
    options: &ReadOptions,
) -> Result<Shape> {
    if let (Some(size), true) = (options.size, options.gray) {
        return Ok(Shape(size, size, 1));
    }
    // A file without a readable header is reported and counted when it is decoded.
    let heads = map_in_order(0..chosen.len(), |place| {
        head(files, chosen[place].file, most_image(options)).ok()
    });
    let mut known = chosen
        .iter()
        .zip(heads)
        .filter_map(|(image, head)| Some((image, head?)));
    let Some((first, Shape(height, width, mut channels))) = known.next() else {
        return Ok(Shape(1, 1, 1));
    };
    for (image, Shape(other_height, other_width, other_channels)) in known {
        if options.size.is_none() && (other_height, other_width) != (height, width) {
            return Err(DataError::content(
                path,
                format!(
                    "`{}` is {width}x{height} pixels, but `{}` {other_width}x{other_height}; set \
                     `data.size` to crop all to their middle square and resize them",
                    first.name, image.name
                ),
            )
            .with_remedy(DataRemedy::ResizeImages));
        }
        channels = channels.max(other_channels);
    }
    let (height, width) = options.size.map_or((height, width), |size| (size, size));
    Ok(Shape(
        height,
        width,
        if options.gray { 1 } else { channels },
    ))
}

/// The most bytes that an image may have: one is decoded per thread at a time.
fn most_image(options: &ReadOptions) -> u64 {
    let at_a_time = threads() as u64 * COPIES;
    MOST_IMAGE_BYTES.min(options.most_memory / at_a_time)
}

fn head(files: &ImageFiles, file: usize, most: u64) -> std::result::Result<Shape, String> {
    let (decoder, orientation) = decoder(open(files, file, most)?, most)?;
    let (width, height) = decoder.dimensions();
    let channels = if decoder.color_type().has_color() {
        3
    } else {
        1
    };
    use Orientation::{Rotate90, Rotate90FlipH, Rotate270, Rotate270FlipH};
    Ok(match orientation {
        Rotate90 | Rotate270 | Rotate90FlipH | Rotate270FlipH => {
            Shape(width as usize, height as usize, channels)
        }
        _ => Shape(height as usize, width as usize, channels),
    })
}

/// Decodes an image and applies its EXIF orientation.
fn decode_image(
    files: &ImageFiles,
    file: usize,
    most: u64,
) -> std::result::Result<DynamicImage, String> {
    let mut input = open(files, file, most)?;
    let start = input.fill_buf().map_err(|error| error.to_string())?;
    if jpeg::is_jpeg(start) {
        let whole = jpeg::has_end(&mut input).and_then(|whole| {
            input.rewind()?;
            Ok(whole)
        });
        if !whole.map_err(|error| error.to_string())? {
            return Err("the JPEG file is cut short; get it again".into());
        }
    }
    let (decoder, orientation) = decoder(input, most)?;
    let mut image = DynamicImage::from_decoder(decoder).map_err(|error| error.to_string())?;
    image.apply_orientation(orientation);
    Ok(image)
}

fn open(files: &ImageFiles, file: usize, most: u64) -> std::result::Result<Box<dyn Input>, String> {
    files.open(file, most).map_err(|error| error.to_string())
}

/// A decoder, after checking that the decoded image takes at most `most` bytes.
fn decoder(
    input: Box<dyn Input>,
    most: u64,
) -> std::result::Result<(impl ImageDecoder, Orientation), String> {
    let mut reader = ImageReader::new(input)
        .with_guessed_format()
        .map_err(|error| error.to_string())?;
    let mut limits = Limits::default();
    limits.max_alloc = Some(most);
    reader.limits(limits);
    let mut decoder = reader.into_decoder().map_err(|error| error.to_string())?;
    if decoder.total_bytes() > most {
        let (width, height) = decoder.dimensions();
        return Err(format!(
            "its {width}x{height} pixels take {} bytes, more than the {most} that an image may \
             take; make it smaller",
            decoder.total_bytes()
        ));
    }
    if decoder.dimensions().0 == 0 || decoder.dimensions().1 == 0 {
        return Err("it has no pixels".into());
    }
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    Ok((decoder, orientation))
}
