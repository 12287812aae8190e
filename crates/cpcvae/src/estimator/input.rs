//! Rows for a fitted model, in the formats that a caller may have.

use crate::error::{Error, Result};
use cpcvae_data::{Dataset, Features, Labels, Layout, Matrix};
use ndarray::{ArrayBase, ArrayView2, Data, Ix2};

/// Rows in memory or opened from a file, as a data set of the model's layout. Values of a table are
/// in the user's units, NaN where a cell is missing; levels are numbers, the index in the model's
/// list.
///
/// ```
/// # use cpcvae::prelude::*;
/// # let rows: Vec<[f32; 2]> =
/// #     (0..60).map(|i| [(i % 2 * 9 + i % 5) as f32, (i % 7) as f32]).collect();
/// # let labels = (0..60).map(|i| (i < 20).then_some(["low", "high"][i % 2]));
/// # let data = Dataset::from_rows(&rows, Labels::classes(labels))?;
/// let fitted = Pc::new().steps(50).hold_out(false).fit(&data)?;
/// let slices = fitted.predict(&rows[..4])?;
/// let array = ndarray::Array2::from_shape_fn((4, 2), |(row, column)| rows[row][column]);
/// assert_eq!(fitted.predict(&array)?, slices);
/// # Ok::<(), cpcvae::Error>(())
/// ```
pub trait AsRows {
    /// The rows with this layout.
    fn as_rows(&self, layout: &Layout) -> Result<Dataset>;
}

/// The name of rows without one.
const NAME: &str = "rows";

fn dataset(values: Vec<f32>, columns: usize, layout: &Layout) -> Result<Dataset> {
    let rows = values.len() / columns.max(1);
    if columns != layout.width() {
        return Err(Error::Mismatch(format!(
            "the rows have {columns} values each, the model was trained on {}",
            layout.width()
        )));
    }
    let mut matrix = Matrix::new(rows, columns, values)?;
    if let Layout::Columns(of_model) = layout {
        for row in matrix.values.chunks_exact_mut(columns.max(1)) {
            let large = row.iter_mut().zip(of_model);
            for (value, column) in large.filter(|(_, column)| column.offset != 0.0) {
                *value = column.of_user_units(f64::from(*value));
            }
        }
    }
    Ok(Dataset::new(
        NAME,
        Features::new(matrix),
        layout.clone(),
        Labels::None,
    )?)
}

/// Concatenates rows.
fn of_slices<R: AsRef<[f32]>>(rows: &[R], layout: &Layout) -> Result<Dataset> {
    let columns = rows
        .first()
        .map_or(layout.width(), |row| row.as_ref().len());
    if let Some(row) = rows.iter().position(|row| row.as_ref().len() != columns) {
        return Err(Error::Mismatch(format!(
            "row {row} has {} values, row 0 has {columns}",
            rows[row].as_ref().len()
        )));
    }
    let values = rows.iter().flat_map(|row| row.as_ref()).copied();
    dataset(values.collect(), columns, layout)
}

impl AsRows for Dataset {
    fn as_rows(&self, _: &Layout) -> Result<Dataset> {
        Ok(self.clone())
    }
}

impl AsRows for Matrix {
    fn as_rows(&self, layout: &Layout) -> Result<Dataset> {
        dataset(self.values.clone(), self.columns, layout)
    }
}

impl<const N: usize> AsRows for [[f32; N]] {
    fn as_rows(&self, layout: &Layout) -> Result<Dataset> {
        of_slices(self, layout)
    }
}

impl<const N: usize, const ROWS: usize> AsRows for [[f32; N]; ROWS] {
    fn as_rows(&self, layout: &Layout) -> Result<Dataset> {
        of_slices(self, layout)
    }
}

impl<R: AsRef<[f32]>> AsRows for Vec<R> {
    fn as_rows(&self, layout: &Layout) -> Result<Dataset> {
        of_slices(self, layout)
    }
}

impl AsRows for [Vec<f32>] {
    fn as_rows(&self, layout: &Layout) -> Result<Dataset> {
        of_slices(self, layout)
    }
}

impl<S: Data<Elem = f32>> AsRows for ArrayBase<S, Ix2> {
    fn as_rows(&self, layout: &Layout) -> Result<Dataset> {
        dataset(self.iter().copied().collect(), self.ncols(), layout)
    }
}

/// A matrix as a view of `ndarray`, without a copy.
pub(super) fn as_array(matrix: &Matrix) -> ArrayView2<'_, f32> {
    ArrayView2::from_shape((matrix.rows, matrix.columns), &matrix.values)
        .expect("a matrix holds as many values as it says")
}
