//! Predicted labels and their probabilities.

use super::{Inference, to_vec};
use crate::error::{Error, Result};
use crate::model::{Model, Posterior, Vae};
use crate::noise::{Noise, NoisePurpose};
use crate::objective::Prediction;
use burn::tensor::Tensor;
use cpcvae_data::{Matrix, Rows};

impl Inference {
    /// Class probabilities, or continuous labels in the model's units, `[rows, outputs]`.
    ///
    /// With `samples = 0` the code is the mean of q(z|x); otherwise predictions are averaged over
    /// that many draws of the code. For ADGM and SDGM this is the auxiliary variable.
    pub fn predict(&self, features: &dyn Rows, samples: usize) -> Result<Matrix> {
        if self.shape.target.outputs() == 0 {
            return Err(Error::Mismatch(
                "a model of the method `vae` does not predict labels; train `vae-then-mlp`, `pc` \
                 or `cpc` for that"
                    .into(),
            ));
        }
        Ok(self.outputs(features, samples))
    }

    /// The same for a model that is known to predict.
    pub(super) fn outputs(&self, features: &dyn Rows, samples: usize) -> Matrix {
        let columns = self.shape.target.outputs();
        let mut values = Vec::with_capacity(features.rows() * columns);
        self.for_chunks(features, |x, noise| {
            values.extend(to_vec(self.predict_chunk(x, samples, &noise)));
        });
        Matrix {
            rows: features.rows(),
            columns,
            values,
        }
    }

    /// The same for codes `[rows, code]`; only for models that predict from codes.
    pub fn predict_codes(&self, codes: &dyn Rows) -> Result<Matrix> {
        let columns = self.shape.target.outputs();
        let predict: Box<dyn Fn(Tensor<2>) -> Tensor<2> + '_> = match &self.model {
            Model::Vae(vae) => Box::new(|z| self.predict_code(vae, z)),
            Model::StackedVae(model) => Box::new(|z| model.labels().predict(z).probs()),
            _ => {
                return Err(Error::Mismatch(
                    "this model predicts from features, not from codes".into(),
                ));
            }
        };
        if columns == 0 || codes.columns() != self.shape.code {
            return Err(Error::Mismatch(format!(
                "codes of {} dimensions cannot be given to a predictor of {} outputs on {}",
                codes.columns(),
                columns,
                self.shape.code
            )));
        }
        let mut values = Vec::with_capacity(codes.rows() * columns);
        self.for_chunks(codes, |z, _| values.extend(to_vec(predict(z))));
        Ok(Matrix {
            rows: codes.rows(),
            columns,
            values,
        })
    }

    /// The output of the last hidden layer of a `labels-only` or `vat` network, `[rows, units]`.
    pub(crate) fn last_hidden(&self, features: &dyn Rows) -> Result<Matrix> {
        let Model::Classifier(model) = &self.model else {
            return Err(Error::Mismatch(
                "only a `labels-only` or `vat` model has a last hidden layer before its classes"
                    .into(),
            ));
        };
        let mut values = Vec::new();
        self.for_chunks(features, |x, _| {
            values.extend(to_vec(model.last_hidden(x)));
        });
        let columns = values.len() / features.rows().max(1);
        Ok(Matrix {
            rows: features.rows(),
            columns,
            values,
        })
    }

    fn predict_chunk(&self, x: Tensor<2>, samples: usize, noise: &Noise) -> Tensor<2> {
        match &self.model {
            Model::Vae(vae) => averaged(&vae.encode(x), samples, noise, |z| {
                self.predict_code(vae, z)
            }),
            Model::StackedVae(model) => {
                let posterior = model.features().encode(x);
                averaged(&posterior, samples, noise, |z| {
                    model.labels().predict(z).probs()
                })
            }
            Model::AuxiliaryVae(model) => {
                let posterior = model.auxiliary(x.clone());
                averaged(&posterior, samples, noise, |a| {
                    model.classify(x.clone(), a).probs()
                })
            }
            Model::LabelVae(model) => model.predict(x).probs(),
            Model::Classifier(model) => {
                let classes = self.shape.target.is_classes();
                Prediction::new(model.predict(x), classes).as_target()
            }
        }
    }

    /// A VAE's prediction from codes `[rows, code]`.
    fn predict_code(&self, vae: &Vae, z: Tensor<2>) -> Tensor<2> {
        let classes = self.shape.target.is_classes();
        Prediction::new(vae.predict(z), classes).as_target()
    }
}

/// `predict` at the mean of the latent variable, or averaged over draws of it.
fn averaged(
    posterior: &Posterior,
    samples: usize,
    noise: &Noise,
    predict: impl Fn(Tensor<2>) -> Tensor<2>,
) -> Tensor<2> {
    let mean = posterior.mean();
    if samples == 0 {
        return predict(mean);
    }
    (0..samples)
        .map(|draw| {
            // Chunks use the low bits, draws the high bits.
            let noise = noise
                .draw(draw)
                .normal(NoisePurpose::Evaluation, mean.dims());
            predict(posterior.sample_kl(noise).0)
        })
        .reduce(|sum, draw| sum + draw)
        .expect("at least one sample")
        .div_scalar(samples as f64)
}
