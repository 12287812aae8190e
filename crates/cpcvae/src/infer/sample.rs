//! Sampling of new rows, of all classes or a chosen one.

use super::generative::{ClassModel, Generative};
use super::{Inference, to_vec};
use crate::distribution::Likelihood;
use crate::error::{Error, Remedy, Result};
use crate::model::{Target, Vae};
use crate::noise::{Noise, NoisePurpose};
use crate::objective::Prediction;
use burn::tensor::{Int, Tensor, TensorData};
use cpcvae_data::Matrix;

/// Where the codes of new rows are drawn from.
///
/// ```
/// # use cpcvae::prelude::*;
/// # let rows: Vec<[f32; 2]> =
/// #     (0..60).map(|i| [(i % 2 * 9 + i % 5) as f32, (i % 7) as f32]).collect();
/// # let labels = (0..60).map(|i| (i < 20).then_some(["low", "high"][i % 2]));
/// # let data = Dataset::from_rows(&rows, Labels::classes(labels))?;
/// let fitted = Pc::new().steps(50).hold_out(false).fit(&data)?;
/// let prior = SampleOptions { codes: CodeSource::Prior, ..SampleOptions::default() };
/// assert_eq!(fitted.sample_with(3, prior)?.rows, 3);
/// # Ok::<(), cpcvae::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CodeSource {
    /// The prior N(0, I), as in the paper.
    #[default]
    Prior,
    /// The mixture fitted to codes of training rows, if the model has one; the prior for models
    /// whose label is a latent variable.
    Fitted,
}

/// The acceptance threshold and limit of the rejection sampler.
#[derive(Clone, Copy, Debug)]
pub struct RejectionLimits {
    /// Where codes are drawn from.
    pub codes: CodeSource,
    /// A code is kept when the predictor gives the class at least this probability.
    pub threshold: f32,
    /// The most codes drawn for each class.
    pub draws: usize,
}

impl Default for RejectionLimits {
    fn default() -> Self {
        Self {
            codes: CodeSource::default(),
            threshold: 0.95,
            draws: 1_000_000,
        }
    }
}

/// Samples of one class.
#[derive(Clone, Debug)]
pub struct ClassSamples {
    /// Features in the model's units, `[rows, features]`.
    pub features: Matrix,
    /// Codes drawn until there were enough.
    pub drawn: usize,
    /// Share of the drawn codes that were accepted; 1 if the class is sampled directly, as in M2.
    pub acceptance: f64,
}

impl Inference {
    /// New rows: the likelihood's mean, or with `noisy` a draw from it.
    pub fn sample(&self, rows: usize, noisy: bool, codes: CodeSource) -> Result<Matrix> {
        let noise = Noise::new(self.seed, 0, &self.device);
        let decoded = match self.generative()? {
            Generative::Vae(vae) => vae.decode(self.codes(rows, None, codes, &noise)),
            Generative::OfClasses(model) => {
                // p(y) is uniform, so classes alternate.
                let number = self.shape.target.outputs().max(1);
                let classes: Vec<u32> = (0..rows).map(|i| (i % number) as u32).collect();
                self.decode_classes(model, &classes, &noise)
            }
        };
        let drawn = if noisy {
            decoded.draw(&noise)
        } else {
            decoded.mean()
        };
        Ok(self.matrix(rows, drawn))
    }

    /// Rows of one class. M2 and its variants draw from p(x|y); the others by the paper's rejection
    /// sampler: codes that the predictor assigns to the class with confidence.
    pub fn sample_class(
        &self,
        class: usize,
        rows: usize,
        noisy: bool,
        limits: RejectionLimits,
    ) -> Result<ClassSamples> {
        let samples = self.sample_class_up_to(class, rows, noisy, limits)?;
        let found = samples.features.rows;
        if found == rows {
            return Ok(samples);
        }
        let name = match &self.shape.target {
            Target::Classes(names) => &names[class],
            _ => "",
        };
        Err(Error::Mismatch(format!(
            "class `{name}` is too rare: {found} of {} drawn codes reach a probability of {}, but \
             {rows} samples are wanted; lower the threshold, ask for fewer samples, or allow more \
             draws",
            samples.drawn, limits.threshold
        ))
        .with_remedy(Remedy::RelaxRejection))
    }

    /// The same, with as many rows as were found when the limit on drawn codes was reached.
    pub(crate) fn sample_class_up_to(
        &self,
        class: usize,
        rows: usize,
        noisy: bool,
        limits: RejectionLimits,
    ) -> Result<ClassSamples> {
        let Target::Classes(names) = &self.shape.target else {
            return Err(Error::Mismatch(
                "this model has no classes to sample from".into(),
            ));
        };
        if class >= names.len() || rows == 0 {
            return Err(Error::Mismatch(format!(
                "{rows} samples of class {class} were asked for; there are {} classes, and at \
                 least one sample must be wanted",
                names.len()
            )));
        }
        let noise = Noise::new(self.seed, 1 + class as u64, &self.device);
        let (decoded, drawn) = match self.generative()? {
            Generative::Vae(vae) => match self.accepted_codes(vae, class, rows, limits) {
                (Some(z), drawn) => (vae.decode(z), drawn),
                (None, drawn) => {
                    return Ok(ClassSamples {
                        features: Matrix::new(0, self.shape.features, Vec::new())?,
                        drawn,
                        acceptance: 0.0,
                    });
                }
            },
            Generative::OfClasses(model) => {
                let classes = vec![class as u32; rows];
                (self.decode_classes(model, &classes, &noise), rows)
            }
        };
        let values = if noisy {
            decoded.draw(&noise)
        } else {
            decoded.mean()
        };
        let [found, _] = values.dims();
        Ok(ClassSamples {
            features: self.matrix(found, values),
            drawn,
            acceptance: found as f64 / drawn.max(1) as f64,
        })
    }

    /// Up to `rows` codes `[rows, code]` that the predictor assigns to `class`, `None` if none was
    /// found, and how many were drawn.
    fn accepted_codes(
        &self,
        vae: &Vae,
        class: usize,
        rows: usize,
        limits: RejectionLimits,
    ) -> (Option<Tensor<2>>, usize) {
        const DRAW: usize = 2000;
        let mut accepted: Vec<Tensor<2>> = Vec::new();
        let (mut kept, mut drawn) = (0, 0);
        while kept < rows && drawn < limits.draws {
            let noise = Noise::new(self.seed, 1_000 + (drawn / DRAW) as u64, &self.device);
            let z = self.codes(DRAW, Some(class), limits.codes, &noise);
            let probs = to_vec(Prediction::new(vae.predict(z.clone()), true).as_target());
            let mut chosen = Vec::new();
            for (row, probs) in probs.chunks_exact(self.shape.target.outputs()).enumerate() {
                if kept == rows || drawn == limits.draws {
                    break;
                }
                drawn += 1;
                if probs[class] >= limits.threshold {
                    chosen.push(row as i32);
                    kept += 1;
                }
            }
            if !chosen.is_empty() {
                let count = chosen.len();
                let chosen: Tensor<1, Int> =
                    Tensor::from_data(TensorData::new(chosen, [count]), &self.device);
                accepted.push(z.select(0, chosen));
            }
        }
        let accepted = (!accepted.is_empty()).then(|| Tensor::cat(accepted, 0));
        (accepted, drawn)
    }

    /// Codes `[rows, code]` of a VAE, from the prior or the mixture fitted to training rows, of the
    /// class or of all classes by their shares.
    fn codes(
        &self,
        rows: usize,
        class: Option<usize>,
        source: CodeSource,
        noise: &Noise,
    ) -> Tensor<2> {
        let shape = [rows, self.shape.code];
        let normal = noise.normal(NoisePurpose::Prior, shape);
        let Some(fitted) = self
            .fitted_codes
            .as_ref()
            .filter(|_| source == CodeSource::Fitted)
        else {
            return normal;
        };
        let chance = to_vec(noise.uniform(NoisePurpose::Levels, [rows, 1]));
        let mut values = to_vec(normal);
        let places = values.chunks_exact_mut(self.shape.code).zip(chance);
        for (code, chance) in places {
            fitted.place(fitted.component_at(class, chance), code);
        }
        Tensor::from_data(TensorData::new(values, shape), &self.device)
    }

    /// p(x|y,z) for rows of these classes at codes from the prior.
    fn decode_classes(&self, model: ClassModel<'_>, classes: &[u32], noise: &Noise) -> Likelihood {
        let rows = classes.len();
        let z = noise.normal(NoisePurpose::Prior, [rows, self.shape.code]);
        let y = self.one_hot(classes);
        match model {
            ClassModel::Label(model) => model.decode(z, y),
            ClassModel::Stacked(model) => {
                // Different noise from that of the features, which are drawn from z1.
                let z1 = model.labels().decode(z, y).draw(&noise.draw(1));
                model.features().decode(z1)
            }
            ClassModel::Auxiliary(model) => {
                let shape = [rows, model.auxiliary_code()];
                model.generate(z, y, noise.normal(NoisePurpose::Auxiliary, shape))
            }
        }
    }

    fn one_hot(&self, classes: &[u32]) -> Tensor<2> {
        let outputs = self.shape.target.outputs();
        let values = crate::objective::one_hot(classes, outputs);
        Tensor::from_data(
            TensorData::new(values, [classes.len(), outputs]),
            &self.device,
        )
    }

    fn matrix(&self, rows: usize, values: Tensor<2>) -> Matrix {
        Matrix {
            rows,
            columns: self.shape.features,
            values: to_vec(values),
        }
    }
}
