//! Conversion between Python's buffers and Rust's numbers.

use crate::error::value_error;
use cpcvae_data::{Layout, Matrix};
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::PyByteArray;

/// A copy of the bytes of a contiguous buffer.
pub(crate) fn bytes(buffer: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    PyBuffer::<u8>::get(buffer)?.to_vec(buffer.py())
}

/// 64-bit numbers from a buffer of bytes.
pub(crate) fn doubles(buffer: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    let bytes = bytes(buffer)?;
    let (numbers, rest) = bytes.as_chunks::<8>();
    match rest.is_empty() {
        true => Ok(numbers.iter().map(|n| f64::from_ne_bytes(*n)).collect()),
        false => Err(value_error(
            "the buffer does not hold a whole number of 64-bit values",
        )),
    }
}

/// 32-bit numbers from a buffer of bytes.
pub(crate) fn floats(buffer: &Bound<'_, PyAny>) -> PyResult<Vec<f32>> {
    let bytes = bytes(buffer)?;
    let (numbers, rest) = bytes.as_chunks::<4>();
    match rest.is_empty() {
        true => Ok(numbers.iter().map(|n| f32::from_ne_bytes(*n)).collect()),
        false => Err(value_error(
            "the buffer does not hold a whole number of 32-bit values",
        )),
    }
}

/// An array for Python: its bytes, its numpy data type, its shape.
pub(crate) type Array<'py> = (Bound<'py, PyByteArray>, &'static str, Vec<usize>);

/// 32-bit numbers as an array of that shape.
pub(crate) fn array<'py>(
    py: Python<'py>,
    values: &[f32],
    shape: Vec<usize>,
) -> PyResult<Array<'py>> {
    let filled = PyByteArray::new_with(py, values.len() * 4, |bytes| {
        let (places, _) = bytes.as_chunks_mut::<4>();
        for (place, value) in places.iter_mut().zip(values) {
            *place = value.to_ne_bytes();
        }
        Ok(())
    });
    Ok((filled?, "f4", shape))
}

/// A matrix as an array.
pub(crate) fn matrix<'py>(py: Python<'py>, matrix: &Matrix) -> PyResult<Array<'py>> {
    array(py, &matrix.values, vec![matrix.rows, matrix.columns])
}

/// Rows in the user's units, in 64 bits: numbers with the offset of their column, levels as their
/// index.
pub(crate) fn rows<'py>(py: Python<'py>, layout: &Layout, rows: &Matrix) -> PyResult<Array<'py>> {
    let offset = |column: usize| match layout {
        Layout::Columns(columns) => columns.get(column).map_or(0.0, |column| column.offset),
        Layout::Image { .. } => 0.0,
    };
    let offsets: Vec<f64> = (0..rows.columns).map(offset).collect();
    let width = rows.columns.max(1);
    let filled = PyByteArray::new_with(py, rows.values.len() * 8, |bytes| {
        let (places, _) = bytes.as_chunks_mut::<8>();
        for (at, (place, value)) in places.iter_mut().zip(&rows.values).enumerate() {
            *place = (offsets[at % width] + f64::from(*value)).to_ne_bytes();
        }
        Ok(())
    });
    Ok((filled?, "f8", vec![rows.rows, rows.columns]))
}
