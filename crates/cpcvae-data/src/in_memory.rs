//! Data sets and labels from arrays in memory.

use crate::{Column, DataError, Dataset, Features, Labels, Layout, Matrix, Result};
use std::collections::BTreeSet;

impl Dataset {
    /// Rows of numbers, NaN where a cell is missing, in columns named `x0`, `x1`, ...
    ///
    /// ```
    /// use cpcvae_data::{Dataset, Labels};
    /// let labels = Labels::classes([Some("b"), None, Some("a")]);
    /// let data = Dataset::from_rows(&[[1.0, 2.0], [3.0, f32::NAN], [5.0, 6.0]], labels)?;
    /// assert_eq!((data.len(), data.width(), data.class_names()), (3, 2, &["a".into(), "b".into()][..]));
    /// # Ok::<(), cpcvae_data::DataError>(())
    /// ```
    pub fn from_rows<R: AsRef<[f32]>>(rows: &[R], labels: Labels) -> Result<Self> {
        let columns = rows.first().map_or(0, |row| row.as_ref().len());
        if let Some(row) = rows.iter().position(|row| row.as_ref().len() != columns) {
            return Err(DataError::Shape(format!(
                "row {row} has {} values, row 0 has {columns}",
                rows[row].as_ref().len()
            )));
        }
        let values = rows.iter().flat_map(|row| row.as_ref()).copied().collect();
        Self::from_matrix(Matrix::new(rows.len(), columns, values)?, labels)
    }

    /// The same from a matrix `[rows, columns]`.
    pub fn from_matrix(rows: Matrix, labels: Labels) -> Result<Self> {
        let columns = (0..rows.columns).map(|column| Column::number(format!("x{column}")));
        let layout = Layout::Columns(columns.collect());
        Self::new("rows", Features::new(rows), layout, labels)
    }

    /// Images with pixels in `[0, 1]`, ordered by height, then width, then channel.
    pub fn from_images(
        pixels: Matrix,
        [height, width, channels]: [usize; 3],
        labels: Labels,
    ) -> Result<Self> {
        let layout = Layout::Image {
            height,
            width,
            channels,
        };
        Self::new("images", Features::new(pixels), layout, labels)
    }

    /// The same rows under another name, which messages and reports use.
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }
}

impl Labels {
    /// Classes by name, `None` for a row without a label. Their order is that of their names.
    pub fn classes<S: AsRef<str>>(of_row: impl IntoIterator<Item = Option<S>>) -> Self {
        let of_row: Vec<Option<S>> = of_row.into_iter().collect();
        let names: BTreeSet<&str> = of_row.iter().flatten().map(AsRef::as_ref).collect();
        let names: Vec<String> = names.into_iter().map(String::from).collect();
        let place = |name: &str| names.binary_search_by(|known| (**known).cmp(name)).ok();
        let of_row = of_row.iter().map(|class| {
            let place = place(class.as_ref()?.as_ref())?;
            Some(place as u32)
        });
        Self::Classes {
            of_row: of_row.collect(),
            names,
        }
    }

    /// One number a row, `None` where it is not known.
    pub fn numbers(of_row: impl IntoIterator<Item = Option<f32>>) -> Self {
        Self::Values {
            names: vec!["label".into()],
            of_row: of_row
                .into_iter()
                .map(|value| value.map(|value| vec![value]))
                .collect(),
            offsets: Vec::new(),
        }
    }
}
