//! Labels of images from a table: a CSV of files and labels, or the attribute list of CelebA.

use super::{ReadOptions, csv, near, unpack};
use crate::image_set::label_texts;
use crate::{DataError, Result};
use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::path::Path;

/// Usual names of the column of files; otherwise it is the first.
const FILE_COLUMNS: [&str; 7] = [
    "file",
    "filename",
    "file_name",
    "image",
    "image_id",
    "image_path",
    "path",
];
/// Usual names of the column of labels; otherwise it is the only one next to the files.
const LABEL_COLUMNS: [&str; 4] = ["label", "class", "target", "y"];

/// The labels of a list of images.
pub(super) struct LabelTable {
    /// One label for each image.
    pub(super) labels: Vec<Option<String>>,
    /// Files of the table that do not exist, each with a message.
    pub(super) without_image: Vec<(String, String)>,
}

impl LabelTable {
    /// Reads the table and finds the label of each image by its path, its file name, or its file
    /// name without extension, whichever the table has.
    pub(super) fn read(path: &Path, images: &[&str], options: &ReadOptions) -> Result<LabelTable> {
        let rows = match celeba_rows(path, options)? {
            Some(rows) => rows,
            None => csv_rows(path, options)?,
        };
        let mut of_file: HashMap<&str, &Option<String>> = HashMap::new();
        for (file, label) in &rows {
            if of_file
                .insert(file, label)
                .is_some_and(|before| before != label)
            {
                let problem = format!("`{file}` is there twice, with different labels");
                return Err(DataError::content(path, problem));
            }
        }
        let mut used: HashMap<&str, &str> = HashMap::new();
        let mut labels = Vec::with_capacity(images.len());
        for &image in images {
            let name = image.rsplit('/').next().unwrap_or(image);
            let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
            let mut keys = [image, name, stem].into_iter();
            let found = keys.find_map(|key| of_file.get_key_value(key));
            let Some((&key, &label)) = found else {
                labels.push(None);
                continue;
            };
            if let Some(other) = used.insert(key, image) {
                return Err(DataError::content(
                    path,
                    format!(
                        "`{key}` could be `{other}` or `{image}`; write the path below the folder \
                         of images"
                    ),
                ));
            }
            labels.push(label.clone());
        }
        if used.is_empty() {
            return Err(DataError::content(
                path,
                format!(
                    "none of its files is among the images; it begins with `{}`, they with `{}`",
                    rows.first().map_or("", |(file, _)| file),
                    images.first().unwrap_or(&"")
                ),
            ));
        }
        let mut seen = HashSet::new();
        let without_image = rows
            .iter()
            .filter(|(file, _)| !used.contains_key(file.as_str()) && seen.insert(file.clone()))
            .map(|(file, _)| {
                (
                    file.clone(),
                    "it has a label, but there is no such image".into(),
                )
            })
            .collect();
        Ok(LabelTable {
            labels,
            without_image,
        })
    }
}

type Rows = Vec<(String, Option<String>)>;

/// Rows of CelebA's attribute list: a count, a line of names, then a file and numbers a line.
fn celeba_rows(path: &Path, options: &ReadOptions) -> Result<Option<Rows>> {
    let mut text = Vec::new();
    unpack::open(path, options.most_in_memory())?
        .read_to_end(&mut text)
        .map_err(|source| unpack::read_error(path, source))?;
    let text = String::from_utf8_lossy(&text);
    let mut lines = text.lines();
    if lines
        .next()
        .is_none_or(|count| count.trim().parse::<u64>().is_err())
    {
        return Ok(None);
    }
    let names: Vec<String> = lines
        .next()
        .unwrap_or("")
        .split_whitespace()
        .map(String::from)
        .collect();
    let places = chosen(path, &names, options)?;
    let mut rows = Vec::new();
    for (number, line) in lines
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
    {
        let cells: Vec<&str> = line.split_whitespace().collect();
        if cells.len() != names.len() + 1 {
            return Err(DataError::Table {
                path: path.to_path_buf(),
                place: format!("line {}", number + 3),
                problem: format!("{} values for {} names", cells.len(), names.len()),
            });
        }
        let values: Vec<&str> = places.iter().map(|&place| cells[place + 1]).collect();
        rows.push((cells[0].to_string(), joined(&names, &places, &values)));
    }
    Ok(Some(rows))
}

fn csv_rows(path: &Path, options: &ReadOptions) -> Result<Rows> {
    let table = csv::read(path, options)?;
    let names: Vec<String> = table
        .columns
        .iter()
        .map(|column| column.name.clone())
        .collect();
    let is_file = |name: &String| FILE_COLUMNS.contains(&name.to_lowercase().as_str());
    let file_column = names.iter().position(is_file).unwrap_or(0);
    let places = match names.len() {
        2 if options.label_names.is_empty() => vec![1 - file_column],
        _ => chosen(path, &names, options)?,
    };
    let files = label_texts(&table.columns[file_column].cells);
    let columns: Vec<_> = places
        .iter()
        .map(|&place| label_texts(&table.columns[place].cells))
        .collect();
    let label = |row: usize| {
        let values: Option<Vec<&str>> = columns
            .iter()
            .map(|column| column[row].as_deref())
            .collect();
        joined(&names, &places, &values?)
    };
    let rows = files.into_iter().enumerate();
    Ok(rows
        .filter_map(|(row, file)| Some((file?.replace('\\', "/"), label(row))))
        .collect())
}

/// The columns of labels: those asked for, or the first with a usual name.
fn chosen(path: &Path, names: &[String], options: &ReadOptions) -> Result<Vec<usize>> {
    let place = |wanted: &str| names.iter().position(|name| name == wanted);
    if options.label_names.is_empty() {
        let usual = names
            .iter()
            .position(|name| LABEL_COLUMNS.contains(&name.to_lowercase().as_str()));
        return usual.map(|place| vec![place]).ok_or_else(|| {
            let problem = format!("say which column is the label; {}", near(names, "label"));
            DataError::content(path, problem)
        });
    }
    let find = |wanted: &String| {
        place(wanted).ok_or_else(|| {
            let problem = format!(
                "there is no label column `{wanted}`; {}",
                near(names, wanted)
            );
            DataError::content(path, problem)
        })
    };
    options.label_names.iter().map(find).collect()
}

/// A single value as it is; several as one class named after all of them.
fn joined(names: &[String], places: &[usize], values: &[&str]) -> Option<String> {
    match values {
        [value] => Some(value.to_string()),
        _ => {
            let parts = places.iter().zip(values);
            let parts: Vec<String> = parts
                .map(|(&place, value)| format!("{}={value}", names[place]))
                .collect();
            Some(parts.join(" "))
        }
    }
}
