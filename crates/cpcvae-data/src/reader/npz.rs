//! NumPy files as tables or images: the role of each array.

use super::kind::open_zip;
use super::npy::{Array, Element};
use super::{Opened, ReadOptions, left_out, near, repeated, unpack};
use crate::image_set::ImageSet;
use crate::{Bytes, DataError, DataRemedy, NumberKind, RawColumn, RawTable, Result, SharedBytes};
use std::path::Path;

/// Reads one array: rows of features, or images. The file is mapped, not read.
pub(super) fn read_npy(path: &Path, options: &ReadOptions) -> Result<Opened> {
    let file = SharedBytes::from(Bytes::map(path)?);
    let array = Array::parse(&file, "the array", path)?;
    assemble(path, vec![("X".into(), array)], options)
}

/// Reads a zip of arrays. Uncompressed arrays stay in the mapped file.
pub(super) fn read_npz(path: &Path, options: &ReadOptions) -> Result<Opened> {
    let file = SharedBytes::from(Bytes::map(path)?);
    let mut archive = open_zip(&file, path)?;
    let mut arrays = Vec::new();
    let mut left = options.most_bytes;
    for place in 0..archive.len() {
        let damaged = |error: &dyn std::fmt::Display| {
            let problem = format!("the zip file is cut short or damaged ({error}); get it again");
            DataError::content(path, problem)
        };
        let entry = archive.by_index(place).map_err(|error| damaged(&error))?;
        let file_name = entry.name().map_err(|error| damaged(&error))?.into_owned();
        let Some(name) = file_name.strip_suffix(".npy").map(String::from) else {
            continue;
        };
        let stored = entry.compression() == zip::CompressionMethod::Stored;
        let bytes = match entry.data_start() {
            Some(start) if stored => {
                let end = start.saturating_add(entry.size());
                let bytes = file
                    .part(start as usize..end as usize)
                    .ok_or_else(|| damaged(&"an array reaches beyond its end"))?;
                // These bytes are not read through the unpacker, which would check the checksum.
                if checksum(&bytes) != entry.crc32() {
                    let problem = format!("the checksum of array `{name}` is wrong");
                    return Err(damaged(&problem));
                }
                bytes
            }
            _ => {
                if entry.size() > left {
                    let error = unpack::too_large(options.most_bytes);
                    return Err(unpack::read_error(path, error));
                }
                let bytes = unpack::gather(entry, left, options.memory_budget, path)?;
                left -= bytes.len() as u64;
                bytes
            }
        };
        let array = Array::parse(&bytes, &format!("array `{name}`"), path)?;
        arrays.push((name, array));
    }
    assemble(path, arrays, options)
}

fn checksum(bytes: &[u8]) -> u32 {
    let mut checksum = flate2::Crc::new();
    bytes.chunks(1 << 20).for_each(|part| checksum.update(part));
    checksum.sum()
}

/// Makes a table or images of named arrays.
///
/// The array of features is the one that was named, or `X` or `x`. The arrays of labels and all
/// others with one value per row become additional columns. Without an array of features, every
/// array is a feature column.
fn assemble(path: &Path, arrays: Vec<(String, Array)>, options: &ReadOptions) -> Result<Opened> {
    let names: Vec<String> = arrays.iter().map(|(name, _)| name.clone()).collect();
    let wrong = |problem: String| DataError::content(path, problem);
    let no_array = |name: &String| {
        wrong(format!(
            "there is no array `{name}`; {}",
            near(&names, name)
        ))
    };
    if let Some(name) = options
        .features_name
        .iter()
        .find(|name| !names.contains(name))
    {
        return Err(no_array(name));
    }
    let mut label_arrays = Vec::new();
    for name in &options.label_names {
        label_arrays.push(array_of_label(&names, name).ok_or_else(|| no_array(name))?);
    }
    let is_features = |name: &String| match &options.features_name {
        Some(chosen) => name == chosen,
        None => name == "X" || name == "x",
    };
    let features = names.iter().position(is_features);
    let first = features.unwrap_or(0);
    let rows = arrays.get(first).and_then(|(_, array)| array.shape.first());
    let &rows = rows.ok_or_else(|| wrong("there is no array with rows in it".into()))?;
    if rows == 0 {
        return Err(wrong(format!("array `{}` has no rows", names[first])));
    }

    let mut columns = Vec::new();
    let mut beside = Vec::new();
    for (place, (name, array)) in arrays.iter().enumerate() {
        let chosen = features.is_none_or(|features| features == place);
        let is_label = label_arrays.contains(&name) || (name == "y" && !chosen);
        match array.shape[..] {
            [count] if count == rows => {
                let list = if chosen { &mut columns } else { &mut beside };
                list.push(named(name.clone(), array, 0));
            }
            [count, width] if count == rows && (chosen || is_label) => {
                let list = if chosen { &mut columns } else { &mut beside };
                let single = width == 1 && !chosen;
                list.extend((0..width).map(|column| match single {
                    true => named(name.clone(), array, 0),
                    false => named(format!("{}{column}", name.to_lowercase()), array, column),
                }));
            }
            [_, _, _] | [_, _, _, _] if features == Some(place) => {}
            _ if chosen || is_label => {
                return Err(wrong(format!(
                    "array `{name}` of shape {:?} does not go with the {rows} rows of `{}`; say \
                     which arrays to read (`data.features_name`, `data.label`). The arrays: {}",
                    array.shape,
                    names[first],
                    shapes(&arrays)
                ))
                .with_remedy(DataRemedy::NameArrays));
            }
            _ => {}
        }
    }
    if let Some(array) = features.map(|place| &arrays[place].1)
        && array.shape.len() > 2
    {
        let labels = options.label_names.first().map_or("y", String::as_str);
        let labels = beside.iter().find(|column| column.name == labels);
        return images(path, array, labels, options);
    }
    let all: Vec<String> = columns
        .iter()
        .chain(&beside)
        .map(|column| column.name.clone())
        .collect();
    if let Some(name) = repeated(&all) {
        return Err(wrong(format!(
            "two columns would be named `{name}`; rename an array"
        )));
    }
    left_out(path, &all, &options.ignore)?;
    columns.retain(|column| !options.ignore.contains(&column.name));
    beside.retain(|column| !options.ignore.contains(&column.name));
    Ok(Opened::Table(RawTable {
        path: path.to_path_buf(),
        columns,
        beside,
        rows,
    }))
}

/// The array that holds a label: the one of that name, or a two-dimensional one with numbered
/// columns.
fn array_of_label<'a>(names: &'a [String], label: &str) -> Option<&'a String> {
    let is_column = |name: &&String| {
        let number = label.strip_prefix(&name.to_lowercase());
        number.is_some_and(|number| number.parse::<usize>().is_ok())
    };
    let own = names.iter().find(|name| *name == label);
    own.or_else(|| names.iter().find(is_column))
}

fn named(name: String, array: &Array, column: usize) -> RawColumn {
    RawColumn {
        name,
        cells: array.column(column),
    }
}

fn shapes(arrays: &[(String, Array)]) -> String {
    let shape = |(name, array): &(String, Array)| format!("{name} {:?}", array.shape);
    arrays.iter().map(shape).collect::<Vec<_>>().join(", ")
}

/// An array `[count, height, width]` or `[count, height, width, channels]` of bytes.
fn images(
    path: &Path,
    array: &Array,
    labels: Option<&RawColumn>,
    options: &ReadOptions,
) -> Result<Opened> {
    let (count, height, width, channels) = match array.shape[..] {
        [count, height, width] => (count, height, width, 1),
        [count, height, width, channels @ (1 | 3)] => (count, height, width, channels),
        _ => (0, 0, 0, 0),
    };
    let bytes = array.element == Element::Number(NumberKind::U8);
    if height == 0 || width == 0 || !bytes || !array.is_c_order() {
        return Err(DataError::content(
            path,
            format!(
                "an array of shape {:?} is read as images when it is [count, height, width] or \
                 [count, height, width, 1 or 3] of uint8 in C order; convert it with \
                 np.ascontiguousarray(X).astype('uint8'), or reshape it to rows of features",
                array.shape
            ),
        ));
    }
    let none = || vec![None; count];
    let set = ImageSet {
        path: path.to_path_buf(),
        height,
        width,
        channels,
        files: crate::image_set::numbered(count),
        labels: labels.map_or_else(none, |column| crate::image_set::label_texts(&column.cells)),
        pixels: array.bytes.clone(),
        skipped: Vec::new(),
    };
    set.fitted(options.size, options.gray, options.memory_budget)
        .map(Opened::Images)
}
