//! Out-of-fold predictions.

use cpcvae_data::Matrix;

/// Predictions for rows whose labels were held out.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldOut {
    /// Row numbers; each row appears once a repeat.
    pub rows: Vec<u32>,
    /// Class probabilities, or continuous labels in the user's units, `[rows, outputs]`.
    pub outputs: Matrix,
}

impl HeldOut {
    /// Without rows.
    pub fn empty(outputs: usize) -> Self {
        Self {
            rows: Vec::new(),
            outputs: Matrix {
                rows: 0,
                columns: outputs,
                values: Vec::new(),
            },
        }
    }

    /// The same rows with other outputs.
    pub(crate) fn with_values(&self, values: Vec<f32>) -> Self {
        Self {
            rows: self.rows.clone(),
            outputs: Matrix {
                values,
                ..self.outputs.clone()
            },
        }
    }

    /// Appends the rows of another part.
    pub fn extend(&mut self, other: HeldOut) {
        self.rows.extend(other.rows);
        self.outputs.rows += other.outputs.rows;
        self.outputs.values.extend(other.outputs.values);
    }
}
