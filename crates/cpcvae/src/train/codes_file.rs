//! Where codes of training rows lie, as named tensors.

use super::{Parameters, TensorFile};
use crate::error::{Error, Result};
use crate::infer::FittedCodes;
use crate::model::Shape;
use std::path::Path;

impl TensorFile {
    /// Of fitted codes.
    pub fn of_codes(codes: FittedCodes) -> Self {
        let (classes, code) = (codes.shares.len(), codes.code);
        let tensors = [
            ("shares", vec![classes], codes.shares),
            ("means", vec![classes, code], codes.means),
            ("factors", vec![classes, code, code], codes.factors),
        ];
        let named = tensors.map(|(name, shape, values)| (name.to_string(), (shape, values)));
        Self {
            tensors: Parameters(named.into()),
            about: "{}".into(),
        }
    }

    /// Fitted codes for a model of this shape; `path` is the file's.
    pub fn codes(mut self, shape: &Shape, path: &Path) -> Result<FittedCodes> {
        let classes = match shape.target.is_classes() {
            true => shape.target.outputs(),
            false => 1,
        };
        let code = shape.code;
        let mut take = |name: &str, expected: &[usize]| match self.tensors.0.remove(name) {
            Some((found, values)) if found == expected => Ok(values),
            _ => Err(Error::file(
                path,
                format!(
                    "`{name}` does not fit the model; remove this file to draw samples from the \
                     prior, or train again"
                ),
            )),
        };
        Ok(FittedCodes {
            code,
            shares: take("shares", &[classes])?,
            means: take("means", &[classes, code])?,
            factors: take("factors", &[classes, code, code])?,
        })
    }
}
