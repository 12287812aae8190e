//! Tables written as Parquet, row by row.

use crate::{CellKind, DataError, Result};
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Rows held in memory until they are written as a group.
const GROUP: usize = 50_000;

/// A Parquet file that is being written. Blank cells are missing.
pub struct ParquetWriter<W: Write + Send> {
    path: PathBuf,
    writer: SerializedFileWriter<W>,
    kinds: Vec<CellKind>,
    rows: Vec<Vec<String>>,
}

impl<W: Write + Send> ParquetWriter<W> {
    /// A file with these columns; `path` is named in errors.
    pub fn new(out: W, path: &Path, columns: &[(String, CellKind)]) -> Result<Self> {
        let failed = |error| cannot(path, error);
        let mut fields = Vec::with_capacity(columns.len());
        for (name, kind) in columns {
            use parquet::basic::{LogicalType, Repetition, Type as Physical};
            let (physical, logical) = match kind {
                CellKind::Number => (Physical::DOUBLE, None),
                CellKind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            };
            let field = Type::primitive_type_builder(name, physical)
                .with_repetition(Repetition::OPTIONAL)
                .with_logical_type(logical);
            fields.push(Arc::new(field.build().map_err(failed)?));
        }
        let schema = Type::group_type_builder("table").with_fields(fields);
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .build();
        let schema = Arc::new(schema.build().map_err(failed)?);
        let writer =
            SerializedFileWriter::new(out, schema, Arc::new(properties)).map_err(failed)?;
        Ok(Self {
            path: path.to_path_buf(),
            writer,
            kinds: columns.iter().map(|(_, kind)| *kind).collect(),
            rows: Vec::new(),
        })
    }

    /// Adds a row of as many cells as there are columns.
    pub fn push(&mut self, row: Vec<String>) -> Result<()> {
        self.rows.push(row);
        match self.rows.len() < GROUP {
            true => Ok(()),
            false => self.write_group(),
        }
    }

    /// Writes the remaining rows and the end of the file.
    pub fn finish(mut self) -> Result<()> {
        if !self.rows.is_empty() {
            self.write_group()?;
        }
        let path = self.path;
        self.writer.close().map_err(|error| cannot(&path, error))?;
        Ok(())
    }

    fn write_group(&mut self) -> Result<()> {
        let rows = std::mem::take(&mut self.rows);
        let mut write = || {
            let mut group = self.writer.next_row_group()?;
            for (column, kind) in self.kinds.iter().enumerate() {
                let cells = rows.iter().map(|row| row[column].as_str());
                match kind {
                    CellKind::Number => {
                        write_column::<W, DoubleType>(&mut group, cells, |cell| {
                            // A cell that was formatted as a number reads back as one.
                            cell.parse().unwrap_or(f64::NAN)
                        })?
                    }
                    CellKind::Text => {
                        write_column::<W, ByteArrayType>(&mut group, cells, ByteArray::from)?
                    }
                }
            }
            group.close().map(|_| ())
        };
        write().map_err(|error| cannot(&self.path, error))
    }
}

fn write_column<'a, W: Write + Send, T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    cells: impl Iterator<Item = &'a str> + Clone,
    value: impl Fn(&'a str) -> T::T,
) -> std::result::Result<(), ParquetError> {
    let levels: Vec<i16> = cells
        .clone()
        .map(|cell| (!cell.is_empty()).into())
        .collect();
    let values: Vec<T::T> = cells.filter(|cell| !cell.is_empty()).map(value).collect();
    let Some(mut column) = group.next_column()? else {
        return Err(ParquetError::General("a column is missing".into()));
    };
    column
        .typed::<T>()
        .write_batch(&values, Some(&levels), None)?;
    column.close()
}

fn cannot(path: &Path, error: ParquetError) -> DataError {
    DataError::content(path, format!("cannot be written: {error}"))
}
