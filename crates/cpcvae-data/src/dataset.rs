//! A data set: rows of features with their labels.

use crate::{DataConfig, DataError, Features, Labels, Layout, Result, Rows};

/// Beyond this many standard deviations, squares and sums overflow in 32 bits.
const FARTHEST: f32 = 1e12;

/// Rows of features with their labels.
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    /// What the data set is called in messages and reports.
    pub name: String,
    /// The features, one row an example. They are read on demand, and may be larger than memory.
    pub features: Features,
    /// What the features mean.
    pub layout: Layout,
    /// The known labels.
    pub labels: Labels,
    /// Names of the rows, if the data set has any.
    pub ids: Option<Ids>,
    /// The settings it was opened with; `None` for rows that were made in memory.
    pub origin: Option<Box<DataConfig>>,
}

/// Names of rows: never a feature, only for identifying rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ids {
    /// The column that they come from.
    pub name: String,
    /// One a row, all different.
    pub of_row: Vec<String>,
}

impl Dataset {
    /// A data set whose parts have matching sizes.
    pub fn new(
        name: impl Into<String>,
        features: impl Into<Features>,
        layout: Layout,
        labels: Labels,
    ) -> Result<Dataset> {
        let (name, features) = (name.into(), features.into());
        if layout.width() != features.columns() {
            return Err(DataError::Shape(format!(
                "`{name}` has {} values a row, but its layout describes {}",
                features.columns(),
                layout.width()
            )));
        }
        if u32::try_from(features.rows()).is_err() {
            return Err(DataError::Shape(format!(
                "`{name}` has {} rows; row numbers have 32 bits, so split the file",
                features.rows()
            )));
        }
        labels.check(features.rows())?;
        Ok(Dataset {
            name,
            features,
            layout,
            labels,
            ids: None,
            origin: None,
        })
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.features.rows()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of values in a row.
    pub fn width(&self) -> usize {
        self.features.columns()
    }

    /// The rows that carry a label, in order.
    pub fn labelled_rows(&self) -> Vec<u32> {
        (0..self.len() as u32)
            .filter(|&row| self.labels.is_known(row))
            .collect()
    }

    /// The names of the classes; empty when the labels are not classes.
    pub fn class_names(&self) -> &[String] {
        self.labels.class_names()
    }

    /// The chosen rows, in the order given, as a data set of the same name.
    ///
    /// # Panics
    /// When a row number is not below `self.len()`.
    pub fn select(&self, rows: &[u32]) -> Dataset {
        Dataset {
            name: self.name.clone(),
            features: self.features.select(rows),
            layout: self.layout.clone(),
            labels: self.labels.select(rows),
            ids: self.ids.as_ref().map(|ids| Ids {
                name: ids.name.clone(),
                of_row: rows
                    .iter()
                    .map(|&row| ids.of_row[row as usize].clone())
                    .collect(),
            }),
            origin: self.origin.clone(),
        }
    }

    /// Whether a cell is missing (NaN).
    pub fn has_missing(&self) -> bool {
        self.first_missing().is_some()
    }

    /// Row and column of the first missing cell.
    pub fn first_missing(&self) -> Option<(usize, usize)> {
        let missing = self.find(|_, value| value.is_nan().then_some(()))?;
        Some((missing.0, missing.1))
    }

    /// Row, column and value of the first value for which `problem` returns something.
    fn find<P>(&self, problem: impl Fn(usize, f32) -> Option<P>) -> Option<(usize, usize, f32, P)> {
        let width = self.width().max(1);
        self.features.blocks().find_map(|(first, rows)| {
            rows.values.iter().enumerate().find_map(|(place, &value)| {
                let column = place % width;
                Some((
                    first + place / width,
                    column,
                    value,
                    problem(column, value)?,
                ))
            })
        })
    }

    /// Fails at the first value that is infinite, not of its column's kind, or a missing pixel,
    /// naming its row and column.
    pub fn check_values(&self) -> Result<()> {
        self.check_scaled_values(|_| None)
    }

    /// Like [`Dataset::check_values`], and also fails at a number too far from those that a model
    /// was trained on: `scale` gives the mean and the standard deviation of a column, where it is
    /// standardised.
    pub fn check_scaled_values(&self, scale: impl Fn(usize) -> Option<(f32, f32)>) -> Result<()> {
        let too_far = |column: usize, value: f32| {
            let (mean, deviation) = scale(column)?;
            let is_far = (value - mean).abs() > FARTHEST * deviation;
            is_far.then_some(
                "is more than 1e12 standard deviations away from what the model was trained on, \
                 too far to be computed with",
            )
        };
        let problem = |column: usize, value: f32| match &self.layout {
            Layout::Columns(columns) => columns[column]
                .problem(value)
                .or_else(|| too_far(column, value)),
            Layout::Image { .. } => (!value.is_finite()).then_some("is not a finite number"),
        };
        match self.find(problem) {
            None => Ok(()),
            Some((row, column, value, problem)) => Err(DataError::BadValue {
                dataset: self.name.clone(),
                row,
                column: self.layout.column_name(column),
                value: match &self.layout {
                    Layout::Columns(columns) if columns[column].offset != 0.0 => {
                        columns[column].cell(value)
                    }
                    _ => format!("{value:?}"),
                },
                problem,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Matrix;

    fn two_columns(values: Vec<f32>) -> Dataset {
        let layout = Layout::Columns(vec!["age".into(), "height".into()]);
        let rows = values.len() / 2;
        let labels = Labels::Classes {
            names: vec!["no".into(), "yes".into()],
            of_row: (0..rows as u32)
                .map(|row| (row != 1).then_some(row % 2))
                .collect(),
        };
        Dataset::new(
            "people",
            Matrix::new(rows, 2, values).unwrap(),
            layout,
            labels,
        )
        .unwrap()
    }

    #[test]
    fn select_keeps_features_and_labels_together() {
        let data = two_columns(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let chosen = data.select(&[2, 1]);
        assert_eq!(chosen.features.matrix().values, [5.0, 6.0, 3.0, 4.0]);
        assert_eq!(chosen.labelled_rows(), [0]);
        assert_eq!(data.labelled_rows(), [0, 2]);
    }

    #[test]
    fn a_value_that_is_not_finite_is_named_and_a_missing_one_is_not() {
        let data = two_columns(vec![1.0, 2.0, 3.0, f32::INFINITY]);
        let message = data.check_values().unwrap_err().to_string();
        assert!(message.contains("row 1, column `height`"), "{message}");
        let gap = two_columns(vec![1.0, 2.0, 3.0, f32::NAN]);
        assert!(gap.check_values().is_ok() && gap.has_missing());
        assert!(!two_columns(vec![1.0, 2.0]).has_missing());
    }

    #[test]
    fn a_number_that_is_too_far_to_be_computed_with_is_named() {
        let data = two_columns(vec![1.0, 2.0, f32::NAN, 1e29]);
        data.check_values().unwrap();
        data.check_scaled_values(|column| (column == 0).then_some((0.0, 1.0)))
            .unwrap();
        data.check_scaled_values(|_| Some((0.0, 1e18))).unwrap();
        let message = data.check_scaled_values(|_| Some((0.0, 1.0))).unwrap_err();
        let message = message.to_string();
        assert!(
            message.contains("row 1, column `height`: 1e29 is more than"),
            "{message}"
        );
    }

    #[test]
    fn a_missing_pixel_is_refused() {
        let layout = Layout::Image {
            height: 1,
            width: 2,
            channels: 1,
        };
        let pixels = Matrix::new(1, 2, vec![0.5, f32::NAN]).unwrap();
        let data = Dataset::new("d", pixels, layout, Labels::None).unwrap();
        let message = data.check_values().unwrap_err().to_string();
        assert!(
            message.contains("row 0, column `pixel y=0 x=1`"),
            "{message}"
        );
    }

    #[test]
    fn ids_go_with_their_rows() {
        let mut data = two_columns(vec![1.0, 2.0, 3.0, 4.0]);
        data.ids = Some(Ids {
            name: "who".into(),
            of_row: vec!["ann".into(), "bob".into()],
        });
        assert_eq!(data.select(&[1]).ids.unwrap().of_row, ["bob"]);
    }

    #[test]
    fn parts_that_do_not_fit_are_refused() {
        let features = Matrix::new(1, 4, vec![0.0; 4]).unwrap();
        let layout = Layout::Image {
            height: 2,
            width: 3,
            channels: 1,
        };
        let message = Dataset::new("d", features, layout, Labels::None)
            .unwrap_err()
            .to_string();
        assert!(
            message.contains("4 values a row, but its layout describes 6"),
            "{message}"
        );
    }
}
