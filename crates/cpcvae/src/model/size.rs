//! The size of a model, computed from its shape before it is made.

use super::{ModelKind, Shape};
use crate::net::Net;

impl Shape {
    /// Whether the sizes are consistent.
    pub fn check(&self) -> Result<(), String> {
        let of_transform = self.transform.as_ref().map_or(0, |_| 6);
        if self.code == 0 || self.style.saturating_add(of_transform) > self.code {
            return Err(format!(
                "a code of {} dimensions cannot have {} of style and {of_transform} of transforms",
                self.code, self.style
            ));
        }
        if let Some(image) = self.image {
            let pixels = image
                .iter()
                .try_fold(1usize, |all, side| all.checked_mul(*side));
            if pixels != Some(self.features) {
                return Err(format!(
                    "{image:?} pixels are not {} features",
                    self.features
                ));
            }
        }
        if let Net::Wrn(shape) = &self.net {
            let is_of_images = self.image.is_some()
                && matches!(
                    self.kind,
                    ModelKind::Vae | ModelKind::StackedVae | ModelKind::Classifier
                );
            if shape.blocks().is_none() || shape.width == 0 || !is_of_images {
                return Err(format!(
                    "there is no wide residual network of depth {} and width {} for it",
                    shape.depth, shape.width
                ));
            }
        }
        if let Some(row) = self.row.as_ref().filter(|row| row.width() != self.features) {
            let width = row.width();
            return Err(format!(
                "columns of width {width} are not {} features",
                self.features
            ));
        }
        let canvas = self.transform.as_ref().map_or(1.0, |plan| plan.canvas);
        match (1.0..=16.0).contains(&canvas) {
            true => Ok(()),
            false => Err(format!(
                "a canvas of {canvas} times the image is not possible"
            )),
        }
    }

    /// A lower bound on the number of parameters: those of its widest dense layers, or of its
    /// convolutions.
    pub(crate) fn least_parameters(&self) -> u64 {
        let product = |a: usize, b: usize| (a as u64).saturating_mul(b as u64);
        let between = self.hidden.windows(2).map(|pair| product(pair[0], pair[1]));
        let (first, last) = (self.hidden.first(), self.hidden.last());
        let inputs = first.filter(|_| self.net == Net::Mlp);
        let inputs = inputs.map(|units| product(self.features, *units));
        let codes = last.filter(|_| self.kind != ModelKind::Classifier);
        let codes = codes.map(|units| product(*units, self.code));
        let predictor = self
            .predictor
            .windows(2)
            .map(|pair| product(pair[0], pair[1]));
        let predictor = predictor.chain(self.predictor.first().map(|units| *units as u64));
        let layers = between.chain(inputs).chain(codes).chain(predictor);
        let trunk = match &self.net {
            Net::Wrn(shape) => shape.weights(),
            Net::Mlp => 0,
        };
        layers.chain([self.code as u64, trunk]).max().unwrap_or(0)
    }
}
