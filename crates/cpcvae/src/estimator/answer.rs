//! Other methods of a fitted model: codes, scores, samples, imputation, suggested rows.

use super::{AsRows, Fitted};
use crate::error::{Error, Result};
use crate::infer::{
    CodeSource, Codes, Evaluation, Filling, Reconstruction, RejectionLimits, Scores,
};
use cpcvae_data::{Dataset, Layout, Matrix};

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
    /// Means and standard deviations of q(z|x).
    pub fn encode<R: AsRows + ?Sized>(&self, rows: &R) -> Result<Codes> {
        let columns = self.card().shape.code;
        let empty = || Matrix {
            rows: 0,
            columns,
            values: Vec::new(),
        };
        let mut all = Codes {
            mean: empty(),
            sigma: empty(),
        };
        for part in self.encode_parts(&rows.as_rows(self.layout())?)? {
            let part = part?;
            append(&mut all.mean, part.mean);
            append(&mut all.sigma, part.sigma);
        }
        Ok(all)
    }

    /// The same in parts.
    pub fn encode_parts<'a>(
        &'a self,
        rows: &Dataset,
    ) -> Result<impl Iterator<Item = Result<Codes>> + 'a> {
        let prepared = self.card().preprocess.apply(rows.clone())?;
        let parts = self.parts(prepared.features);
        Ok(parts.map(|part| part.inference.encode(&part.features)))
    }

    /// Lower bounds of log p(x) and importance-weighted estimates of it, in the user's units, from
    /// `draws` draws of the code.
    pub fn score<R: AsRows + ?Sized>(&self, rows: &R, draws: usize) -> Result<Scores> {
        let mut all = Scores {
            elbo: Vec::new(),
            log_likelihood: Vec::new(),
        };
        for part in self.score_parts(&rows.as_rows(self.layout())?, draws)? {
            let part = part?;
            all.elbo.extend(part.elbo);
            all.log_likelihood.extend(part.log_likelihood);
        }
        Ok(all)
    }

    /// The same in parts.
    pub fn score_parts<'a>(
        &'a self,
        rows: &Dataset,
        draws: usize,
    ) -> Result<impl Iterator<Item = Result<Scores>> + 'a> {
        let preprocess = &self.card().preprocess;
        let prepared = preprocess.apply(rows.clone())?;
        Ok(self.parts(prepared.features).map(move |part| {
            let mut scores = part.inference.score(&part.features, draws)?;
            for row in 0..part.features.rows {
                let shift = preprocess.log_density_shift(part.features.row(row));
                scores.elbo[row] += shift;
                scores.log_likelihood[row] += shift;
            }
            Ok(scores)
        }))
    }

    /// Reconstructions of rows in the user's units.
    pub fn reconstruct<R: AsRows + ?Sized>(
        &self,
        rows: &R,
        kind: Reconstruction,
    ) -> Result<Matrix> {
        let preprocess = &self.card().preprocess;
        let prepared = preprocess.apply(rows.as_rows(self.layout())?)?;
        let made = self
            .trained
            .inference
            .reconstruct(&prepared.features, kind)?;
        Ok(preprocess.invert(made))
    }

    /// Decodes codes `[rows, code]` to rows in the user's units: the inverse of [`Fitted::encode`].
    pub fn decode(&self, codes: &Matrix) -> Result<Matrix> {
        let made = self.trained.inference.decode(codes)?;
        Ok(self.card().preprocess.invert(made))
    }

    /// Evaluates the model on rows whose labels are known: its calibrated predictions, and the
    /// evidence.
    pub fn evaluate(&self, rows: &Dataset) -> Result<Evaluation> {
        let preprocess = &self.card().preprocess;
        let prepared = preprocess.apply(rows.clone())?;
        let inference = &self.trained.inference;
        let temperature = self.calibration.temperature;
        let evaluation = match &self.ensemble {
            None => inference.evaluate_at(&prepared, temperature),
            Some(_) => {
                let outputs = self.ensemble_outputs(&prepared)?;
                inference.evaluate_each_class(outputs, &prepared, temperature)
            }
        };
        let evaluation = inference.with_evidence(evaluation, &prepared);
        Ok(preprocess.in_user_units(evaluation, &prepared.features))
    }

    /// The ensemble's output for prepared rows: class probabilities before calibration, or
    /// continuous labels in the network's units.
    pub(super) fn ensemble_outputs(&self, prepared: &Dataset) -> Result<Matrix> {
        let outputs = self.trained.inference.predict(&prepared.features, 0)?;
        let features = prepared.features.matrix();
        Ok(self.with_members(outputs, &features, &prepared.layout)?.0)
    }

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

    /// Imputes missing cells (NaN); other cells are unchanged up to rounding.
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

fn append(all: &mut Matrix, more: Matrix) {
    all.rows += more.rows;
    all.values.extend(more.values);
}
