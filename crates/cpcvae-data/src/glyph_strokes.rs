//! The ten shapes of the glyph data, and how a shape becomes pixels.

/// A point: in shape coordinates about `[-1, 1]`, in image coordinates pixels;
/// y points down.
pub(crate) type Point = [f32; 2];

/// The names of the classes, in the order of [`strokes`].
pub(crate) const NAMES: [&str; 10] = [
    "bar", "plus", "ring", "ell", "tee", "vee", "triangle", "square", "zigzag", "arrow",
];

/// The lines of a shape, each a chain of points. No shape is a slightly rotated copy of another.
pub(crate) fn strokes(class: usize) -> Vec<Vec<Point>> {
    match NAMES[class % NAMES.len()] {
        "bar" => vec![vec![[0.0, -1.0], [0.0, 1.0]]],
        "plus" => vec![vec![[0.0, -1.0], [0.0, 1.0]], vec![[-1.0, 0.0], [1.0, 0.0]]],
        "ring" => vec![circle(16)],
        "ell" => vec![vec![[-0.6, -1.0], [-0.6, 0.9], [0.7, 0.9]]],
        "tee" => vec![
            vec![[-0.85, -0.9], [0.85, -0.9]],
            vec![[0.0, -0.9], [0.0, 1.0]],
        ],
        "vee" => vec![vec![[-0.8, -0.9], [0.0, 0.9], [0.8, -0.9]]],
        "triangle" => vec![vec![[0.0, -0.9], [0.95, 0.8], [-0.95, 0.8], [0.0, -0.9]]],
        "square" => vec![vec![
            [-0.8, -0.8],
            [0.8, -0.8],
            [0.8, 0.8],
            [-0.8, 0.8],
            [-0.8, -0.8],
        ]],
        "zigzag" => vec![vec![[-0.8, -0.85], [0.8, -0.85], [-0.8, 0.85], [0.8, 0.85]]],
        _arrow => vec![
            vec![[-1.0, 0.0], [1.0, 0.0]],
            vec![[0.25, -0.75], [1.0, 0.0], [0.25, 0.75]],
        ],
    }
}

fn circle(corners: usize) -> Vec<Point> {
    (0..=corners)
        .map(|i| std::f32::consts::TAU * i as f32 / corners as f32)
        .map(|angle| [0.9 * angle.cos(), 0.9 * angle.sin()])
        .collect()
}

/// An affine map of the plane.
pub(crate) struct Affine {
    pub(crate) matrix: [[f32; 2]; 2],
    pub(crate) offset: Point,
}

impl Affine {
    pub(crate) fn apply(&self, [x, y]: Point) -> Point {
        let [[a, b], [c, d]] = self.matrix;
        [
            a * x + b * y + self.offset[0],
            c * x + d * y + self.offset[1],
        ]
    }
}

/// Draws white lines on black with soft edges, `side` x `side` pixels.
pub(crate) fn draw(lines: &[Vec<Point>], half_thickness: f32, side: usize) -> Vec<f32> {
    let reach = half_thickness + 0.5;
    // The pixels along one axis that a segment between `a` and `b` can reach.
    let span = |a: f32, b: f32| {
        let from = (a.min(b) - reach).ceil().max(0.0) as usize;
        let to = (a.max(b) + reach).floor().max(-1.0) + 1.0;
        from..(to as usize).min(side)
    };
    let mut image = vec![0.0f32; side * side];
    for ends in lines.iter().flat_map(|line| line.windows(2)) {
        let (from, to) = (ends[0], ends[1]);
        for y in span(from[1], to[1]) {
            for x in span(from[0], to[0]) {
                let distance = squared_distance([x as f32, y as f32], from, to).sqrt();
                // One pixel of transition around the edge is the anti-aliasing.
                let pixel = &mut image[y * side + x];
                *pixel = pixel.max((reach - distance).clamp(0.0, 1.0));
            }
        }
    }
    image
}

/// From a point to the nearest point of a segment.
fn squared_distance([px, py]: Point, [ax, ay]: Point, [bx, by]: Point) -> f32 {
    let (dx, dy) = (bx - ax, by - ay);
    let length = dx * dx + dy * dy;
    let along = if length > 0.0 {
        (((px - ax) * dx + (py - ay) * dy) / length).clamp(0.0, 1.0)
    } else {
        0.0
    };
    (px - ax - along * dx).powi(2) + (py - ay - along * dy).powi(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_white_soft_at_the_edge_and_black_beyond() {
        let image = draw(&[vec![[2.0, 0.0], [2.0, 4.0]]], 0.75, 5);
        assert_eq!(image[2 * 5..3 * 5], [0.0, 0.25, 1.0, 0.25, 0.0]);
    }

    #[test]
    fn what_is_outside_the_image_is_left_out() {
        let image = draw(
            &[
                vec![[-9.0, -9.0], [-3.0, -3.0]],
                vec![[4.0, 9.0], [9.0, 4.0]],
            ],
            0.5,
            5,
        );
        assert_eq!(image, vec![0.0; 25]);
        let image = draw(&[vec![[-9.0, 1.0], [9.0, 1.0]]], 0.5, 3);
        assert_eq!(image, [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn distance_to_a_segment_counts_its_ends() {
        let (a, b) = ([0.0, 0.0], [4.0, 0.0]);
        assert_eq!(squared_distance([2.0, 3.0], a, b), 9.0);
        assert_eq!(squared_distance([7.0, 4.0], a, b), 25.0);
        assert_eq!(squared_distance([3.0, 4.0], a, a), 25.0);
    }
}
