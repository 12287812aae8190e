//! Imputation of missing cells.

use super::parts::append;
use super::{AsRows, Fitted};
use crate::error::{Error, Result};
use crate::infer::Filling;
use cpcvae_data::{Dataset, Layout, Matrix};

/// Rows with missing cells imputed.
///
/// ```
/// use cpcvae::prelude::*;
/// # let rows: Vec<[f32; 2]> =
/// #     (0..60).map(|i| [(i % 2 * 9 + i % 5) as f32, (i % 7) as f32]).collect();
/// # let labels = (0..60).map(|i| (i < 20).then_some(["low", "high"][i % 2]));
/// # let data = Dataset::from_rows(&rows, Labels::classes(labels))?;
/// let pc = Pc::new().steps(50).hold_out(false).set("model.missing_cells", true);
/// let filled = pc.fit(&data)?.impute(&[[f32::NAN, 3.0]], Filling::Mean, 10)?;
/// assert_eq!(filled.filled, 1);
/// assert!(filled.rows.values[0].is_finite());
/// # Ok::<(), cpcvae::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Imputed {
    /// The rows in the user's units, without a missing cell.
    pub rows: Matrix,
    /// Number of cells that were imputed.
    pub filled: usize,
}

impl Fitted {
    /// Imputes missing cells (NaN); other cells are unchanged up to rounding. The usual number of
    /// iterations is [`IMPUTE_ITERATIONS`](crate::infer::IMPUTE_ITERATIONS).
    pub fn impute<R: AsRows + ?Sized>(
        &self,
        rows: &R,
        filling: Filling,
        iterations: usize,
    ) -> Result<Imputed> {
        let rows = rows.as_rows(self.layout())?;
        let gaps = rows.features.matrix();
        let mut all = Matrix {
            rows: 0,
            columns: self.layout().width(),
            values: Vec::new(),
        };
        for part in self.impute_parts(&rows, filling, iterations)? {
            append(&mut all, part?);
        }
        let mut filled = 0;
        for (cell, before) in all.values.iter_mut().zip(&gaps.values) {
            match before.is_nan() {
                true => filled += 1,
                false => *cell = *before,
            }
        }
        Ok(Imputed { rows: all, filled })
    }

    /// The same in parts; known cells are converted to the model's units and back.
    pub fn impute_parts<'a>(
        &'a self,
        rows: &Dataset,
        filling: Filling,
        iterations: usize,
    ) -> Result<impl Iterator<Item = Result<Matrix>> + 'a> {
        let preprocess = &self.card().preprocess;
        if let Layout::Image { .. } = preprocess.layout {
            return Err(Error::Mismatch(
                "missing cells are filled in tables, and this model was trained on images".into(),
            ));
        }
        let prepared = preprocess.apply_with_gaps(rows.clone())?;
        Ok(self.parts(prepared.features).map(move |part| {
            let filled = match &self.nearest {
                Some(nearest) => {
                    let seed = part.inference.seed();
                    nearest.fill(&part.features, filling, seed, part.first)
                }
                None => part.inference.impute(&part.features, filling, iterations)?,
            };
            Ok(preprocess.invert(filled))
        }))
    }
}
