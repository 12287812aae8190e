//! Rows asked about part by part, so that neither they nor the answers have to fit in memory.

use anyhow::Result;
use cpcvae::infer::{CHUNK, Inference};
use cpcvae_data::{Features, Matrix, Rows};

/// Consecutive rows, and the model that answers for them.
pub struct Part {
    /// The number of the first row.
    pub first: usize,
    /// The prepared rows.
    pub features: Matrix,
    /// Calibration as it would if asked about all rows at once.
    pub inference: Inference,
}

/// Asks `answer` for the lines of each part in turn.
pub fn lines<'a>(
    inference: &'a Inference,
    features: &'a Features,
    mut answer: impl FnMut(Part) -> Result<Vec<Vec<String>>> + 'a,
) -> impl Iterator<Item = Result<Vec<String>>> + 'a {
    let rows = features.rows();
    (0..rows.div_ceil(CHUNK)).flat_map(move |chunk| {
        let first = chunk * CHUNK;
        let answered = answer(Part {
            first,
            features: features.part(first..rows.min(first + CHUNK)),
            inference: inference.at_chunk(chunk),
        });
        match answered {
            Ok(lines) => lines.into_iter().map(Ok).collect(),
            Err(error) => vec![Err(error)],
        }
    })
}
