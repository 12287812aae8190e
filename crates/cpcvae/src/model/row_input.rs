//! The input of a network for a row: missing cells as 0, plus indicators of missing cells.

use super::Shape;
use burn::tensor::{Int, Tensor, TensorData};

/// From rows of features to the inputs of a network.
#[derive(Clone, Debug, Default)]
pub struct RowInput {
    features: usize,
    /// Positions of cells that can be missing; `None` if rows never have missing cells.
    can_be_missing: Option<Vec<usize>>,
}

impl RowInput {
    /// As the shape says.
    pub fn new(shape: &Shape) -> Self {
        Self {
            features: shape.features,
            can_be_missing: shape.row.as_ref().map(|row| row.can_be_missing.clone()),
        }
    }

    /// Number of inputs of the network.
    pub fn inputs(&self) -> usize {
        self.features + self.can_be_missing.as_ref().map_or(0, Vec::len)
    }

    /// `x [rows, features]` to `[rows, inputs]`: a missing cell (NaN) becomes 0, which is the mean
    /// of a number and no level of a category; after the features follows an indicator for each
    /// column, 1 if its cell is missing. Rows that never have missing cells are passed on
    /// unchanged.
    pub fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        let Some(places) = &self.can_be_missing else {
            return x;
        };
        let missing = x.clone().is_nan();
        let filled = x.mask_fill(missing.clone(), 0.0);
        if places.is_empty() {
            return filled;
        }
        let indices: Vec<i32> = places.iter().map(|place| *place as i32).collect();
        let indices = TensorData::new(indices, [places.len()]);
        let indices: Tensor<1, Int> = Tensor::from_data(indices, &filled.device());
        Tensor::cat(vec![filled, missing.float().select(1, indices)], 1)
    }

    /// `made [rows, features]` with cells missing where they are in `x`, so that generated rows
    /// have the same missing cells.
    pub fn missing_as_in(&self, made: Tensor<2>, x: Tensor<2>) -> Tensor<2> {
        match self.can_be_missing {
            Some(_) => made.mask_fill(x.is_nan(), f32::NAN),
            None => made,
        }
    }
}
