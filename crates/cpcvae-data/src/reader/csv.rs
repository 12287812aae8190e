//! Text tables: CSV and TSV, plain or compressed, with a header line.

use super::{ReadOptions, left_out, repeated, unpack};
use crate::{Cells, DataError, Dataset, RawColumn, RawTable, Result, Table, TableOptions};
use std::io::{BufRead, BufReader, Cursor, Read};
use std::path::Path;

/// A header line longer than this is sniffed by its beginning alone.
const MOST_SNIFFED: u64 = 1 << 20;

/// Reads a text table and gives its columns a meaning. For warnings and guesses, and for files of
/// other kinds, see [`open_path`](super::open_path) and [`Table::new`].
pub fn read_csv(path: impl AsRef<Path>, options: &TableOptions) -> Result<Dataset> {
    let raw = read(path.as_ref(), &ReadOptions::default())?;
    Ok(Table::new(&raw, options)?.data)
}

/// Reads a table; all cells are texts, trimmed.
pub(crate) fn read(path: &Path, options: &ReadOptions) -> Result<RawTable> {
    let mut input = BufReader::new(unpack::open(path, options.most_bytes)?);
    let mut start = Vec::new();
    (&mut input)
        .take(MOST_SNIFFED)
        .read_until(b'\n', &mut start)
        .map_err(|source| unpack::read_error(path, source))?;
    if start.starts_with(b"\xef\xbb\xbf") {
        start.drain(..3);
    }
    let delimiter = delimiter(path, options, &start)?;
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .trim(csv::Trim::All)
        .from_reader(Cursor::new(start).chain(input));
    let names = header(&mut reader, path)?;
    let ignored = left_out(path, &names, &options.ignore)?;
    let kept: Vec<usize> = (0..names.len()).filter(|&place| !ignored[place]).collect();

    let mut texts = vec![Vec::new(); kept.len()];
    let mut record = csv::StringRecord::new();
    while reader
        .read_record(&mut record)
        .map_err(|error| csv_error(path, error))?
    {
        for (texts, &place) in texts.iter_mut().zip(&kept) {
            texts.push(record[place].to_string());
        }
    }
    let rows = texts.first().map_or(0, Vec::len);
    if rows == 0 {
        return Err(DataError::content(
            path,
            match kept.is_empty() {
                true => "all columns of the table are ignored",
                false => "the table has a header, but no rows",
            },
        ));
    }
    let column = |(texts, &place): (Vec<String>, &usize)| RawColumn {
        name: names[place].clone(),
        cells: Cells::Texts(texts),
    };
    Ok(RawTable {
        path: path.to_path_buf(),
        columns: texts.into_iter().zip(&kept).map(column).collect(),
        beside: Vec::new(),
        rows,
    })
}

/// The names of the columns, checked.
fn header(reader: &mut csv::Reader<impl Read>, path: &Path) -> Result<Vec<String>> {
    let record = reader.headers().map_err(|error| csv_error(path, error))?;
    let names: Vec<String> = record.iter().map(String::from).collect();
    let wrong = |problem: String| DataError::Table {
        path: path.to_path_buf(),
        place: "header".into(),
        problem,
    };
    if names.is_empty() {
        return Err(DataError::content(
            path,
            "the file is empty; it needs a header line and rows",
        ));
    }
    // A first line of numbers is a row of data in a file without header.
    if names.iter().all(|name| name.parse::<f64>().is_ok()) {
        return Err(wrong(
            "the first line holds numbers only; it must name the columns, so add a header line"
                .into(),
        ));
    }
    if let Some(name) = repeated(&names) {
        return Err(wrong(format!(
            "two columns are named `{name}`; give each column its own name"
        )));
    }
    Ok(names)
}

fn delimiter(path: &Path, options: &ReadOptions, start: &[u8]) -> Result<u8> {
    if let Some(delimiter) = options.delimiter {
        return u8::try_from(delimiter)
            .ok()
            .filter(u8::is_ascii)
            .ok_or_else(|| {
                DataError::content(
                    path,
                    format!("`{delimiter}` cannot separate cells; use one ASCII character"),
                )
            });
    }
    // The name as it was before compression: data.tsv.gz is a .tsv.
    let name = path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .to_lowercase();
    let plain = name.trim_end_matches(".gz").trim_end_matches(".zst");
    if plain.ends_with(".tsv") {
        return Ok(b'\t');
    }
    let mut best = (b',', 0);
    for candidate in *b",;\t" {
        let count = count_outside_quotes(start, candidate);
        if count > best.1 {
            best = (candidate, count);
        }
    }
    Ok(best.0)
}

fn count_outside_quotes(line: &[u8], wanted: u8) -> usize {
    let mut quoted = false;
    line.iter()
        .filter(|&&byte| {
            quoted ^= byte == b'"';
            !quoted && byte == wanted
        })
        .count()
}

fn csv_error(path: &Path, error: csv::Error) -> DataError {
    let at = |line: u64| format!("line {line}");
    let place = error
        .position()
        .map_or("header".into(), |position| at(position.line()));
    let problem = match error.into_kind() {
        csv::ErrorKind::Io(source) => return unpack::read_error(path, source),
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
        place,
        problem,
    }
}
