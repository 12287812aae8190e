//! Rows of features, read on demand: they may be larger than memory.

use crate::{Matrix, SharedBytes};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// The default limit on bytes of data kept in memory; larger data is left in files that are mapped
/// into memory.
pub const MEMORY_BUDGET: u64 = 256 << 20;

/// About how many values a pass over all rows processes at once.
const BLOCK_VALUES: usize = 1 << 20;

/// Rows of equally many numbers, in memory or in a file.
pub trait Rows: Send + Sync + fmt::Debug {
    /// Number of rows.
    fn rows(&self) -> usize;

    /// Values in a row.
    fn columns(&self) -> usize;

    /// Copies a row into `out`, whose length is the number of columns.
    ///
    /// # Panics
    /// When there is no such row, as indexing a slice does.
    fn read(&self, row: usize, out: &mut [f32]);

    /// Consecutive rows, in memory.
    ///
    /// # Panics
    /// When there are not so many rows.
    fn part(&self, rows: Range<usize>) -> Matrix {
        gather(self.columns(), rows.len(), rows, |row, out| {
            self.read(row, out)
        })
    }
}

impl Rows for Matrix {
    fn rows(&self) -> usize {
        self.rows
    }

    fn columns(&self) -> usize {
        self.columns
    }

    fn read(&self, row: usize, out: &mut [f32]) {
        out.copy_from_slice(self.row(row));
    }
}

/// The features of a data set. Copies are cheap: they share the rows.
#[derive(Clone, Debug)]
pub struct Features(Arc<dyn Rows>);

impl Features {
    /// Rows of any kind.
    pub fn new(rows: impl Rows + 'static) -> Features {
        Features(Arc::new(rows))
    }

    /// Pixels in `[0, 1]` from bytes, `columns` of them a row; an incomplete last row is dropped.
    pub(crate) fn of_bytes(bytes: impl Into<SharedBytes>, columns: usize) -> Features {
        let bytes = bytes.into();
        Features::new(Pixels { bytes, columns })
    }

    /// One row.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn row(&self, row: usize) -> Vec<f32> {
        self.part(row..row + 1).values
    }

    /// All rows, in memory.
    pub fn matrix(&self) -> Matrix {
        self.part(0..self.rows())
    }

    /// The chosen rows in the order given, in memory.
    ///
    /// # Panics
    /// When a row number is not below the number of rows.
    pub fn gather(&self, rows: &[u32]) -> Matrix {
        let places = rows.iter().map(|&row| row as usize);
        gather(self.columns(), rows.len(), places, |row, out| {
            self.read(row, out)
        })
    }

    /// The chosen rows in the order given, without copying them.
    ///
    /// # Panics
    /// When a row number is not below the number of rows.
    pub fn select(&self, rows: &[u32]) -> Features {
        let missing = rows.iter().find(|&&row| row as usize >= self.rows());
        assert!(missing.is_none(), "there is no row {missing:?}");
        Features::new(Selected {
            all: self.clone(),
            rows: rows.into(),
        })
    }

    /// The rows with `change` applied to each whenever it is read: it turns the row's values into
    /// `columns` others, which are initially 0.
    pub fn changed(
        &self,
        columns: usize,
        change: impl Fn(&[f32], &mut [f32]) + Send + Sync + 'static,
    ) -> Features {
        Features::new(Changed {
            all: self.clone(),
            columns,
            change,
        })
    }

    /// All rows in blocks, each with the number of its first row.
    pub fn blocks(&self) -> impl Iterator<Item = (usize, Matrix)> + '_ {
        blocks(self.rows(), self.columns()).map(|rows| (rows.start, self.part(rows)))
    }
}

/// Ranges of rows that are processed together.
pub(crate) fn blocks(rows: usize, columns: usize) -> impl Iterator<Item = Range<usize>> {
    let step = (BLOCK_VALUES / columns.max(1)).max(1);
    (0..rows)
        .step_by(step)
        .map(move |start| start..rows.min(start + step))
}

impl Rows for Features {
    fn rows(&self) -> usize {
        self.0.rows()
    }

    fn columns(&self) -> usize {
        self.0.columns()
    }

    fn read(&self, row: usize, out: &mut [f32]) {
        self.0.read(row, out);
    }
}

impl From<Matrix> for Features {
    fn from(matrix: Matrix) -> Features {
        Features::new(matrix)
    }
}

impl PartialEq for Features {
    fn eq(&self, other: &Features) -> bool {
        (self.rows(), self.columns()) == (other.rows(), other.columns())
            && self.blocks().eq(other.blocks())
    }
}

fn gather(
    columns: usize,
    count: usize,
    rows: impl Iterator<Item = usize>,
    read: impl Fn(usize, &mut [f32]),
) -> Matrix {
    let mut values = vec![0.0; count * columns];
    if columns > 0 {
        let places = values.chunks_exact_mut(columns);
        rows.zip(places).for_each(|(row, out)| read(row, out));
    }
    Matrix {
        rows: count,
        columns,
        values,
    }
}

#[derive(Debug)]
struct Pixels {
    bytes: SharedBytes,
    columns: usize,
}

impl Rows for Pixels {
    fn rows(&self) -> usize {
        self.bytes.len() / self.columns.max(1)
    }

    fn columns(&self) -> usize {
        self.columns
    }

    fn read(&self, row: usize, out: &mut [f32]) {
        let bytes = &self.bytes[row * self.columns..][..self.columns];
        for (value, &byte) in out.iter_mut().zip(bytes) {
            *value = f32::from(byte) / 255.0;
        }
    }
}

#[derive(Debug)]
struct Selected {
    all: Features,
    rows: Box<[u32]>,
}

impl Rows for Selected {
    fn rows(&self) -> usize {
        self.rows.len()
    }

    fn columns(&self) -> usize {
        self.all.columns()
    }

    fn read(&self, row: usize, out: &mut [f32]) {
        self.all.read(self.rows[row] as usize, out);
    }
}

struct Changed<F> {
    all: Features,
    columns: usize,
    change: F,
}

impl<F: Fn(&[f32], &mut [f32]) + Send + Sync> Rows for Changed<F> {
    fn rows(&self) -> usize {
        self.all.rows()
    }

    fn columns(&self) -> usize {
        self.columns
    }

    fn read(&self, row: usize, out: &mut [f32]) {
        out.fill(0.0);
        (self.change)(&self.all.row(row), out);
    }
}

impl<F> fmt::Debug for Changed<F> {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "{:?} changed", self.all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers() -> Features {
        let values = (0..12).map(|value| value as f32).collect();
        Matrix::new(4, 3, values).unwrap().into()
    }

    #[test]
    fn a_choice_of_a_choice_finds_its_rows() {
        let chosen = numbers().select(&[3, 1, 1]).select(&[2, 0]);
        assert_eq!(chosen.matrix().values, [3.0, 4.0, 5.0, 9.0, 10.0, 11.0]);
        assert_eq!(chosen, numbers().gather(&[1, 3]).into());
        assert_eq!(chosen.select(&[]).matrix().values, [0.0; 0]);
    }

    #[test]
    #[should_panic(expected = "there is no row")]
    fn a_row_that_is_not_there_cannot_be_chosen() {
        numbers().select(&[4]);
    }

    #[test]
    fn bytes_are_pixels_between_0_and_1() {
        let pixels = Features::of_bytes(vec![0, 51, 255, 102], 2);
        let expected = Matrix::new(2, 2, vec![0.0, 0.2, 1.0, 102.0 / 255.0]).unwrap();
        assert_eq!(pixels, expected.into());
    }

    #[test]
    fn a_change_is_made_to_every_row_that_is_read() {
        let sums = numbers().changed(2, |row, out| out[1] = row.iter().sum());
        assert_eq!(sums.columns(), 2);
        assert_eq!(sums.gather(&[2, 0]).values, [0.0, 21.0, 0.0, 3.0]);
    }

    #[test]
    fn blocks_cover_all_rows_once_whatever_the_width() {
        for (rows, columns) in [(0, 3), (1, 0), (5, 1 << 20), (5, 1 << 21), (300_001, 7)] {
            let mut next = 0;
            for block in blocks(rows, columns) {
                assert_eq!(block.start, next);
                next = block.end;
            }
            assert_eq!(next, rows);
        }
        let all: Vec<f32> = numbers()
            .blocks()
            .flat_map(|(_, rows)| rows.values)
            .collect();
        assert_eq!(all, numbers().matrix().values);
    }
}
