//! One line of a warped image: the positions of its pixels on the canvas, and bilinear
//! interpolation.

use super::WarpShape;

/// The pixels of one line, each as a structure of arrays so that loops over them vectorise.
pub(super) struct Line {
    canvas: (usize, usize),
    image_height: usize,
    /// Steps to the right and lower neighbours: 0 if the canvas is one cell wide or high.
    right: usize,
    down: usize,
    /// The normalised abscissa of each pixel's centre.
    pub(super) centres: Vec<f32>,
    /// Index of the upper left of the four neighbours. With both steps added it is still inside
    /// a plane of the canvas: `neighbours` relies on it.
    index: Vec<i32>,
    /// Weights of the right and of the lower neighbours.
    across: Vec<f32>,
    along: Vec<f32>,
    /// Derivatives of the canvas coordinates by the normalised ones; 0 beyond the canvas.
    pub(super) slope_x: Vec<f32>,
    pub(super) slope_y: Vec<f32>,
}

impl Line {
    /// # Panics
    /// If the canvas is empty or has more cells than an `i32` can count.
    #[inline(always)]
    pub(super) fn new(shape: &WarpShape) -> Self {
        let (height, width) = shape.canvas;
        assert!(width > 0 && height > 0 && i32::try_from(shape.canvas_size()).is_ok());
        let pixels = shape.image.1;
        Self {
            canvas: shape.canvas,
            image_height: shape.image.0,
            right: usize::from(width > 1),
            down: if height > 1 { width } else { 0 },
            centres: (0..pixels).map(|column| centre(column, pixels)).collect(),
            index: vec![0; pixels],
            across: vec![0.0; pixels],
            along: vec![0.0; pixels],
            slope_x: vec![0.0; pixels],
            slope_y: vec![0.0; pixels],
        }
    }

    /// Computes the points to which `theta [2, 3]` maps the pixels of line `row`.
    #[inline(always)]
    pub(super) fn locate(&mut self, theta: &[f32], row: usize) {
        let (height, width) = self.canvas;
        let y = centre(row, self.image_height);
        let (x_step, x_start) = (theta[0], theta[1] * y + theta[2]);
        let (y_step, y_start) = (theta[3], theta[4] * y + theta[5]);
        let slopes = self.slope_x.iter_mut().zip(&mut self.slope_y);
        let weights = self.across.iter_mut().zip(&mut self.along);
        let places = self.index.iter_mut().zip(weights).zip(slopes);
        for (x, ((index, (across, along)), (slope_x, slope_y))) in self.centres.iter().zip(places) {
            let left;
            let top;
            (left, *across, *slope_x) = cell(x_step * x + x_start, width as i32);
            (top, *along, *slope_y) = cell(y_step * x + y_start, height as i32);
            *index = top * width as i32 + left;
        }
    }

    /// Values around a pixel's point.
    #[inline(always)]
    fn neighbours(&self, plane: &[f32], index: i32) -> [f32; 4] {
        let index = index as usize;
        let Self { right, down, .. } = *self;
        debug_assert!(index + down + right < plane.len());
        // SAFETY: `cell` gives left + right < width and top + down / width < height, also for
        // NaN and infinity, and the callers check that `plane` has width * height elements.
        unsafe {
            [
                *plane.get_unchecked(index),
                *plane.get_unchecked(index + right),
                *plane.get_unchecked(index + down),
                *plane.get_unchecked(index + down + right),
            ]
        }
    }

    fn check(&self, plane: &[f32]) {
        assert_eq!(plane.len(), self.canvas.0 * self.canvas.1);
    }

    /// Interpolates one plane `[H, W]` of the canvas for all pixels.
    #[inline(always)]
    pub(super) fn sample(&self, plane: &[f32], out: &mut [f32]) {
        self.check(plane);
        let points = self.index.iter().zip(&self.across).zip(&self.along);
        for (((index, across), along), out) in points.zip(out) {
            let [v00, v01, v10, v11] = self.neighbours(plane, *index);
            // As weighted means, not `v00 + across * (v01 - v00)`, which cancels a tiny variance
            // beside a huge one to zero, and a density with variance zero is NaN.
            let upper = (1.0 - across) * v00 + across * v01;
            let lower = (1.0 - across) * v10 + across * v11;
            *out = (1.0 - along) * upper + along * lower;
        }
    }

    /// Adds the gradient of the canvas coordinates, from `g`, that of the interpolated values.
    #[inline(always)]
    pub(super) fn add_slopes(&self, plane: &[f32], g: &[f32], gx: &mut [f32], gy: &mut [f32]) {
        self.check(plane);
        let points = self.index.iter().zip(&self.across).zip(&self.along);
        for ((((index, across), along), g), (gx, gy)) in points.zip(g).zip(gx.iter_mut().zip(gy)) {
            let [v00, v01, v10, v11] = self.neighbours(plane, *index);
            let (upper, lower) = (v01 - v00, v11 - v10);
            let (left, right) = (v10 - v00, v11 - v01);
            *gx += g * (upper + along * (lower - upper));
            *gy += g * (left + across * (right - left));
        }
    }

    /// Adds the gradient `g` of the interpolated values to those of their neighbours.
    #[inline(always)]
    pub(super) fn spread(&self, g: &[f32], g_plane: &mut [f32]) {
        let points = self.index.iter().zip(&self.across).zip(&self.along);
        for (((index, across), along), g) in points.zip(g) {
            let index = *index as usize;
            let lower = g * along;
            let upper = g - lower;
            let (upper_right, lower_right) = (upper * across, lower * across);
            let row = &mut g_plane[index..=index + self.right];
            row[0] += upper - upper_right;
            row[self.right] += upper_right;
            let row = &mut g_plane[index + self.down..=index + self.down + self.right];
            row[0] += lower - lower_right;
            row[self.right] += lower_right;
        }
    }
}

/// The normalised coordinate of a pixel's centre: the image spans [-1, 1].
#[inline(always)]
pub(super) fn centre(pixel: usize, size: usize) -> f32 {
    (2 * pixel + 1) as f32 / size as f32 - 1.0
}

/// The cell before a normalised coordinate, the interpolation weight of the next one, and the
/// derivative of the canvas coordinate. The last cell is never returned unless it is the only one:
/// a weight of 1 reaches it.
#[inline(always)]
fn cell(normalised: f32, size: i32) -> (i32, f32, f32) {
    let last = (size - 1) as f32;
    let position = ((normalised + 1.0) * size as f32 - 1.0) * 0.5;
    let slope = if position > 0.0 && position < last {
        0.5 * size as f32
    } else {
        0.0
    };
    let position = if position > 0.0 { position } else { 0.0 }; // also for NaN
    let position = if position < last { position } else { last };
    // SAFETY: 0 <= position <= size - 1, which an i32 holds.
    let floor = unsafe { position.to_int_unchecked::<i32>() };
    let cell = floor.min((size - 2).max(0));
    (cell, position - cell as f32, slope)
}
