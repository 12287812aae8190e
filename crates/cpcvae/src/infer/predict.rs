//! Labels and their probabilities.

use super::{Inference, to_vec};
use crate::error::{Error, Result};
use crate::model::Model;
use crate::noise::{Noise, Purpose};
use crate::objective::Prediction;
use burn::tensor::Tensor;
use cpcvae_data::{Matrix, Rows};

impl Inference {
    /// Class probabilities, or continuous labels in the model's units, `[rows, outputs]`.
    ///
    /// With `samples = 0` the code is the mean of q(z|x); otherwise predictions are averaged over
    /// that many draws of the code.
    pub fn predict(&self, features: &dyn Rows, samples: usize) -> Result<Matrix> {
        let columns = self.shape.target.outputs();
        if columns == 0 {
            return Err(Error::Mismatch(
                "a model of the method `vae` does not predict labels; train `vae-then-mlp`, `pc` \
                 or `cpc` for that"
                    .into(),
            ));
        }
        let mut values = Vec::with_capacity(features.rows() * columns);
        self.for_chunks(features, |x, noise| {
            values.extend(to_vec(self.predict_chunk(x, samples, &noise)));
        });
        Ok(Matrix {
            rows: features.rows(),
            columns,
            values,
        })
    }

    /// The same for codes `[rows, code]`; only for models that predict from codes.
    pub fn predict_codes(&self, codes: &dyn Rows) -> Result<Matrix> {
        let columns = self.shape.target.outputs();
        let Model::Vae(vae) = &self.model else {
            return Err(Error::Mismatch(
                "this model predicts from features, not from codes".into(),
            ));
        };
        if columns == 0 || codes.columns() != self.shape.code {
            return Err(Error::Mismatch(format!(
                "codes of {} dimensions cannot be given to a predictor of {} outputs on {}",
                codes.columns(),
                columns,
                self.shape.code
            )));
        }
        let classes = self.shape.target.is_classes();
        let mut values = Vec::with_capacity(codes.rows() * columns);
        self.for_chunks(codes, |z, _| {
            let outputs = Prediction::new(vae.predict(z), classes);
            values.extend(to_vec(outputs.as_target()));
        });
        Ok(Matrix {
            rows: codes.rows(),
            columns,
            values,
        })
    }

    fn predict_chunk(&self, x: Tensor<2>, samples: usize, noise: &Noise) -> Tensor<2> {
        let classes = self.shape.target.is_classes();
        let of_outputs = |outputs| Prediction::new(outputs, classes).as_target();
        match &self.model {
            Model::Vae(vae) => {
                let posterior = vae.encode(x);
                if samples == 0 {
                    return of_outputs(vae.predict(posterior.mean()));
                }
                let [rows, code] = posterior.mean().dims();
                (0..samples)
                    .map(|draw| {
                        // Chunks use the low numbers, draws the high ones.
                        let noise = noise.draw(draw);
                        let noise = noise.normal(Purpose::Evaluation, [rows, code]);
                        of_outputs(vae.predict(posterior.sample_kl(noise).0))
                    })
                    .reduce(|sum, draw| sum + draw)
                    .expect("at least one sample")
                    .div_scalar(samples as f64)
            }
            Model::LabelVae(model) => model.classify(x).probs(),
            Model::Classifier(model) => of_outputs(model.predict(x)),
        }
    }
}
