//! CSV files as tables of text.

use crate::cell::parse_number;
use crate::{
    Cells, DataError, Dataset, RawColumn, RawTable, Result, Table, TableOptions, compressed,
};
use std::io::Read;
use std::path::Path;

/// Reads a table with a header line, plain or gzip, and gives its columns a meaning. For the
/// warnings and the guesses, see [`read_csv_table`] and [`Table::new`].
pub fn read_csv(path: impl AsRef<Path>, options: &TableOptions) -> Result<Dataset> {
    Ok(Table::new(&read_csv_table(path, None)?, options)?.data)
}

/// Reads a table with a header line, plain or gzip, as text. `delimiter` separates cells; when
/// not given, a tab does in `.tsv` files, else a comma.
pub fn read_csv_table(path: impl AsRef<Path>, delimiter: Option<char>) -> Result<RawTable> {
    let path = path.as_ref();
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter_of(path, delimiter)?)
        .trim(csv::Trim::All)
        .from_reader(compressed::open(path)?);
    let names = header(&mut reader, path)?;
    let mut texts = vec![Vec::new(); names.len()];
    let mut record = csv::StringRecord::new();
    let mut rows = 0;
    while reader
        .read_record(&mut record)
        .map_err(|error| csv_error(path, error))?
    {
        rows += 1;
        for (cells, cell) in texts.iter_mut().zip(&record) {
            cells.push(cell.to_string());
        }
    }
    let columns = names
        .into_iter()
        .zip(texts)
        .map(|(name, texts)| RawColumn {
            name,
            cells: Cells::Texts(texts),
        })
        .collect();
    Ok(RawTable {
        path: path.to_path_buf(),
        columns,
        beside: Vec::new(),
        rows,
    })
}

fn header(reader: &mut csv::Reader<impl Read>, path: &Path) -> Result<Vec<String>> {
    let record = reader.headers().map_err(|error| csv_error(path, error))?;
    let names: Vec<String> = record.iter().map(String::from).collect();
    let wrong = |problem: String| {
        Err(DataError::Table {
            path: path.to_path_buf(),
            place: "header".into(),
            problem,
        })
    };
    if names.is_empty() {
        return Err(DataError::content(
            path,
            "the file is empty; it needs a header line and rows",
        ));
    }
    // A first line of numbers is a row of data in a file without header.
    if names.iter().all(|name| parse_number(name).is_some()) {
        return wrong(
            "the first line holds numbers only; it must name the columns, so add a header line"
                .into(),
        );
    }
    let mut seen = std::collections::HashSet::new();
    if let Some(name) = names.iter().find(|name| !seen.insert(name.as_str())) {
        return wrong(format!(
            "two columns are named `{name}`; give each column its own name"
        ));
    }
    Ok(names)
}

fn delimiter_of(path: &Path, delimiter: Option<char>) -> Result<u8> {
    // The name as it was before compression: data.tsv.gz is a .tsv.
    let name = path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .to_lowercase();
    match delimiter {
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

fn csv_error(path: &Path, error: csv::Error) -> DataError {
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
