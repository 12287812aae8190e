//! From the decoder's raw output to the distribution of a row's features.

use super::Shape;
use crate::distribution::{Family, Likelihood, Mixed, RowLayout};
use crate::net::spatial_transformer::{self, TransformRanges};
use crate::op;
use crate::op::Compute;
use crate::op::constrain::MapConstraint;
use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

/// Affine transforms as part of the generative process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TransformPlan {
    /// The range of each parameter.
    pub ranges: TransformRanges,
    /// Side of the decoder's canvas as a multiple of the image's side.
    pub canvas: f64,
}

/// The likelihood family, and the geometry between decoder and image.
#[derive(Clone, Debug)]
pub struct Observation {
    family: Family,
    /// One entry for each parameter map and channel.
    constraints: Vec<MapConstraint>,
    features: usize,
    image: [usize; 3],
    transform: Option<TransformPlan>,
    row: Option<RowLayout>,
    scale_floor: f32,
    compute: Compute,
}

impl Observation {
    /// As the shape says.
    pub fn new(shape: &Shape, compute: &Compute) -> Self {
        // Rows that are not images are treated as images of height 1.
        let image = shape.image.unwrap_or([1, shape.features, 1]);
        let constraints = shape
            .likelihood
            .constraints(shape.scale_floor)
            .into_iter()
            .flat_map(|constraint| std::iter::repeat_n(constraint, image[2]))
            .collect();
        Self {
            family: shape.likelihood,
            constraints,
            features: shape.features,
            image,
            transform: shape.transform.clone(),
            row: shape.row.clone(),
            scale_floor: shape.scale_floor,
            compute: compute.clone(),
        }
    }

    /// The number of decoder outputs for each row.
    pub fn decoder_outputs(&self) -> usize {
        if let Some(row) = &self.row {
            return row.parameters();
        }
        let (height, width) = self.canvas();
        self.constraints.len() * height * width
    }

    /// Height, width and channels of the decoder's output, where that is an image: the canvas, with
    /// a channel for each parameter map.
    pub(crate) fn decoder_image(&self) -> Option<[usize; 3]> {
        let (height, width) = self.canvas();
        self.row
            .is_none()
            .then_some([height, width, self.constraints.len()])
    }

    /// The distribution for the decoder's output `raw [rows, decoder_outputs]`, with its maps
    /// warped by `z_t [rows, 6]` where the code has transforms.
    pub fn likelihood(&self, raw: Tensor<2>, z_t: Option<Tensor<2>>) -> Likelihood {
        if let Some(row) = &self.row {
            return Likelihood::Mixed(Mixed::new(row.clone(), self.scale_floor, raw));
        }
        let [rows, _] = raw.dims();
        let (height, width) = self.canvas();
        let raw = raw.reshape([rows, self.constraints.len(), height * width]);
        let maps = match (&self.transform, z_t) {
            (Some(plan), Some(z_t)) => {
                let theta =
                    spatial_transformer::image_to_canvas(z_t, &plan.ranges, self.canvas_ratio());
                let image = (self.image[0], self.image[1]);
                let (compute, canvas) = (&self.compute, (height, width));
                op::warp::constrain_warp(compute, raw, theta, &self.constraints, canvas, image)
            }
            _ => op::constrain::constrain(&self.compute, raw, &self.constraints),
        };
        let per_family = self.constraints.len() / self.image[2];
        let maps = maps.reshape([rows, per_family, self.features]);
        self.family.with_parameters(maps, &self.compute)
    }

    /// `raw [rows, decoder_outputs]` unchanged, with gradients only at the part of the canvas that
    /// the image with the transform `z_t [rows, 6]` shows.
    pub fn shown_only(&self, raw: Tensor<2>, z_t: Tensor<2>) -> Tensor<2> {
        let Some(plan) = &self.transform else {
            return raw;
        };
        let [rows, outputs] = raw.dims();
        let (height, width) = self.canvas();
        let theta = spatial_transformer::image_to_canvas(z_t, &plan.ranges, self.canvas_ratio());
        let maps = raw.reshape([rows, self.constraints.len(), height * width]);
        op::shown::shown_only(maps, theta, (height, width)).reshape([rows, outputs])
    }

    /// The raw output at which the distribution of every pixel has its mean and standard deviation
    /// over the data, `[features]` each: `[decoder_outputs]`. Beyond the image, the canvas repeats
    /// the image's border. `None` for rows that are not images.
    pub(crate) fn raw_of(&self, mean: &[f32], deviation: &[f32]) -> Option<Vec<f32>> {
        let [image_height, image_width, channels] = self.image;
        let (height, width) = self.canvas();
        self.row.is_none().then(|| {
            let nearest = |place: usize, size: usize, image: usize| {
                (place + image / 2).saturating_sub(size / 2).min(image - 1)
            };
            let mut raw = Vec::with_capacity(self.decoder_outputs());
            for (map, constraint) in self.constraints.iter().enumerate() {
                let plane = map % channels * image_height * image_width;
                for place in 0..height * width {
                    let row = nearest(place / width, height, image_height);
                    let column = nearest(place % width, width, image_width);
                    let pixel = plane + row * image_width + column;
                    let (mean, deviation) = (mean[pixel], deviation[pixel]);
                    raw.push(self.family.raw_of(*constraint, mean, deviation));
                }
            }
            raw
        })
    }

    /// Height and width of the decoder's canvas.
    fn canvas(&self) -> (usize, usize) {
        let [height, width, _] = self.image;
        match &self.transform {
            Some(plan) => {
                let side = |size: usize| (size as f64 * plan.canvas).round() as usize;
                (side(height), side(width))
            }
            None => (height, width),
        }
    }

    /// The canvas's width and height as multiples of the image's, after rounding to whole pixels.
    fn canvas_ratio(&self) -> (f64, f64) {
        let (height, width) = self.canvas();
        let [image_height, image_width, _] = self.image;
        (
            width as f64 / image_width as f64,
            height as f64 / image_height as f64,
        )
    }
}
