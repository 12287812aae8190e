//! Reconstructions of rows.

use super::generative::{ClassModel, Generative};
use super::{Inference, to_vec};
use crate::error::{Error, Remedy, Result};
use crate::net::spatial_transformer::DIMENSIONS;
use burn::tensor::Tensor;
use cpcvae_data::{Matrix, Rows};

/// The kind of reconstruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reconstruction {
    /// The likelihood's mean at the code's mean.
    Mean,
    /// A draw from the likelihood at the code's mean.
    Sampled,
    /// The mean with the affine transform set to its mean over the rows, so that all are aligned.
    Aligned,
    /// A draw with the affine transform drawn from the prior: the x-bar of the consistency cost.
    Transformed,
}

impl Inference {
    /// Features `[rows, features]` in the model's units.
    pub fn reconstruct(&self, features: &dyn Rows, kind: Reconstruction) -> Result<Matrix> {
        let model = self.generative()?;
        let needs_transform = matches!(kind, Reconstruction::Aligned | Reconstruction::Transformed);
        if needs_transform && self.shape.transform.is_none() {
            let advice = match self.shape.image {
                Some(_) => "train with `model.transform.enabled`",
                None => "affine transforms are for images",
            };
            let error = Error::Mismatch(format!(
                "this model has no affine transform in its code, so nothing can be aligned or \
                 moved; {advice}"
            ));
            return Err(match self.shape.image {
                Some(_) => error.with_remedy(Remedy::EnableTransform),
                None => error,
            });
        }
        let mean_transform = match kind {
            Reconstruction::Aligned => self.mean_transform(features)?,
            _ => [0.0; DIMENSIONS],
        };
        let mut values = Vec::with_capacity(features.rows() * features.columns());
        self.for_chunks(features, |x, noise| {
            let [rows, _] = x.dims();
            let z = model.posterior(x.clone()).mean();
            let z = match (model, kind) {
                (Generative::Vae(vae), Reconstruction::Aligned) => {
                    let mean = Tensor::<1>::from_floats(mean_transform, &z.device());
                    let everywhere = mean.reshape([1, DIMENSIONS]).repeat_dim(0, rows);
                    vae.with_transform(z, everywhere)
                }
                (Generative::Vae(vae), Reconstruction::Transformed) => {
                    let z_t =
                        noise.normal(crate::noise::NoisePurpose::Transform, [rows, DIMENSIONS]);
                    vae.with_transform(z, z_t)
                }
                _ => z,
            };
            let decoded = model.decode(z, x);
            values.extend(to_vec(match kind {
                Reconstruction::Mean | Reconstruction::Aligned => decoded.mean(),
                Reconstruction::Sampled | Reconstruction::Transformed => decoded.draw(&noise),
            }));
        });
        Ok(Matrix {
            rows: features.rows(),
            columns: features.columns(),
            values,
        })
    }

    /// Decodes codes `[rows, code]` to features `[rows, features]` in the model's units: the
    /// likelihood's mean. Only for models that generate features from codes alone.
    pub fn decode(&self, codes: &dyn Rows) -> Result<Matrix> {
        let vae = match self.generative()? {
            Generative::Vae(vae) => vae,
            Generative::OfClasses(ClassModel::Stacked(model)) => model.features(),
            Generative::OfClasses(_) => {
                let problem = "this model makes rows from a code and a class; draw rows of a class \
                               instead";
                return Err(Error::Mismatch(problem.into()));
            }
        };
        if codes.columns() != self.shape.code {
            return Err(Error::Mismatch(format!(
                "the codes have {} dimensions, those of the model {}",
                codes.columns(),
                self.shape.code
            )));
        }
        let mut values = Vec::new();
        self.for_chunks(codes, |z, _| values.extend(to_vec(vae.decode(z).mean())));
        Ok(Matrix {
            rows: codes.rows(),
            columns: values.len() / codes.rows().max(1),
            values,
        })
    }

    /// The transform's mean over the rows. It need not be zero: the canvas is larger than the
    /// image, and its position on the canvas is not determined.
    fn mean_transform(&self, features: &dyn Rows) -> Result<[f32; DIMENSIONS]> {
        let codes = self.encode(features)?.mean;
        let mut mean = [0.0; DIMENSIONS];
        for row in 0..codes.rows {
            for (sum, z) in mean.iter_mut().zip(codes.row(row)) {
                *sum += z / codes.rows as f32;
            }
        }
        Ok(mean)
    }
}
