//! Rows processed in parts, so that neither they nor the results have to fit in memory.

use super::Fitted;
use crate::infer::{CHUNK, Inference};
use cpcvae_data::{Features, Matrix, Rows};

/// Consecutive prepared rows, and the inference for them.
pub(super) struct Part {
    /// The number of the first row.
    pub first: usize,
    /// The prepared rows.
    pub features: Matrix,
    /// Gives the same results as for all rows at once.
    pub inference: Inference,
}

impl Fitted {
    /// The parts of prepared rows, in order.
    pub(super) fn parts(&self, features: Features) -> impl Iterator<Item = Part> + '_ {
        let rows = features.rows();
        (0..rows.div_ceil(CHUNK)).map(move |chunk| {
            let first = chunk * CHUNK;
            Part {
                first,
                features: features.part(first..rows.min(first + CHUNK)),
                inference: self.trained.inference.at_chunk(chunk),
            }
        })
    }
}

/// Appends the rows of a part.
pub(super) fn append(all: &mut Matrix, more: Matrix) {
    all.rows += more.rows;
    all.values.extend(more.values);
}
