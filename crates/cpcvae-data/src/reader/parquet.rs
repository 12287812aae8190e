//! Parquet tables: flat columns of numbers, flags and texts.

use super::{ReadOptions, left_out, unpack};
use crate::{Cells, DataError, NumberKind, RawColumn, RawTable, Result};
use ::parquet::basic::{ConvertedType, LogicalType};
use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use ::parquet::data_type::DataType;
use ::parquet::errors::ParquetError;
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::schema::types::ColumnDescriptor;
use std::fs::File;
use std::path::Path;

/// How many rows are decoded at a time.
const BATCH: usize = 1 << 16;
/// What pandas names the index that it writes along.
const PANDAS_INDEX: &str = "__index_level_";

/// Reads all columns. Dates and times are numbers in the unit that the file has; pandas' row index
/// comes beside the columns.
pub(super) fn read(path: &Path, options: &ReadOptions) -> Result<RawTable> {
    let file = File::open(path).map_err(DataError::file("open", path))?;
    let damaged = |error: ParquetError| {
        let problem = format!("the Parquet file cannot be read ({error}); get the file again");
        DataError::content(path, problem)
    };
    let reader = SerializedFileReader::new(file).map_err(damaged)?;
    let metadata = reader.metadata();
    let sizes = metadata
        .row_groups()
        .iter()
        .map(|group| group.total_byte_size());
    let declared = sizes.fold(0u64, |sum, size| sum.saturating_add(size.max(0) as u64));
    if declared > options.most_bytes {
        return Err(unpack::read_error(
            path,
            unpack::too_large(options.most_bytes),
        ));
    }
    let schema = metadata.file_metadata().schema_descr();
    let names = schema
        .root_schema()
        .get_fields()
        .iter()
        .map(|field| field.name().to_string());
    left_out(path, &names.collect::<Vec<_>>(), &options.ignore)?;

    let mut columns = Vec::new();
    let mut beside = Vec::new();
    for (place, descriptor) in schema.columns().iter().enumerate() {
        let name = &descriptor.path().parts()[0];
        if options.ignore.contains(name) {
            continue;
        }
        let mut builder = Builder::new(descriptor).map_err(|problem| DataError::Table {
            path: path.to_path_buf(),
            place: format!("column `{name}`"),
            problem: format!("{problem}; ignore the column, or write it as a number or text"),
        })?;
        for group in 0..reader.num_row_groups() {
            let group = reader.get_row_group(group).map_err(damaged)?;
            let column = group.get_column_reader(place).map_err(damaged)?;
            builder
                .extend(column, descriptor.max_def_level() > 0)
                .map_err(damaged)?;
        }
        let list = match name.starts_with(PANDAS_INDEX) {
            true => &mut beside,
            false => &mut columns,
        };
        list.push(RawColumn {
            name: name.clone(),
            cells: builder.finish(),
        });
    }
    let rows = columns
        .first()
        .map_or(0, |column: &RawColumn| column.cells.len());
    if rows == 0 {
        return Err(DataError::content(
            path,
            "the table has no rows, or no columns to read",
        ));
    }
    if columns
        .iter()
        .chain(&beside)
        .any(|column| column.cells.len() != rows)
    {
        let problem = "its columns differ in length; get the file again";
        return Err(DataError::content(path, problem));
    }
    Ok(RawTable {
        path: path.to_path_buf(),
        columns,
        beside,
        rows,
    })
}

/// The cells of a column while they are read.
enum Builder {
    Flags(Vec<Option<bool>>),
    Whole {
        cells: Vec<Option<i128>>,
        unsigned: bool,
    },
    Numbers {
        cells: Vec<f64>,
        read: ReadNumber,
    },
    Texts(Vec<String>),
}

/// How the bytes or whole numbers of a column become numbers.
#[derive(Clone, Copy)]
enum ReadNumber {
    AsIs,
    Half,
    /// A whole number to be divided by this.
    Decimal(f64),
}

impl Builder {
    fn new(column: &ColumnDescriptor) -> std::result::Result<Builder, String> {
        use ::parquet::basic::Type;
        if column.path().parts().len() > 1 || column.max_rep_level() > 0 {
            return Err("it holds lists or structures, which a table cannot".into());
        }
        let logical = column.logical_type_ref();
        let decimal = match (logical, column.converted_type()) {
            (Some(LogicalType::Decimal(decimal)), _) => Some(decimal.scale),
            (None, ConvertedType::DECIMAL) => Some(column.type_scale()),
            _ => None,
        };
        if let Some(scale) = decimal {
            return Ok(Builder::Numbers {
                cells: Vec::new(),
                read: ReadNumber::Decimal(10f64.powi(scale)),
            });
        }
        let numbers = |read| Builder::Numbers {
            cells: Vec::new(),
            read,
        };
        Ok(match column.physical_type() {
            Type::BOOLEAN => Builder::Flags(Vec::new()),
            Type::INT32 | Type::INT64 => Builder::Whole {
                cells: Vec::new(),
                unsigned: matches!(logical, Some(LogicalType::Integer(int)) if !int.is_signed),
            },
            Type::FLOAT | Type::DOUBLE => numbers(ReadNumber::AsIs),
            Type::FIXED_LEN_BYTE_ARRAY if matches!(logical, Some(LogicalType::Float16)) => {
                numbers(ReadNumber::Half)
            }
            Type::BYTE_ARRAY => Builder::Texts(Vec::new()),
            kind => return Err(format!("values of type {kind} are not read")),
        })
    }

    fn extend(&mut self, column: ColumnReader, nullable: bool) -> ::parquet::errors::Result<()> {
        use ColumnReader::*;
        match (self, column) {
            (Builder::Flags(cells), BoolColumnReader(column)) => {
                cells.extend(read_all(column, nullable)?);
            }
            (Builder::Whole { cells, unsigned }, Int32ColumnReader(column)) => {
                let whole = |value: i32| match unsigned {
                    true => i128::from(value as u32),
                    false => i128::from(value),
                };
                cells.extend(
                    read_all(column, nullable)?
                        .into_iter()
                        .map(|cell| cell.map(whole)),
                );
            }
            (Builder::Whole { cells, unsigned }, Int64ColumnReader(column)) => {
                let whole = |value: i64| match unsigned {
                    true => i128::from(value as u64),
                    false => i128::from(value),
                };
                cells.extend(
                    read_all(column, nullable)?
                        .into_iter()
                        .map(|cell| cell.map(whole)),
                );
            }
            (Builder::Numbers { cells, read }, column) => {
                cells.extend(read.all(column, nullable)?);
            }
            (Builder::Texts(cells), ByteArrayColumnReader(column)) => {
                for cell in read_all(column, nullable)? {
                    let text = cell.as_ref().map_or(Ok(""), |cell| cell.as_utf8())?;
                    cells.push(text.trim().to_string());
                }
            }
            _ => return Err(changed_type()),
        }
        Ok(())
    }

    fn finish(self) -> Cells {
        match self {
            Builder::Flags(cells) => Cells::Flags(cells),
            Builder::Whole { cells, .. } => Cells::whole_numbers(&cells),
            Builder::Numbers { cells, .. } => Cells::Numbers(cells),
            Builder::Texts(cells) => Cells::Texts(cells),
        }
    }
}

impl ReadNumber {
    /// All cells of a column as numbers; what is missing is NaN.
    fn all(self, column: ColumnReader, nullable: bool) -> ::parquet::errors::Result<Vec<f64>> {
        use ColumnReader::*;
        fn filled<T>(cells: Vec<Option<T>>, number: impl Fn(T) -> f64) -> Vec<f64> {
            let fill = |cell: Option<T>| cell.map_or(f64::NAN, &number);
            cells.into_iter().map(fill).collect()
        }
        Ok(match column {
            FloatColumnReader(column) => filled(read_all(column, nullable)?, f64::from),
            DoubleColumnReader(column) => filled(read_all(column, nullable)?, |value| value),
            Int32ColumnReader(column) => filled(read_all(column, nullable)?, |value| {
                self.whole(f64::from(value))
            }),
            Int64ColumnReader(column) => filled(read_all(column, nullable)?, |value| {
                self.whole(value as f64)
            }),
            FixedLenByteArrayColumnReader(column) => filled(read_all(column, nullable)?, |value| {
                self.bytes(value.data())
            }),
            ByteArrayColumnReader(column) => filled(read_all(column, nullable)?, |value| {
                self.bytes(value.data())
            }),
            _ => return Err(changed_type()),
        })
    }

    fn whole(self, value: f64) -> f64 {
        match self {
            ReadNumber::Decimal(unit) => value / unit,
            ReadNumber::AsIs | ReadNumber::Half => value,
        }
    }

    fn bytes(self, bytes: &[u8]) -> f64 {
        match self {
            ReadNumber::Half if bytes.len() == 2 => NumberKind::F16.read(bytes, false),
            // A big-endian whole number of any length, negative when its first bit is set.
            _ => {
                let negative = bytes.first().is_some_and(|byte| byte >> 7 == 1);
                let start = if negative { -1.0 } else { 0.0 };
                let value = bytes
                    .iter()
                    .fold(start, |sum, &byte| sum * 256.0 + f64::from(byte));
                self.whole(value)
            }
        }
    }
}

fn changed_type() -> ParquetError {
    ParquetError::General("a column has another type than the schema says".into())
}

/// All cells of a column, with `None` where one is missing.
fn read_all<T: DataType>(
    mut column: ColumnReaderImpl<T>,
    nullable: bool,
) -> ::parquet::errors::Result<Vec<Option<T::T>>> {
    let mut cells = Vec::new();
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    loop {
        levels.clear();
        let (rows, _, _) = column.read_records(BATCH, Some(&mut levels), None, &mut values)?;
        if rows == 0 {
            return Ok(cells);
        }
        let mut values = values.drain(..);
        match nullable {
            false => cells.extend(values.map(Some)),
            true => cells.extend(levels.iter().map(|&level| match level {
                0 => None,
                _ => values.next(),
            })),
        }
    }
}
