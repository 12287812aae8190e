//! Affine warp of constrained maps: a spatial transformer that matches PyTorch's
//! `affine_grid` and `grid_sample` (bilinear, `padding_mode="border"`, `align_corners=False`).

use super::line::{Line, centre};
use super::{MapConstraint, constrain_map, multiply_by_slope};
use crate::isa::Isa;
use crate::parallel;

/// Sizes of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WarpShape {
    /// Rows of the batch, n.
    pub rows: usize,
    /// Height and width (H, W) of the maps that are sampled.
    pub canvas: (usize, usize),
    /// Height and width (h, w) of the result.
    pub image: (usize, usize),
}

impl WarpShape {
    pub(super) fn canvas_size(&self) -> usize {
        self.canvas.0 * self.canvas.1
    }

    fn image_size(&self) -> usize {
        self.image.0 * self.image.1
    }
}

/// Constrains `raw [n, maps, H, W]` into `constrained` (same shape; needed by [`warp_backward`])
/// and samples that at the points to which `theta [n, 2, 3]` maps each pixel of `out [n, maps, h,
/// w]`. Points beyond the canvas have the value of its border.
///
/// # Panics
/// If a slice's length does not fit the shape, or the canvas is empty but the image is not.
pub fn warp(
    shape: &WarpShape,
    maps: &[MapConstraint],
    raw: &[f32],
    theta: &[f32],
    constrained: &mut [f32],
    out: &mut [f32],
) {
    let (canvas, image) = (shape.canvas_size(), shape.image_size());
    assert_eq!(raw.len(), shape.rows * maps.len() * canvas);
    assert_eq!(constrained.len(), raw.len());
    assert_eq!(theta.len(), shape.rows * 6);
    assert_eq!(out.len(), shape.rows * maps.len() * image);
    if raw.is_empty() || out.is_empty() {
        assert!(out.is_empty(), "an empty canvas cannot fill an image");
        return;
    }
    let isa = Isa::current();
    let elements = raw.len() + out.len();
    let row = maps.len() * canvas;
    let rows = raw.chunks(row).zip(constrained.chunks_mut(row));
    let rows = rows
        .zip(theta.chunks(6))
        .zip(out.chunks_mut(maps.len() * image));
    parallel::timed_for_each(
        "warp",
        4 * elements,
        rows,
        |(((raw, constrained), theta), out)| {
            let planes = raw.chunks(canvas).zip(constrained.chunks_mut(canvas));
            for (map, (raw, constrained)) in maps.iter().zip(planes) {
                constrain_map(isa, *map, raw, constrained);
            }
            sample_row(isa, shape, theta, constrained, out);
        },
    );
}

/// Gradients of [`warp`]: `g_raw [n, maps, H, W]` and `g_theta [n, 2, 3]` from
/// `g_out [n, maps, h, w]`. A coordinate beyond the canvas has no gradient.
///
/// # Panics
/// If a slice's length does not fit the shape.
#[allow(clippy::too_many_arguments)]
pub fn warp_backward(
    shape: &WarpShape,
    maps: &[MapConstraint],
    raw: &[f32],
    constrained: &[f32],
    theta: &[f32],
    g_out: &[f32],
    g_raw: &mut [f32],
    g_theta: &mut [f32],
) {
    let (canvas, image) = (shape.canvas_size(), shape.image_size());
    assert_eq!(raw.len(), shape.rows * maps.len() * canvas);
    assert_eq!(constrained.len(), raw.len());
    assert_eq!(g_raw.len(), raw.len());
    assert_eq!(theta.len(), shape.rows * 6);
    assert_eq!(g_theta.len(), theta.len());
    assert_eq!(g_out.len(), shape.rows * maps.len() * image);
    if raw.is_empty() || g_out.is_empty() {
        g_raw.fill(0.0);
        return g_theta.fill(0.0);
    }
    let isa = Isa::current();
    let row = maps.len() * canvas;
    let rows = raw
        .chunks(row)
        .zip(constrained.chunks(row))
        .zip(g_raw.chunks_mut(row));
    let rows = rows.zip(theta.chunks(6).zip(g_theta.chunks_mut(6)));
    let rows = rows.zip(g_out.chunks(maps.len() * image));
    let elements = raw.len() + g_out.len();
    parallel::timed_for_each("warp: gradient", 4 * elements, rows, |row| {
        let ((((raw, constrained), g_raw), (theta, g_theta)), g_out) = row;
        sample_row_backward(isa, shape, theta, constrained, g_out, g_raw, g_theta);
        let planes = raw.chunks(canvas).zip(constrained.chunks(canvas));
        for ((map, (raw, values)), g) in maps.iter().zip(planes).zip(g_raw.chunks_mut(canvas)) {
            multiply_by_slope(isa, *map, raw, values, g);
        }
    });
}

kernel! {
    /// Samples the planes of one row, `planes [maps, H, W]`, into `out [maps, h, w]`.
    fn sample_row<FMA>(shape: &WarpShape, theta: &[f32], planes: &[f32], out: &mut [f32]) {
        let mut line = Line::new(shape);
        for row in 0..shape.image.0 {
            line.locate(theta, row);
            let planes = planes.chunks_exact(shape.canvas_size());
            for (plane, out) in planes.zip(out.chunks_exact_mut(shape.image_size())) {
                let out = &mut out[row * shape.image.1..][..shape.image.1];
                line.sample(plane, out);
            }
        }
    }
}

kernel! {
    /// Gradients of `sample_row` with respect to its planes and theta.
    fn sample_row_backward<FMA>(
        shape: &WarpShape,
        theta: &[f32],
        planes: &[f32],
        g_out: &[f32],
        g_planes: &mut [f32],
        g_theta: &mut [f32],
    ) {
        g_planes.fill(0.0);
        let mut sums = [0.0; 6];
        let mut line = Line::new(shape);
        let (mut gx, mut gy) = (vec![0.0; shape.image.1], vec![0.0; shape.image.1]);
        for row in 0..shape.image.0 {
            line.locate(theta, row);
            gx.fill(0.0);
            gy.fill(0.0);
            let size = shape.canvas_size();
            let maps = planes.chunks_exact(size).zip(g_planes.chunks_exact_mut(size));
            for ((plane, g_plane), g_out) in maps.zip(g_out.chunks_exact(shape.image_size())) {
                let g = &g_out[row * shape.image.1..][..shape.image.1];
                line.add_slopes(plane, g, &mut gx, &mut gy);
                line.spread(g, g_plane);
            }
            let y = centre(row, shape.image.0);
            for (column, (gx, gy)) in gx.iter().zip(&gy).enumerate() {
                let x = line.centres[column];
                let (gx, gy) = (gx * line.slope_x[column], gy * line.slope_y[column]);
                for (sum, term) in sums.iter_mut().zip([gx * x, gx * y, gx, gy * x, gy * y, gy]) {
                    *sum += f64::from(term);
                }
            }
        }
        for (g, sum) in g_theta.iter_mut().zip(sums) {
            *g = sum as f32;
        }
    }
}
