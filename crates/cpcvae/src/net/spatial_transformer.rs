//! Six latent dimensions as an affine map of the image (the paper's appendix A.2).
//!
//! With t = tanh(z_t), the matrix M = translation * rotation-and-shear * scale maps a position on
//! the decoder's canvas to its position in the image. A pixel of the image therefore reads the
//! canvas at M^-1 of its own position. The shear angle is the *sum* of the rotation and shear
//! parameters: the paper prints their product, the authors' code uses the sum, which is the usual
//! composition.

use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

/// How many code dimensions the transform takes.
pub(crate) const DIMENSIONS: usize = 6;

/// The ranges alpha(1..6) of the transform.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TransformRanges {
    /// Largest translation, as a share of the image's width and height: alpha(1) = alpha(2).
    pub translation: f64,
    /// Largest rotation in radians: alpha(3).
    pub rotation: f64,
    /// Largest shear in radians: alpha(4).
    pub shear: f64,
    /// Largest scale factor; the smallest is its inverse: alpha(5) = alpha(6).
    pub scale: f64,
}

impl Default for TransformRanges {
    fn default() -> Self {
        Self {
            translation: 0.2,
            rotation: 0.4,
            shear: 0.2,
            scale: 1.5,
        }
    }
}

/// From `z_t [rows, 6]` to `[rows, 6]`, the two rows of the matrix that maps a position in the
/// image to its position on the canvas, both spanning [-1, 1]; `canvas` is the canvas's width and
/// height as multiples of the image's.
pub fn image_to_canvas(
    z_t: Tensor<2>,
    ranges: &TransformRanges,
    (canvas_width, canvas_height): (f64, f64),
) -> Tensor<2> {
    let [rows, _] = z_t.dims();
    let t = z_t.tanh();
    let part = |i: usize, range: f64| t.clone().slice([0..rows, i..i + 1]).mul_scalar(range);
    // An image of width 2 in these units: a share of the width is twice that many units.
    let (dx, dy) = (
        part(0, 2.0 * ranges.translation),
        part(1, 2.0 * ranges.translation),
    );
    let (rotation, shear) = (part(2, ranges.rotation), part(3, ranges.shear));
    let sheared = rotation.clone() + shear.clone();
    // M^-1 = scale^-1 * (rotation and shear)^-1 * translation^-1; the determinant of the middle
    // matrix [cos r, -sin s; sin r, cos s] is cos(s - r), the cosine of the shear.
    let log_scale = ranges.scale.ln();
    let shrink =
        |i: usize, canvas: f64| part(i, -log_scale).exp() / shear.clone().cos().mul_scalar(canvas);
    let (shrink_x, shrink_y) = (shrink(4, canvas_width), shrink(5, canvas_height));
    let a = sheared.clone().cos() * shrink_x.clone();
    let b = sheared.sin() * shrink_x;
    let c = rotation.clone().sin().neg() * shrink_y.clone();
    let d = rotation.cos() * shrink_y;
    let tx = (a.clone() * dx.clone() + b.clone() * dy.clone()).neg();
    let ty = (c.clone() * dx + d.clone() * dy).neg();
    Tensor::cat(vec![a, b, tx, c, d, ty], 1)
}
