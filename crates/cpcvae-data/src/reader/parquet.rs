//! Parquet tables: flat columns of numbers, flags and texts.
//!
//! The file stores columns, but training reads rows. So numbers and flags are written to rows of
//! bytes, in memory or in a temporary file, one row group at a time.

use super::parquet_cells::{Damaged, Kept};
use super::{ReadOptions, left_out, repeated, unpack};
use crate::features::blocks;
use crate::mapped::Gatherer;
use crate::packed_texts::TextGatherer;
use crate::{
    Cells, DataError, NumberKind, PackedNumbers, RawColumn, RawTable, Result, SharedBytes,
};
use ::parquet::errors::ParquetError;
use ::parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use std::fs::File;
use std::path::Path;

/// The prefix of the index columns that pandas writes.
const PANDAS_INDEX: &str = "__index_level_";

/// Reads all columns. Pandas' row index is kept separately.
pub(super) fn read(path: &Path, options: &ReadOptions) -> Result<RawTable> {
    let file = File::open(path).map_err(DataError::file("open", path))?;
    let damaged = |error: ParquetError| {
        let problem = format!("the Parquet file cannot be read ({error}); get the file again");
        DataError::content(path, problem)
    };
    let reader = SerializedFileReader::new(file).map_err(damaged)?;
    let groups = reader.metadata().row_groups().iter();
    let sizes = groups.map(|group| group.total_byte_size());
    let declared = sizes.fold(0u64, |sum, size| sum.saturating_add(size.max(0) as u64));
    if declared > options.most_bytes {
        return Err(unpack::read_error(
            path,
            unpack::too_large(options.most_bytes),
        ));
    }
    let mut columns = columns(path, &reader, options, &damaged)?;
    let width: usize = columns.iter().map(|column| column.kept.size()).sum();
    let rows = reader.metadata().file_metadata().num_rows().max(0) as u64;
    let expected = rows.saturating_mul(width as u64);
    let mut packed = Gatherer::new(expected, options.memory_budget)?;
    let mut rows = 0;
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group).map_err(damaged)?;
        rows += gather_group(
            &*group,
            &mut columns,
            options.memory_budget,
            &mut packed,
            &damaged,
        )?;
    }
    // No rows are refused where they are to be learnt from: a model may be asked about none.
    if columns.is_empty() {
        let problem = "the table has no columns to read";
        return Err(DataError::content(path, problem));
    }
    let packed = SharedBytes::from(packed.finish()?);
    let (mut beside, mut features) = (Vec::new(), Vec::new());
    let mut start = 0;
    for column in columns {
        let list = match column.name.starts_with(PANDAS_INDEX) {
            true => &mut beside,
            false => &mut features,
        };
        let numbers = |kind| {
            let numbers = PackedNumbers::new(packed.clone(), (kind, false), start, width, rows);
            numbers.ok_or_else(|| DataError::Shape("rows are shorter than they should be".into()))
        };
        let size = column.kept.size();
        let time = column.kept.time();
        let cells = match column.kept {
            Kept::Flag => Cells::PackedFlags(numbers(NumberKind::U8)?),
            Kept::Number { kind, .. } => match time {
                None => Cells::Packed(numbers(kind)?),
                Some(zoned) => Cells::PackedTimes {
                    seconds: numbers(kind)?,
                    zoned,
                },
            },
            Kept::Text { texts, .. } => Cells::PackedTexts(texts.finish()?),
        };
        start += size;
        list.push(RawColumn {
            name: column.name,
            cells,
        });
    }
    Ok(RawTable {
        path: path.to_path_buf(),
        columns: features,
        beside,
        rows,
    })
}

/// A column of the file that is read.
struct Column {
    name: String,
    /// Its position in the file.
    place: usize,
    /// Whether cells can be missing.
    nullable: bool,
    kept: Kept,
}

/// The columns to read, determined before any row is read.
fn columns(
    path: &Path,
    reader: &SerializedFileReader<File>,
    options: &ReadOptions,
    damaged: Damaged,
) -> Result<Vec<Column>> {
    let schema = reader.metadata().file_metadata().schema_descr();
    let fields = schema.root_schema().get_fields().iter();
    let names: Vec<String> = fields.map(|field| field.name().to_string()).collect();
    if let Some(name) = repeated(&names) {
        return Err(DataError::Table {
            path: path.to_path_buf(),
            place: "header".into(),
            problem: format!("two columns are named `{name}`; give each column its own name"),
        });
    }
    left_out(path, &names, &options.ignore)?;
    // Each text column may take its share of memory.
    let budget = options.memory_budget / (schema.num_columns().max(1) as u64);
    let (mut columns, mut errors) = (Vec::new(), Vec::new());
    for (place, descriptor) in schema.columns().iter().enumerate() {
        let name = descriptor.path().parts()[0].clone();
        if options.ignore.contains(&name) {
            continue;
        }
        let nullable = descriptor.max_def_level() > 0;
        let kept = match Kept::of(descriptor, budget)? {
            Ok(kept) => kept,
            Err(problem) => {
                let problem =
                    format!("{problem}; ignore the column, or write it as a number or text");
                errors.push(DataError::Table {
                    path: path.to_path_buf(),
                    place: format!("column `{name}`"),
                    problem,
                });
                continue;
            }
        };
        let mut column = Column {
            name,
            place,
            nullable,
            kept,
        };
        if column.kept.may_be_inexact() && !column.is_exact(reader, damaged)? {
            column.kept = column.kept.as_texts(TextGatherer::new(budget)?);
        }
        columns.push(column);
    }
    match DataError::of_columns(path, errors) {
        Some(error) => Err(error),
        None => Ok(columns),
    }
}

impl Column {
    /// Whether 64-bit floats hold all of its whole numbers exactly: ids may be too long for that.
    fn is_exact(&self, reader: &SerializedFileReader<File>, damaged: Damaged) -> Result<bool> {
        for group in 0..reader.num_row_groups() {
            let group = reader.get_row_group(group).map_err(damaged)?;
            let column = group.get_column_reader(self.place).map_err(damaged)?;
            if !self.kept.is_exact(column, self.nullable, damaged)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Reads a row group: texts into their own store, all else to the end of `packed`, row by row.
/// Returns the number of rows.
fn gather_group(
    group: &dyn RowGroupReader,
    columns: &mut [Column],
    memory_budget: u64,
    packed: &mut Gatherer,
    damaged: Damaged,
) -> Result<usize> {
    let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
    let width: usize = columns.iter().map(|column| column.kept.size()).sum();
    // First column by column, as in the file: reading all columns in parallel would take a buffer
    // for each.
    let mut scratch = Gatherer::new((rows as u64).saturating_mul(width as u64), memory_budget)?;
    for column in columns.iter_mut() {
        let reader = group.get_column_reader(column.place).map_err(damaged)?;
        let found = column
            .kept
            .gather(reader, column.nullable, &mut scratch, damaged)?;
        if found != rows {
            return Err(damaged(ParquetError::General(format!(
                "column `{}` has {found} cells in a group of {rows} rows",
                column.name
            ))));
        }
    }
    let scratch = scratch.finish()?;
    let sizes: Vec<usize> = columns.iter().map(|column| column.kept.size()).collect();
    let mut turned = Vec::new();
    for block in blocks(rows, columns.len()) {
        turned.clear();
        turned.resize(block.len() * width, 0);
        let mut start = 0;
        for &size in sizes.iter().filter(|size| **size > 0) {
            let column = &scratch[start * rows..][..size * rows];
            let cells = column[block.start * size..block.end * size].chunks_exact(size);
            for (row, cell) in turned.chunks_exact_mut(width).zip(cells) {
                row[start..start + size].copy_from_slice(cell);
            }
            start += size;
        }
        packed.push(&turned)?;
    }
    Ok(rows)
}
