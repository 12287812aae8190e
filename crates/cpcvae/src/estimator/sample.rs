//! Sampling of new rows.

use super::Fitted;
use crate::error::{Error, Result};
use crate::infer::{CodeSource, RejectionLimits};
use cpcvae_data::Matrix;

/// How new rows are drawn.
///
/// ```
/// # use cpcvae::prelude::*;
/// # let rows: Vec<[f32; 2]> =
/// #     (0..60).map(|i| [(i % 2 * 9 + i % 5) as f32, (i % 7) as f32]).collect();
/// # let labels = (0..60).map(|i| (i < 20).then_some(["low", "high"][i % 2]));
/// # let data = Dataset::from_rows(&rows, Labels::classes(labels))?;
/// let fitted = Pc::new().steps(50).hold_out(false).fit(&data)?;
/// let noisy = SampleOptions { noisy: true, ..SampleOptions::default() };
/// assert_eq!(fitted.sample_with(5, noisy)?.rows, 5);
/// # Ok::<(), cpcvae::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampleOptions {
    /// Where codes are drawn from.
    pub codes: CodeSource,
    /// Whether rows are draws from the likelihood; otherwise its means.
    pub noisy: bool,
    /// A code counts as one of the class at this predicted probability.
    pub threshold: f32,
    /// The most codes drawn for each class.
    pub most_codes: usize,
}

impl Default for SampleOptions {
    fn default() -> Self {
        let limits = RejectionLimits::default();
        Self {
            codes: CodeSource::Fitted,
            noisy: false,
            threshold: limits.threshold,
            most_codes: limits.draws,
        }
    }
}

/// New rows of a class.
///
/// ```
/// # use cpcvae::prelude::*;
/// # let rows: Vec<[f32; 2]> =
/// #     (0..60).map(|i| [(i % 2 * 9 + i % 5) as f32, (i % 7) as f32]).collect();
/// # let labels = (0..60).map(|i| (i < 20).then_some(["low", "high"][i % 2]));
/// # let data = Dataset::from_rows(&rows, Labels::classes(labels))?;
/// let fitted = Pc::new().steps(50).hold_out(false).fit(&data)?;
/// let options = SampleOptions { threshold: 0.4, ..SampleOptions::default() };
/// let made = fitted.sample_class("low", 5, options)?;
/// assert_eq!((made.rows.rows, made.rows.columns), (5, 2));
/// # Ok::<(), cpcvae::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SampledClass {
    /// The rows in the user's units.
    pub rows: Matrix,
    /// Codes that were drawn for them.
    pub drawn: usize,
    /// Share of these that were accepted.
    pub acceptance: f64,
}

impl Fitted {
    /// New rows in the user's units, of all classes.
    pub fn sample(&self, rows: usize) -> Result<Matrix> {
        self.sample_with(rows, SampleOptions::default())
    }

    /// The same with options.
    pub fn sample_with(&self, rows: usize, options: SampleOptions) -> Result<Matrix> {
        let drawn = self
            .trained
            .inference
            .sample(rows, options.noisy, options.codes)?;
        Ok(self.card().preprocess.invert(drawn))
    }

    /// New rows of a class.
    pub fn sample_class(
        &self,
        class: &str,
        rows: usize,
        options: SampleOptions,
    ) -> Result<SampledClass> {
        let threshold = options.threshold;
        if !(threshold > 0.0 && threshold <= 1.0) {
            return Err(Error::Mismatch(format!(
                "the threshold is {threshold}; a probability is above 0 and at most 1"
            )));
        }
        let limits = RejectionLimits {
            codes: options.codes,
            threshold,
            draws: options.most_codes,
        };
        let inference = &self.trained.inference;
        let samples = inference.sample_class(self.class(class)?, rows, options.noisy, limits)?;
        Ok(SampledClass {
            rows: self.card().preprocess.invert(samples.features),
            drawn: samples.drawn,
            acceptance: samples.acceptance,
        })
    }

    /// The index of a class.
    fn class(&self, name: &str) -> Result<usize> {
        let classes = self.classes();
        if classes.is_empty() {
            return Err(Error::Mismatch("this model predicts no classes".into()));
        }
        let place = classes.iter().position(|class| class == name);
        place.ok_or_else(|| {
            Error::Mismatch(format!(
                "the model has no class `{name}`; its classes are: {}",
                classes.join(", ")
            ))
        })
    }
}
