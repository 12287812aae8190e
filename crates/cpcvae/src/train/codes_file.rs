//! The mixture fitted to codes of training rows, as named tensors.

use super::{Parameters, TensorFile};
use crate::error::{Error, Result};
use crate::infer::FittedCodes;
use crate::model::Shape;
use std::path::Path;

/// A limit above the components of any class; a file with more is damaged.
const MOST_COMPONENTS: usize = 1 << 16;

impl TensorFile {
    /// Of fitted codes.
    pub(crate) fn of_codes(codes: FittedCodes) -> Self {
        let (classes, all, code) = (codes.components.len(), codes.shares.len(), codes.code);
        let counts = codes.components.iter().map(|count| *count as f32).collect();
        let tensors = [
            ("components", vec![classes], counts),
            ("shares", vec![all], codes.shares),
            ("means", vec![all, code], codes.means),
            ("factors", vec![all, code, code], codes.factors),
        ];
        let named = tensors.map(|(name, shape, values)| (name.to_string(), (shape, values)));
        Self {
            tensors: Parameters(named.into()),
            about: "{}".into(),
        }
    }

    /// Fitted codes for a model of this shape; `path` is the file's. Files of earlier versions lack
    /// the number of components of a class: one.
    pub fn codes(self, shape: &Shape, path: &Path) -> Result<FittedCodes> {
        let classes = match shape.target.is_classes() {
            true => shape.target.outputs(),
            false => 1,
        };
        self.codes_of(classes, shape.code, path)
    }

    fn codes_of(mut self, classes: usize, code: usize, path: &Path) -> Result<FittedCodes> {
        let has_counts = self.tensors.0.contains_key("components");
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
        let components: Vec<usize> = match has_counts {
            // Validated by the sizes of the tensors that follow; a class has at least one.
            true => take("components", &[classes])?
                .iter()
                .map(|count| (*count as usize).clamp(1, MOST_COMPONENTS))
                .collect(),
            false => vec![1; classes],
        };
        let all = components.iter().sum();
        Ok(FittedCodes {
            code,
            components,
            shares: take("shares", &[all])?,
            means: take("means", &[all, code])?,
            factors: take("factors", &[all, code, code])?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(components: Vec<usize>) -> FittedCodes {
        let all: usize = components.iter().sum();
        let numbers = |count: usize| (0..count).map(|i| i as f32).collect::<Vec<f32>>();
        FittedCodes {
            code: 2,
            components,
            shares: numbers(all),
            means: numbers(2 * all),
            factors: numbers(4 * all),
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let written = codes(vec![1, 4, 2]);
        let read = TensorFile::of_codes(written.clone()).codes_of(3, 2, Path::new("codes"));
        assert_eq!(read.expect("fits"), written);
    }

    /// Versions before mixtures wrote one normal distribution for each class and no counts.
    #[test]
    fn files_of_before_have_one_component_a_class() {
        let expected = codes(vec![1, 1, 1]);
        let mut file = TensorFile::of_codes(expected.clone());
        file.tensors.0.remove("components");
        let read = file.codes_of(3, 2, Path::new("codes"));
        assert_eq!(read.expect("fits"), expected);
    }

    #[test]
    fn codes_of_another_model_are_refused() {
        let file = || TensorFile::of_codes(codes(vec![2, 1]));
        for (classes, code) in [(3, 2), (2, 3), (1, 2)] {
            let problem = file().codes_of(classes, code, Path::new("codes"));
            let problem = problem.expect_err("does not fit").to_string();
            assert!(problem.contains("does not fit the model"), "{problem}");
        }
        let mut damaged = file();
        let counts = (vec![2], vec![f32::NAN, 1e30]);
        damaged.tensors.0.insert("components".into(), counts);
        assert!(damaged.codes_of(2, 2, Path::new("codes")).is_err());
    }
}
