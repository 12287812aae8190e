//! Codes, scores, reconstructions and evaluation of rows.

use super::parts::append;
use super::{AsRows, Fitted};
use crate::error::Result;
use crate::infer::{Codes, Evaluation, Reconstruction, Scores};
use cpcvae_data::{Dataset, Matrix};

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
}
