//! A CSV table as text: for what is carried along or filled in, cell by cell.

use crate::csv_table::{csv_error, delimiter};
use crate::{Cells, CsvOptions, DataError, RawColumn, RawTable, Result, compressed};
use std::path::Path;

/// Reads all columns of a CSV or TSV file, plain or gzip, as trimmed text.
pub fn read_csv_texts(path: impl AsRef<Path>) -> Result<RawTable> {
    let path = path.as_ref();
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter(path, &CsvOptions::default())?)
        .trim(csv::Trim::All)
        .from_reader(compressed::open(path)?);
    let wrong = |error| csv_error(path, error);
    let names: Vec<String> = reader
        .headers()
        .map_err(wrong)?
        .iter()
        .map(String::from)
        .collect();
    let mut texts = vec![Vec::new(); names.len()];
    let mut rows = 0;
    for record in reader.records() {
        let record = record.map_err(wrong)?;
        rows += 1;
        for (column, cell) in texts.iter_mut().zip(&record) {
            column.push(cell.to_string());
        }
    }
    if rows == 0 {
        let problem = "the table has a header, but no rows";
        return Err(DataError::content(path, problem));
    }
    let columns = names.into_iter().zip(texts);
    Ok(RawTable {
        path: path.to_path_buf(),
        columns: columns
            .map(|(name, cells)| RawColumn {
                name,
                cells: Cells::Texts(cells),
            })
            .collect(),
        rows,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_trimmed_text_in_the_files_order() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.tsv");
        std::fs::write(&path, "id\tb\n 007 \t\nx\t1.50\n").unwrap();
        let table = read_csv_texts(&path).unwrap();
        assert_eq!(table.rows, 2);
        assert_eq!(table.columns[0].name, "id");
        let texts = |cells: [&str; 2]| Cells::Texts(cells.map(String::from).to_vec());
        assert_eq!(table.columns[0].cells, texts(["007", "x"]));
        assert_eq!(table.columns[1].cells, texts(["", "1.50"]));
        std::fs::write(&path, "id\tb\n1\n").unwrap();
        let message = read_csv_texts(&path).unwrap_err().to_string();
        assert!(
            message.contains("1 cells where the header has 2"),
            "{message}"
        );
        std::fs::write(&path, "id\tb\n").unwrap();
        assert!(read_csv_texts(&path).is_err());
    }
}
