//! Which pixels of a canvas an image shows.

use super::line::centre;
use crate::parallel;

/// Sets `g [n, maps, H, W]`, the gradient of a canvas, to zero at the pixels whose centre is
/// outside of the image that `theta [n, 2, 3]` places on it. A position `p` of the image, which
/// spans [-1, 1], is on the canvas at `theta (p, 1)`. `canvas` is (H, W).
///
/// # Panics
/// If a slice's length does not fit the shape.
pub fn clear_unshown(maps: usize, canvas: (usize, usize), theta: &[f32], g: &mut [f32]) {
    let (height, width) = canvas;
    let pixels = height * width;
    assert_eq!(g.len(), theta.len() / 6 * maps * pixels);
    if g.is_empty() {
        return;
    }
    let elements = g.len();
    let rows = theta.chunks_exact(6).zip(g.chunks_mut(maps * pixels));
    parallel::timed_for_each("shown", elements, rows, |(theta, g)| {
        let image = ImagePlace::new(theta);
        for row in 0..height {
            let y = centre(row, height);
            for column in 0..width {
                if !image.shows(centre(column, width), y) {
                    let place = row * width + column;
                    g.iter_mut()
                        .skip(place)
                        .step_by(pixels)
                        .for_each(|g| *g = 0.0);
                }
            }
        }
    });
}

/// The inverse of theta: maps a position on the canvas to its position in the image.
struct ImagePlace {
    rows: [[f32; 2]; 2],
    shift: [f32; 2],
}

impl ImagePlace {
    fn new(theta: &[f32]) -> Self {
        let [a, b, tx, c, d, ty] = std::array::from_fn(|i| theta[i]);
        let determinant = a * d - b * c;
        Self {
            rows: [
                [d / determinant, -b / determinant],
                [-c / determinant, a / determinant],
            ],
            shift: [tx, ty],
        }
    }

    /// Whether a position on the canvas is inside the image. A singular map shows nothing.
    fn shows(&self, x: f32, y: f32) -> bool {
        let (x, y) = (x - self.shift[0], y - self.shift[1]);
        let inside = |[by_x, by_y]: [f32; 2]| (by_x * x + by_y * y).abs() <= 1.0;
        inside(self.rows[0]) && inside(self.rows[1])
    }
}
