//! A dense table of numbers.

use crate::{DataError, Result};

/// A dense table of numbers, stored row after row.
///
/// ```
/// use cpcvae_data::Matrix;
///
/// let matrix = Matrix::new(2, 3, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// assert_eq!(matrix.row(1), [4.0, 5.0, 6.0]);
/// # Ok::<(), cpcvae_data::DataError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matrix {
    /// Number of rows.
    pub rows: usize,
    /// Number of values in a row.
    pub columns: usize,
    /// `rows * columns` values; row `i` begins at `i * columns`.
    pub values: Vec<f32>,
}

impl Matrix {
    /// A matrix of the given size; `values` must hold exactly `rows * columns` numbers.
    pub fn new(rows: usize, columns: usize, values: Vec<f32>) -> Result<Matrix> {
        if rows.checked_mul(columns) != Some(values.len()) {
            return Err(DataError::Shape(format!(
                "a matrix of {rows} rows x {columns} columns cannot hold {} values",
                values.len()
            )));
        }
        Ok(Matrix {
            rows,
            columns,
            values,
        })
    }

    /// The values of row `i`.
    ///
    /// # Panics
    /// When there is no row `i`, as indexing a slice does.
    pub fn row(&self, i: usize) -> &[f32] {
        &self.values[i * self.columns..(i + 1) * self.columns]
    }

    /// The chosen rows, in the order given.
    ///
    /// # Panics
    /// When a row number is not below `self.rows`.
    pub fn select(&self, rows: &[u32]) -> Matrix {
        let mut values = Vec::with_capacity(rows.len() * self.columns);
        for &row in rows {
            values.extend_from_slice(self.row(row as usize));
        }
        Matrix {
            rows: rows.len(),
            columns: self.columns,
            values,
        }
    }

    /// The matrix with missing cells (NaN) replaced by `value`: for algorithms that need numbers,
    /// such as distances between rows.
    pub fn with_missing_as(mut self, value: f32) -> Matrix {
        for cell in self.values.iter_mut().filter(|cell| cell.is_nan()) {
            *cell = value;
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matrix_refuses_a_wrong_number_of_values() {
        let message = Matrix::new(2, 3, vec![0.0; 5]).unwrap_err().to_string();
        assert!(
            message.contains("2 rows x 3 columns cannot hold 5"),
            "{message}"
        );
        assert!(Matrix::new(usize::MAX, 2, vec![]).is_err());
    }

    #[test]
    fn only_missing_cells_are_replaced() {
        let filled = Matrix::new(1, 3, vec![1.0, f32::NAN, f32::INFINITY]).unwrap();
        assert_eq!(
            filled.with_missing_as(0.0).values,
            [1.0, 0.0, f32::INFINITY]
        );
    }
}
