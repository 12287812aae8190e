//! Columns standardised to mean 0 and standard deviation 1.

use crate::{DataError, Matrix, Result, Rows};
use serde::{Deserialize, Serialize};

/// The mean and scale of each column, as found on the training rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Standardizer {
    /// What is subtracted from each column.
    pub mean: Vec<f32>,
    /// Each column is then divided by this; 1 for a constant column.
    pub scale: Vec<f32>,
}

impl Standardizer {
    /// Measures the columns over the given rows (the training rows only, so
    /// that nothing of validation or test data leaks into them). Missing cells
    /// (NaN) do not count; a column without known cells keeps its values.
    pub fn fit(features: &dyn Rows, rows: &[u32]) -> Result<Standardizer> {
        if rows.is_empty() {
            return Err(DataError::Shape(
                "there are no rows to standardise by".into(),
            ));
        }
        if let Some(row) = rows.iter().find(|&&row| row as usize >= features.rows()) {
            return Err(DataError::Shape(format!(
                "row {row} was asked for, but there are only {} rows",
                features.rows()
            )));
        }
        let average = |of: &dyn Fn(usize, f64) -> f64| -> Vec<f64> {
            let mut sums = vec![(0.0, 0u32); features.columns()];
            let mut values = vec![0.0; features.columns()];
            for &row in rows {
                features.read(row as usize, &mut values);
                for (column, &value) in values.iter().enumerate() {
                    if !value.is_nan() {
                        sums[column].0 += of(column, f64::from(value));
                        sums[column].1 += 1;
                    }
                }
            }
            let mean = |(sum, known): &(f64, u32)| sum / f64::from((*known).max(1));
            sums.iter().map(mean).collect()
        };
        // Two passes in f64: the one-pass formula loses precision for a column whose mean is large
        // against its spread.
        let mean = average(&|_, value| value);
        let variance = average(&|column, value| (value - mean[column]).powi(2));
        let scale = mean.iter().zip(variance).map(|(mean, variance)| {
            let deviation = variance.sqrt();
            // The deviation of a constant column is rounding error, not spread.
            let constant = deviation <= f64::from(f32::EPSILON) * mean.abs() || deviation < 1e-30;
            if constant { 1.0 } else { deviation as f32 }
        });
        Ok(Standardizer {
            scale: scale.collect(),
            mean: mean.iter().map(|&mean| mean as f32).collect(),
        })
    }

    /// Standardises all rows in place.
    pub fn apply(&self, features: &mut Matrix) -> Result<()> {
        if features.columns != self.mean.len() || self.scale.len() != self.mean.len() {
            return Err(DataError::Shape(format!(
                "the standardiser was fitted on {} columns, but the data have {}",
                self.mean.len(),
                features.columns
            )));
        }
        for row in features.values.chunks_exact_mut(self.mean.len().max(1)) {
            self.apply_row(row);
        }
        Ok(())
    }

    /// Standardises one row in place.
    pub fn apply_row(&self, row: &mut [f32]) {
        for ((value, mean), scale) in row.iter_mut().zip(&self.mean).zip(&self.scale) {
            *value = (*value - mean) / scale;
        }
    }

    /// Takes one standardised row back to the units of the data, in place.
    pub fn invert_row(&self, row: &mut [f32]) {
        for ((value, mean), scale) in row.iter_mut().zip(&self.mean).zip(&self.scale) {
            *value = *value * scale + mean;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_given_rows_are_measured() {
        let mut data = Matrix::new(3, 2, vec![1.0, 7.0, 3.0, 7.0, 100.0, 9.0]).unwrap();
        let fitted = Standardizer::fit(&data, &[0, 1]).unwrap();
        assert_eq!(fitted.mean, [2.0, 7.0]);
        assert_eq!(
            fitted.scale,
            [1.0, 1.0],
            "the constant column keeps its scale"
        );
        fitted.apply(&mut data).unwrap();
        assert_eq!(data.values, [-1.0, 0.0, 1.0, 0.0, 98.0, 2.0]);
        let mut row = data.row(2).to_vec();
        fitted.invert_row(&mut row);
        assert_eq!(row, [100.0, 9.0]);
    }

    #[test]
    fn missing_cells_do_not_count_and_stay_missing() {
        let nan = f32::NAN;
        let mut data = Matrix::new(3, 2, vec![1.0, nan, nan, nan, 3.0, nan]).unwrap();
        let fitted = Standardizer::fit(&data, &[0, 1, 2]).unwrap();
        assert_eq!(
            (fitted.mean.as_slice(), fitted.scale.as_slice()),
            (&[2.0, 0.0][..], &[1.0, 1.0][..])
        );
        fitted.apply(&mut data).unwrap();
        assert_eq!((data.values[0], data.values[4]), (-1.0, 1.0));
        assert!(data.values[2].is_nan());
    }

    #[test]
    fn a_large_mean_does_not_hide_the_spread() {
        let data = Matrix::new(2, 1, vec![1_000_000.0, 1_000_004.0]).unwrap();
        assert_eq!(Standardizer::fit(&data, &[0, 1]).unwrap().scale, [2.0]);
        let tenths = Matrix::new(3, 1, vec![0.1; 3]).unwrap();
        assert_eq!(Standardizer::fit(&tenths, &[0, 1, 2]).unwrap().scale, [1.0]);
    }

    #[test]
    fn misfits_are_refused() {
        let mut data = Matrix::new(1, 2, vec![1.0, 2.0]).unwrap();
        assert!(Standardizer::fit(&data, &[]).is_err());
        assert!(Standardizer::fit(&data, &[1]).is_err());
        let narrow = Standardizer {
            mean: vec![0.0],
            scale: vec![1.0],
        };
        let message = narrow.apply(&mut data).unwrap_err().to_string();
        assert!(
            message.contains("fitted on 1 columns, but the data have 2"),
            "{message}"
        );
    }
}
