//! Columns from the Arrow stream interface, without a copy if their type allows it.

use crate::error::value_error;
use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::RecordBatchStreamReader;
use arrow_array::types::{
    Date32Type, Date64Type, Decimal128Type, Float16Type, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, RecordBatch, RecordBatchReader};
use arrow_pyarrow::FromPyArrow;
use arrow_schema::{DataType, TimeUnit};
use cpcvae_data::{Bytes, Cells, NumberKind, PackedNumbers, RawColumn, SharedBytes};
use pyo3::prelude::*;

/// Seconds of a day.
const DAY: f64 = 86_400.0;

/// Number of rows, and the columns of a frame.
pub(crate) fn columns(frame: &Bound<'_, PyAny>) -> PyResult<(usize, Vec<RawColumn>)> {
    let reader = RecordBatchStreamReader::from_pyarrow_bound(frame)?;
    let schema = reader.schema();
    let batches: Result<Vec<RecordBatch>, _> = reader.collect();
    let batches =
        batches.map_err(|error| value_error(format!("the table cannot be read: {error}")))?;
    let rows = batches.iter().map(RecordBatch::num_rows).sum();
    let fields = schema.fields().iter().enumerate();
    let columns = fields.map(|(place, field)| {
        let chunks: Vec<&ArrayRef> = batches.iter().map(|batch| batch.column(place)).collect();
        let name = field.name().clone();
        let cells = cells(&chunks, field.data_type());
        let refused = |problem| value_error(format!("column `{name}`: {problem}"));
        let cells = cells.map_err(refused)?;
        Ok(RawColumn { name, cells })
    });
    Ok((rows, columns.collect::<PyResult<_>>()?))
}

/// The cells of a chunked column.
fn cells(chunks: &[&ArrayRef], kind: &DataType) -> Result<Cells, String> {
    Ok(match kind {
        DataType::Float16 => numbers::<Float16Type>(chunks, NumberKind::F16, f64::from),
        DataType::Float32 => numbers::<Float32Type>(chunks, NumberKind::F32, f64::from),
        DataType::Float64 => numbers::<Float64Type>(chunks, NumberKind::F64, |n| n),
        DataType::Int8 => numbers::<Int8Type>(chunks, NumberKind::I8, f64::from),
        DataType::Int16 => numbers::<Int16Type>(chunks, NumberKind::I16, f64::from),
        DataType::Int32 => numbers::<Int32Type>(chunks, NumberKind::I32, f64::from),
        DataType::Int64 => numbers::<Int64Type>(chunks, NumberKind::I64, |n| n as f64),
        DataType::UInt8 => numbers::<UInt8Type>(chunks, NumberKind::U8, f64::from),
        DataType::UInt16 => numbers::<UInt16Type>(chunks, NumberKind::U16, f64::from),
        DataType::UInt32 => numbers::<UInt32Type>(chunks, NumberKind::U32, f64::from),
        DataType::UInt64 => numbers::<UInt64Type>(chunks, NumberKind::U64, |n| n as f64),
        DataType::Decimal128(_, scale) => {
            let unit = 10f64.powi(i32::from(*scale));
            Cells::Numbers(copied::<Decimal128Type>(chunks, |n| n as f64 / unit))
        }
        DataType::Boolean => {
            let flags = chunks.iter().flat_map(|chunk| chunk.as_boolean().iter());
            Cells::Flags(flags.collect())
        }
        DataType::Date32 => times(copied::<Date32Type>(chunks, |n| f64::from(n) * DAY), false),
        DataType::Date64 => times(copied::<Date64Type>(chunks, |n| n as f64 / 1e3), false),
        DataType::Timestamp(unit, zone) => {
            let seconds = match unit {
                TimeUnit::Second => copied::<TimestampSecondType>(chunks, |n| n as f64),
                TimeUnit::Millisecond => {
                    copied::<TimestampMillisecondType>(chunks, |n| n as f64 / 1e3)
                }
                TimeUnit::Microsecond => {
                    copied::<TimestampMicrosecondType>(chunks, |n| n as f64 / 1e6)
                }
                TimeUnit::Nanosecond => {
                    copied::<TimestampNanosecondType>(chunks, |n| n as f64 / 1e9)
                }
            };
            times(seconds, zone.is_some())
        }
        DataType::Null => {
            let rows = chunks.iter().map(|chunk| chunk.len()).sum();
            Cells::Numbers(vec![f64::NAN; rows])
        }
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Dictionary(..) => {
            let mut all = Vec::new();
            for chunk in chunks {
                append_texts(&mut all, chunk)?;
            }
            Cells::Texts(all)
        }
        other => {
            return Err(format!(
                "cells of the type {other} are not read; make it numbers, text, flags or times, or \
                 leave it out"
            ));
        }
    })
}

/// Numbers: without a copy if they are in one chunk without missing ones.
fn numbers<T: ArrowPrimitiveType>(
    chunks: &[&ArrayRef],
    kind: NumberKind,
    number: impl Fn(T::Native) -> f64,
) -> Cells {
    if let [chunk] = chunks
        && chunk.null_count() == 0
    {
        let values = chunk.as_primitive::<T>().values();
        let bytes = Bytes::External(Box::new(ArrowBytes(values.inner().clone())));
        let (start, format) = (0, (kind, cfg!(target_endian = "big")));
        let bytes = SharedBytes::from(bytes);
        if let Some(packed) = PackedNumbers::new(bytes, format, start, kind.size(), values.len()) {
            return Cells::Packed(packed);
        }
    }
    Cells::Numbers(copied::<T>(chunks, number))
}

/// The memory of an array, which is freed when its last user is dropped.
#[derive(Debug)]
struct ArrowBytes(arrow_buffer::Buffer);

impl AsRef<[u8]> for ArrowBytes {
    fn as_ref(&self) -> &[u8] {
        self.0.as_slice()
    }
}

/// Copied, with NaN for missing ones.
fn copied<T: ArrowPrimitiveType>(
    chunks: &[&ArrayRef],
    number: impl Fn(T::Native) -> f64,
) -> Vec<f64> {
    let all = chunks
        .iter()
        .flat_map(|chunk| chunk.as_primitive::<T>().iter());
    all.map(|cell| cell.map_or(f64::NAN, &number)).collect()
}

fn times(seconds: Vec<f64>, zoned: bool) -> Cells {
    let rows = seconds.len();
    let bytes: Vec<u8> = seconds.iter().flat_map(|n| n.to_le_bytes()).collect();
    let packed = PackedNumbers::new(bytes.into(), (NumberKind::F64, false), 0, 8, rows);
    match packed {
        Some(seconds) => Cells::PackedTimes { seconds, zoned },
        None => Cells::Numbers(seconds),
    }
}

/// Appends texts, blank for missing ones.
fn append_texts(all: &mut Vec<String>, chunk: &ArrayRef) -> Result<(), String> {
    let text = |cell: Option<&str>| cell.map_or(String::new(), |text| text.trim().into());
    match chunk.data_type() {
        DataType::Utf8 => all.extend(chunk.as_string::<i32>().iter().map(text)),
        DataType::LargeUtf8 => all.extend(chunk.as_string::<i64>().iter().map(text)),
        DataType::Utf8View => all.extend(chunk.as_string_view().iter().map(text)),
        DataType::Dictionary(..) => {
            let coded = chunk.as_any_dictionary();
            let mut levels = Vec::new();
            append_levels(&mut levels, coded.values())?;
            let keys = coded.normalized_keys();
            all.extend(
                keys.into_iter()
                    .enumerate()
                    .map(|(row, key)| match chunk.is_null(row) {
                        true => String::new(),
                        false => levels[key].clone(),
                    }),
            );
        }
        other => return Err(format!("levels of the type {other} are not read")),
    }
    Ok(())
}

/// Appends the names of levels: texts, or the digits of numbers.
fn append_levels(levels: &mut Vec<String>, values: &ArrayRef) -> Result<(), String> {
    match cells(&[values], values.data_type())? {
        Cells::Texts(texts) => levels.extend(texts),
        Cells::Numbers(numbers) => levels.extend(numbers.iter().map(f64::to_string)),
        Cells::Packed(numbers) => levels.extend(numbers.iter().map(|number| number.to_string())),
        Cells::Flags(flags) => levels.extend(flags.iter().map(|flag| match flag {
            Some(flag) => flag.to_string(),
            None => String::new(),
        })),
        _ => {
            return Err(format!(
                "levels of the type {} are not read",
                values.data_type()
            ));
        }
    }
    Ok(())
}
