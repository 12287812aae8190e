//! Tables in CSV files: numbers in named columns, and perhaps a label column.

use crate::csv_labels::{LabelCells, parse_number};
use crate::{DataError, Dataset, Labels, Layout, Matrix, Result, compressed};
use serde::{Deserialize, Serialize};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Above this many columns, an error names only the nearest.
const MOST_COLUMNS_TOLD: usize = 20;

/// What is to be learned from the label column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Task {
    /// Labels are classes.
    Classify,
    /// Labels are numbers.
    Regress,
}

/// How to read a table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CsvOptions {
    /// The label column; several for a continuous label of several dimensions;
    /// none for a table without labels.
    pub labels: Vec<String>,
    /// What the labels are. When not given it is guessed: numbers that are not
    /// all whole and hardly repeat are a regression, anything else classes.
    pub task: Option<Task>,
    /// A label that means "not labelled", next to blank, NaN and NA. When it is
    /// not given, -1 means that too, unless labels are numbers to regress.
    pub unlabelled_value: Option<String>,
    /// Columns to leave out.
    pub ignore: Vec<String>,
    /// The feature columns and their order, such as a trained model's; columns
    /// not named are left out. When not given: all that are neither labels nor
    /// ignored.
    pub features: Option<Vec<String>>,
    /// What separates cells. When not given: a tab in `.tsv` files, else a comma.
    pub delimiter: Option<char>,
}

/// Reads a table with a header line, plain or gzip.
pub fn read_csv(path: impl AsRef<Path>, options: &CsvOptions) -> Result<Dataset> {
    let path = path.as_ref();
    read_table(compressed::open(path)?, path, options)
}

/// Reads only the named columns, in the order named, without labels.
pub fn read_csv_features(path: impl AsRef<Path>, columns: &[String]) -> Result<Dataset> {
    let options = CsvOptions {
        features: Some(columns.to_vec()),
        ..CsvOptions::default()
    };
    read_csv(path, &options)
}

/// Reads a table; `path` is for messages, the name and the delimiter.
pub(crate) fn read_table(input: impl Read, path: &Path, options: &CsvOptions) -> Result<Dataset> {
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter(path, options)?)
        .trim(csv::Trim::All)
        .from_reader(input);
    let header = Header::read(&mut reader, path)?;
    let label_columns = header.places(&options.labels, "label")?;
    let feature_columns = header.features(options, &label_columns)?;

    let mut values = Vec::new();
    let mut labels = LabelCells::new(options, label_columns.len());
    let mut record = csv::StringRecord::new();
    let mut rows = 0;
    while reader
        .read_record(&mut record)
        .map_err(|error| csv_error(path, error))?
    {
        rows += 1;
        let line = record.position().map_or(0, csv::Position::line);
        for &column in &feature_columns {
            let cell = &record[column];
            values.push(parse_feature(cell).ok_or_else(|| DataError::Table {
                path: path.to_path_buf(),
                place: format!(
                    "line {line} (row {rows}), column `{}`",
                    header.names[column]
                ),
                problem: not_a_number(cell),
            })?);
        }
        labels.push(label_columns.iter().map(|&column| &record[column]), line);
    }
    if rows == 0 {
        return Err(DataError::content(
            path,
            "the table has a header, but no rows",
        ));
    }
    let labels = match options.labels.is_empty() {
        true => Labels::None,
        false => labels.into_labels(path)?,
    };
    let names = feature_columns
        .iter()
        .map(|&column| header.names[column].clone());
    Dataset::new(
        table_name(path),
        Matrix::new(rows, feature_columns.len(), values)?,
        Layout::Columns(names.collect()),
        labels,
    )
}

struct Header {
    names: Vec<String>,
    path: PathBuf,
}

impl Header {
    fn read(reader: &mut csv::Reader<impl Read>, path: &Path) -> Result<Header> {
        let record = reader.headers().map_err(|error| csv_error(path, error))?;
        let names: Vec<String> = record.iter().map(String::from).collect();
        let header = Header {
            names,
            path: path.to_path_buf(),
        };
        if header.names.is_empty() {
            return Err(DataError::content(
                path,
                "the file is empty; it needs a header line and rows",
            ));
        }
        // A first line of numbers is a row of data in a file without header.
        if header.names.iter().all(|name| parse_number(name).is_some()) {
            return Err(header.wrong(
                "the first line holds numbers only; it must name the columns, so add a header line"
                    .into(),
            ));
        }
        for (place, name) in header.names.iter().enumerate() {
            if header.names[..place].contains(name) {
                return Err(header.wrong(format!(
                    "two columns are named `{name}`; give each column its own name"
                )));
            }
        }
        Ok(header)
    }

    /// Where the named columns are; all that are not there are listed together.
    fn places(&self, names: &[String], role: &str) -> Result<Vec<usize>> {
        let place = |name: &String| self.names.iter().position(|n| n == name);
        let missing: Vec<&String> = names.iter().filter(|name| place(name).is_none()).collect();
        if missing.is_empty() {
            return Ok(names.iter().filter_map(place).collect());
        }
        let there = self.names_near(missing[0]);
        let missing: Vec<String> = missing.iter().map(|name| format!("`{name}`")).collect();
        Err(self.wrong(format!(
            "there is no {role} column {}; {there}",
            missing.join(", ")
        )))
    }

    /// All columns where they are few, else those most like `name`.
    fn names_near(&self, name: &str) -> String {
        if self.names.len() <= MOST_COLUMNS_TOLD {
            return format!("the columns are: {}", self.names.join(", "));
        }
        let likeness = |column: &str| strsim::jaro_winkler(name, column);
        let mut nearest: Vec<&str> = self.names.iter().map(String::as_str).collect();
        nearest.sort_by(|a, b| likeness(b).total_cmp(&likeness(a)));
        nearest.truncate(5);
        format!(
            "the nearest of its {} columns are: {}",
            self.names.len(),
            nearest.join(", ")
        )
    }

    fn features(&self, options: &CsvOptions, labels: &[usize]) -> Result<Vec<usize>> {
        let chosen = match &options.features {
            Some(names) => self.places(names, "feature")?,
            None => {
                let ignored = self.places(&options.ignore, "ignored")?;
                (0..self.names.len())
                    .filter(|place| !labels.contains(place) && !ignored.contains(place))
                    .collect()
            }
        };
        if chosen.is_empty() {
            return Err(self.wrong("no column is left for the features".into()));
        }
        if let Some(&label) = chosen.iter().find(|place| labels.contains(place)) {
            return Err(self.wrong(format!(
                "column `{}` cannot be a feature and the label",
                self.names[label]
            )));
        }
        // Most often an index that was written along; learning from it would mislead.
        if let Some(place) = chosen.iter().find(|&&place| self.names[place].is_empty()) {
            return Err(self.wrong(format!(
                "column {} has no name (pandas writes its row index so; `index=False` leaves it \
                 out); name it, or ignore the column named \"\"",
                place + 1
            )));
        }
        Ok(chosen)
    }

    fn wrong(&self, problem: String) -> DataError {
        DataError::Table {
            path: self.path.clone(),
            place: "header".into(),
            problem,
        }
    }
}

pub(crate) fn delimiter(path: &Path, options: &CsvOptions) -> Result<u8> {
    // The name as it was before compression: data.tsv.gz is a .tsv.
    let name = path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .to_lowercase();
    match options.delimiter {
        Some(delimiter) => u8::try_from(delimiter)
            .ok()
            .filter(u8::is_ascii)
            .ok_or_else(|| {
                DataError::content(
                    path,
                    format!("`{delimiter}` cannot separate cells; use one ASCII character"),
                )
            }),
        None if name.trim_end_matches(".gz").ends_with(".tsv") => Ok(b'\t'),
        None => Ok(b','),
    }
}

fn table_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let plain = name.trim_end_matches(".gz");
    plain
        .trim_end_matches(".csv")
        .trim_end_matches(".tsv")
        .to_string()
}

fn parse_feature(cell: &str) -> Option<f32> {
    match cell {
        _ if cell.eq_ignore_ascii_case("true") => Some(1.0),
        _ if cell.eq_ignore_ascii_case("false") => Some(0.0),
        _ => parse_number(cell),
    }
}

fn not_a_number(cell: &str) -> String {
    let problem = match cell {
        "" => "the cell is blank".into(),
        _ if cell.parse::<f32>().is_ok() => format!("`{cell}` is not a finite number"),
        _ => format!("`{cell}` is not a number"),
    };
    format!("{problem}; features must be numbers (or true/false): change it, or ignore the column")
}

pub(crate) fn csv_error(path: &Path, error: csv::Error) -> DataError {
    let at = |line: u64| format!("line {line}");
    let line = error
        .position()
        .map_or("header".into(), |position| at(position.line()));
    let problem = match error.into_kind() {
        csv::ErrorKind::Io(source) => return compressed::read_error(path, source),
        csv::ErrorKind::UnequalLengths {
            expected_len, len, ..
        } => format!(
            "{len} cells where the header has {expected_len}; every line needs as many (is the \
             delimiter right?)"
        ),
        csv::ErrorKind::Utf8 { err, .. } => {
            format!("not UTF-8 text ({err}); save the file as UTF-8")
        }
        other => format!("{other:?}"),
    };
    DataError::Table {
        path: path.to_path_buf(),
        place: line,
        problem,
    }
}
