//! Reconstruction errors on rows that the model was not trained on.

use crate::error::Result;
use crate::infer::Reconstruction;
use crate::run::Trained;
use cpcvae_data::{ColumnKind, Dataset, Layout, Matrix};
use serde::Serialize;

/// A pixel above this is ink.
const INK: f32 = 0.5;

/// Figures of reconstructions: the mean of p(x|z) at the mean of q(z|x).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Reconstructed {
    /// Mean squared error of a value, in the data's units; pixels are from 0 to 1. Categories and
    /// missing cells do not count; `None` if there are no others.
    pub squared_error: Option<f64>,
    /// Sum of intensities over pixels above 0.5, as a share of the originals'; for images.
    pub ink: Option<f64>,
}

/// Measures unprepared rows.
pub(super) fn measure(trained: &Trained, rows: &Dataset) -> Result<Reconstructed> {
    let preprocess = &trained.card.preprocess;
    let prepared = preprocess.apply(rows.clone())?;
    let kind = Reconstruction::Mean;
    let made = trained.inference.reconstruct(&prepared.features, kind)?;
    let (made, original) = (preprocess.invert(made), rows.features.matrix());
    let is_image = matches!(preprocess.layout, Layout::Image { .. });
    Ok(Reconstructed {
        squared_error: squared_error(&preprocess.layout, &original, &made),
        ink: is_image
            .then(|| ink(&made) / ink(&original))
            .filter(|share| share.is_finite()),
    })
}

fn squared_error(layout: &Layout, original: &Matrix, made: &Matrix) -> Option<f64> {
    let counts = |place: usize| match layout {
        Layout::Columns(columns) => !matches!(columns[place].kind, ColumnKind::Category(_)),
        Layout::Image { .. } => true,
    };
    let (mut sum, mut number) = (0.0, 0usize);
    let width = original.columns.max(1);
    for (place, (a, b)) in original.values.iter().zip(&made.values).enumerate() {
        if counts(place % width) && !a.is_nan() {
            sum += f64::from(a - b).powi(2);
            number += 1;
        }
    }
    (number > 0).then(|| sum / number as f64)
}

fn ink(images: &Matrix) -> f64 {
    let inked = images.values.iter().filter(|value| **value > INK);
    // Starting at 0, since an empty float sum is -0, which would be printed with its sign.
    inked.fold(0.0, |sum, value| sum + f64::from(*value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_and_ink_are_counted_by_hand() {
        let matrix = |values: &[f32]| Matrix::new(1, 4, values.to_vec()).expect("fits");
        let layout = Layout::Image {
            height: 2,
            width: 2,
            channels: 1,
        };
        let original = matrix(&[1.0, 0.0, 0.4, 1.0]);
        let made = matrix(&[0.8, 0.2, 0.4, 0.4]);
        let error = squared_error(&layout, &original, &made).expect("values");
        assert!((error - (0.04 + 0.04 + 0.36) / 4.0).abs() < 1e-6, "{error}");
        assert!((ink(&made) / ink(&original) - 0.4).abs() < 1e-6);
        let gap = matrix(&[f32::NAN; 4]);
        assert_eq!(squared_error(&layout, &gap, &made), None);
    }
}
