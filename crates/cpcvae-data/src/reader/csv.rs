//! Text tables: CSV and TSV, plain or compressed, with a header line.

use super::spool::Place;
use super::{ReadOptions, left_out, repeated, unpack};
use crate::{
    Cells, DataError, DataRemedy, Dataset, RawColumn, RawTable, Result, Table, TableOptions, memory,
};
use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;
use std::rc::Rc;

/// Of a header line longer than this, only the beginning is used to detect the delimiter.
const MOST_SNIFFED: u64 = 1 << 20;

/// Reads a text table and assigns roles and kinds to its columns. For warnings and guesses, and for
/// other kinds of files, see [`open_path`](super::open_path) and [`Table::new`].
pub fn read_csv(path: impl AsRef<Path>, options: &TableOptions) -> Result<Dataset> {
    let reading = ReadOptions::default();
    let place = Place::of(path.as_ref(), reading.most_bytes)?;
    let mut raw = place.open(|path| read(path, &reading))?;
    raw.path = place.shown;
    Ok(Table::new(&raw, options)?.data)
}

/// Reads a table; all cells are texts, trimmed.
pub(crate) fn read(path: &Path, options: &ReadOptions) -> Result<RawTable> {
    let row_bytes = Rc::new(Cell::new(0));
    let mut input = BufReader::new(RowLimit {
        inner: unpack::open(path, options.most_bytes)?,
        read: row_bytes.clone(),
        // While a table is assembled, a few copies of a row exist.
        most: options.most_memory / 8,
    });
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
    let mut held = 0;
    row_bytes.set(0);
    while reader
        .read_record(&mut record)
        .map_err(|error| csv_error(path, error))?
    {
        row_bytes.set(0);
        for (texts, &place) in texts.iter_mut().zip(&kept) {
            held += held_by(&record[place]);
            texts.push(record[place].to_string());
        }
        if held > options.most_memory {
            return Err(DataError::content(
                path,
                format!(
                    "the table takes more than the {} bytes of memory that a table of text may \
                     take; leave out columns (`data.ignore`), save it as Parquet or NPY, which may \
                     be larger than memory, or raise the limit with the environment variable {}",
                    options.most_memory,
                    memory::VARIABLE
                ),
            )
            .with_remedy(DataRemedy::LeaveOutColumns));
        }
    }
    let rows = texts.first().map_or(0, Vec::len);
    if kept.is_empty() {
        let problem = "all columns of the table are ignored";
        return Err(DataError::content(path, problem));
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

/// The approximate memory of a cell: its entry in a growing list, and its text.
fn held_by(text: &str) -> u64 {
    const PLACE: u64 = 2 * size_of::<String>() as u64;
    match text.len() as u64 {
        0 => PLACE,
        length => PLACE + (length + 8).next_multiple_of(16).max(32),
    }
}

/// Fails where a single row is longer than memory should hold: an unclosed quote makes one row of
/// the whole file.
struct RowLimit<R> {
    inner: R,
    /// Bytes since the last row.
    read: Rc<Cell<u64>>,
    most: u64,
}

impl<R: Read> Read for RowLimit<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.read.set(self.read.get() + read as u64);
        match self.read.get() > self.most {
            true => Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                format!(
                    "a row of the table is longer than {} bytes (is a quote not closed?)",
                    self.most
                ),
            )),
            false => Ok(read),
        }
    }
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
    // A first line of numbers means that the file has no header.
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
    // The name before compression: data.tsv.gz is a .tsv.
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
