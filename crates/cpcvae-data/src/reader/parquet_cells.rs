//! The cells of a Parquet column, decoded in batches.

use crate::mapped::Gatherer;
use crate::packed_texts::TextGatherer;
use crate::raw_table::is_exact;
use crate::time::DAY;
use crate::{DataError, NumberKind, Result};
use ::parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type};
use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use ::parquet::data_type::DataType;
use ::parquet::errors::ParquetError;
use ::parquet::schema::types::ColumnDescriptor;

/// How many rows are decoded at a time.
const BATCH: usize = 1 << 14;
/// Marks a missing flag.
const NO_FLAG: u8 = 255;

/// Makes the error for a damaged file.
pub(super) type Damaged<'a> = &'a dyn Fn(ParquetError) -> DataError;

/// How the cells of a column are stored.
pub(super) enum Kept {
    /// One byte each: 0, 1 or [`NO_FLAG`].
    Flag,
    /// A number of this kind each; NaN where it is missing.
    Number { kind: NumberKind, read: ReadNumber },
    /// Texts, or the digits of whole numbers; blank where they are missing.
    Text { texts: TextGatherer, unsigned: bool },
}

/// How the bytes or whole numbers of a column become numbers.
#[derive(Clone, Copy)]
pub(super) enum ReadNumber {
    AsIs,
    /// Whole numbers that are never negative.
    Unsigned,
    Half,
    /// A whole number to be divided by this.
    Decimal(f64),
    /// Days since the beginning of 1970, converted to seconds.
    Date,
    /// Points in time in fractions of a second, converted to seconds.
    Time {
        a_second: f64,
        zoned: bool,
    },
}

impl Kept {
    /// Chosen by the column's type; an unsupported column gives a message. Texts may take `budget`
    /// bytes of memory.
    pub(super) fn of(
        column: &ColumnDescriptor,
        budget: u64,
    ) -> Result<std::result::Result<Kept, &'static str>> {
        if column.path().parts().len() > 1 || column.max_rep_level() > 0 {
            return Ok(Err("it holds lists or structures, which a table cannot"));
        }
        let number = |kind, read| Kept::Number { kind, read };
        let logical = column.logical_type_ref();
        let decimal = match (logical, column.converted_type()) {
            (Some(LogicalType::Decimal(decimal)), _) => Some(decimal.scale),
            (None, ConvertedType::DECIMAL) => Some(column.type_scale()),
            _ => None,
        };
        if let Some(scale) = decimal {
            let read = ReadNumber::Decimal(10f64.powi(scale));
            return Ok(Ok(number(NumberKind::F64, read)));
        }
        let time = |a_second, zoned| ReadNumber::Time { a_second, zoned };
        let whole = match (logical, column.converted_type()) {
            (Some(LogicalType::Integer(int)), _) if !int.is_signed => ReadNumber::Unsigned,
            (Some(LogicalType::Date), _) | (None, ConvertedType::DATE) => ReadNumber::Date,
            (Some(LogicalType::Timestamp(stamp)), _) => {
                let a_second = match stamp.unit {
                    TimeUnit::MILLIS => 1e3,
                    TimeUnit::MICROS => 1e6,
                    TimeUnit::NANOS => 1e9,
                };
                time(a_second, stamp.is_adjusted_to_u_t_c)
            }
            // Files written before Parquet had time zones.
            (None, ConvertedType::TIMESTAMP_MILLIS) => time(1e3, false),
            (None, ConvertedType::TIMESTAMP_MICROS) => time(1e6, false),
            _ => ReadNumber::AsIs,
        };
        Ok(Ok(match column.physical_type() {
            Type::BOOLEAN => Kept::Flag,
            Type::INT32 | Type::INT64 => number(NumberKind::F64, whole),
            Type::FLOAT => number(NumberKind::F32, ReadNumber::AsIs),
            Type::DOUBLE => number(NumberKind::F64, ReadNumber::AsIs),
            Type::FIXED_LEN_BYTE_ARRAY if matches!(logical, Some(LogicalType::Float16)) => {
                number(NumberKind::F32, ReadNumber::Half)
            }
            Type::BYTE_ARRAY => Kept::Text {
                texts: TextGatherer::new(budget)?,
                unsigned: false,
            },
            Type::INT96 => return Ok(Err("times of 96 bits are not read")),
            Type::FIXED_LEN_BYTE_ARRAY => return Ok(Err("bytes of a fixed length are not read")),
        }))
    }

    /// Bytes of a cell in a row; 0 for texts, which are stored separately.
    pub(super) fn size(&self) -> usize {
        match self {
            Kept::Flag => 1,
            Kept::Number { kind, .. } => kind.size(),
            Kept::Text { .. } => 0,
        }
    }

    /// Whether the cells are points in time, and if so, whether with a time zone.
    pub(super) fn time(&self) -> Option<bool> {
        match self {
            Kept::Number { read, .. } => match read {
                ReadNumber::Date => Some(false),
                ReadNumber::Time { zoned, .. } => Some(*zoned),
                _ => None,
            },
            Kept::Flag | Kept::Text { .. } => None,
        }
    }

    /// Whether long whole numbers may lose digits.
    pub(super) fn may_be_inexact(&self) -> bool {
        let whole = |read| matches!(read, ReadNumber::AsIs | ReadNumber::Unsigned);
        matches!(self, Kept::Number { kind: NumberKind::F64, read } if whole(*read))
    }

    /// Whether none loses digits.
    pub(super) fn is_exact(
        &self,
        column: ColumnReader,
        nullable: bool,
        damaged: Damaged,
    ) -> Result<bool> {
        let ColumnReader::Int64ColumnReader(column) = column else {
            return Ok(true);
        };
        let unsigned = matches!(
            self,
            Kept::Number {
                read: ReadNumber::Unsigned,
                ..
            }
        );
        let mut exact = true;
        each(column, nullable, damaged, |cell| {
            exact &= cell.is_none_or(|number| is_exact(whole(number, unsigned)));
            Ok(())
        })?;
        Ok(exact)
    }

    /// The same column with its whole numbers as texts.
    pub(super) fn as_texts(&self, texts: TextGatherer) -> Kept {
        let unsigned = matches!(
            self,
            Kept::Number {
                read: ReadNumber::Unsigned,
                ..
            }
        );
        Kept::Text { texts, unsigned }
    }

    /// Appends all cells of a row group to `packed`, or texts to their store. Returns their number.
    pub(super) fn gather(
        &mut self,
        column: ColumnReader,
        nullable: bool,
        packed: &mut Gatherer,
        damaged: Damaged,
    ) -> Result<usize> {
        use ColumnReader::*;
        match (self, column) {
            (Kept::Flag, BoolColumnReader(column)) => each(column, nullable, damaged, |cell| {
                packed.push(&[cell.map_or(NO_FLAG, u8::from)])
            }),
            (Kept::Text { texts, .. }, ByteArrayColumnReader(column)) => {
                each(column, nullable, damaged, |cell| {
                    let text = cell.as_ref().map_or(Ok(""), |cell| cell.as_utf8());
                    texts.push(text.map_err(damaged)?.trim())
                })
            }
            (Kept::Text { texts, unsigned }, Int64ColumnReader(column)) => {
                each(column, nullable, damaged, |cell| {
                    let digits = cell.map(|number| whole(number, *unsigned).to_string());
                    texts.push(&digits.unwrap_or_default())
                })
            }
            (Kept::Number { kind, read }, column) => {
                let push = |number: f64| match kind {
                    NumberKind::F32 => packed.push(&(number as f32).to_le_bytes()),
                    _ => packed.push(&number.to_le_bytes()),
                };
                read.each(column, nullable, damaged, push)
            }
            _ => Err(damaged(changed_type())),
        }
    }
}

/// A whole number, signed or unsigned as in the schema.
fn whole(number: i64, unsigned: bool) -> i128 {
    match unsigned {
        true => i128::from(number as u64),
        false => i128::from(number),
    }
}

impl ReadNumber {
    /// Calls `push` with all cells as numbers; NaN where one is missing.
    fn each(
        self,
        column: ColumnReader,
        nullable: bool,
        damaged: Damaged,
        mut push: impl FnMut(f64) -> Result<()>,
    ) -> Result<usize> {
        use ColumnReader::*;
        macro_rules! numbers {
            ($column:expr, $number:expr) => {
                each($column, nullable, damaged, |cell| {
                    push(cell.map_or(f64::NAN, $number))
                })
            };
        }
        match column {
            FloatColumnReader(column) => numbers!(column, f64::from),
            DoubleColumnReader(column) => numbers!(column, |value| value),
            Int32ColumnReader(column) => numbers!(column, |value| match self {
                ReadNumber::Unsigned => f64::from(value as u32),
                _ => self.whole(f64::from(value)),
            }),
            Int64ColumnReader(column) => numbers!(column, |value| match self {
                ReadNumber::Unsigned => value as u64 as f64,
                _ => self.whole(value as f64),
            }),
            FixedLenByteArrayColumnReader(column) => {
                numbers!(column, |value| self.bytes(value.data()))
            }
            ByteArrayColumnReader(column) => numbers!(column, |value| self.bytes(value.data())),
            _ => Err(damaged(changed_type())),
        }
    }

    fn whole(self, value: f64) -> f64 {
        match self {
            ReadNumber::Decimal(unit) | ReadNumber::Time { a_second: unit, .. } => value / unit,
            ReadNumber::Date => value * DAY,
            ReadNumber::AsIs | ReadNumber::Unsigned | ReadNumber::Half => value,
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
    ParquetError::General("the type of a column differs from the schema".into())
}

/// Calls `take` with all cells of a column in a row group, `None` where one is missing, and returns
/// their number.
fn each<T: DataType>(
    mut column: ColumnReaderImpl<T>,
    nullable: bool,
    damaged: Damaged,
    mut take: impl FnMut(Option<T::T>) -> Result<()>,
) -> Result<usize> {
    let mut count = 0;
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    loop {
        levels.clear();
        let read = column.read_records(BATCH, Some(&mut levels), None, &mut values);
        let (rows, _, _) = read.map_err(damaged)?;
        if rows == 0 {
            return Ok(count);
        }
        let mut values = values.drain(..);
        if nullable {
            count += levels.len();
            for &level in &levels {
                take(if level == 0 { None } else { values.next() })?;
            }
        } else {
            count += values.len();
            for value in values {
                take(Some(value))?;
            }
        }
    }
}
