//! Images rotated, sheared and scaled a little, drawn anew at each step (data augmentation).

use crate::Layout;
use crate::image_planes::change_planes;
use rand::Rng;

/// Maps each image by a random matrix around its middle, whose entries differ from those of the
/// identity by at most `most`; values between pixels are interpolated, border pixels are repeated.
/// Rows that are not images stay as they are. Images are as models see them, one channel after the
/// other: `[channels, height, width]`.
pub(crate) fn stretch_images(
    features: &mut [f32],
    layout: &Layout,
    most: f32,
    random: &mut impl Rng,
) {
    let by = || std::array::from_fn(|_| most * draw(random));
    change_planes(features, layout, by, |plane, original, size, by| {
        map_plane(plane, original, size, *by);
    });
}

/// The value at each place is taken from the place that the matrix maps it to.
fn map_plane(plane: &mut [f32], original: &[f32], [height, width]: [usize; 2], change: [f32; 4]) {
    let [xx, xy, yx, yy] = change;
    let middle = |size: usize| (size - 1) as f32 / 2.0;
    let (middle_y, middle_x) = (middle(height), middle(width));
    for (y, row) in plane.chunks_exact_mut(width).enumerate() {
        let down = y as f32 - middle_y;
        for (x, value) in row.iter_mut().enumerate() {
            let right = x as f32 - middle_x;
            let (left, share_x) = between(x as f32 + xx * right + xy * down, width);
            let (top, share_y) = between(y as f32 + yx * right + yy * down, height);
            let along = |top: usize| {
                let line = &original[top * width..][..width];
                line[left] + share_x * (line[(left + 1).min(width - 1)] - line[left])
            };
            let (upper, lower) = (along(top), along((top + 1).min(height - 1)));
            *value = upper + share_y * (lower - upper);
        }
    }
}

/// The pixel before a position along a side, and the weight of the next one.
fn between(place: f32, size: usize) -> (usize, f32) {
    let place = place.clamp(0.0, (size - 1) as f32);
    (place as usize, place.fract())
}

/// A uniform number from -1 to 1.
fn draw(random: &mut impl Rng) -> f32 {
    random.next_u32() as f32 / (u32::MAX / 2) as f32 - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{RandomPurpose, generator};

    fn layout(height: usize, width: usize, channels: usize) -> Layout {
        Layout::Image {
            height,
            width,
            channels,
        }
    }

    #[test]
    fn a_plane_of_even_slope_stays_one_with_the_slope_that_the_matrix_gives_it() {
        let original: Vec<f32> = (0..9 * 7).map(|i| (i % 7) as f32 - 3.0).collect();
        let mut mapped = original.clone();
        map_plane(&mut mapped, &original, [9, 7], [0.1, 0.2, 0.0, 0.0]);
        // Inside, away from the border: x' = 1.1 x + 0.2 y around the middle.
        for (y, x) in [(4, 3), (3, 2), (5, 4), (6, 3)] {
            let expected = 1.1 * (x as f32 - 3.0) + 0.2 * (y as f32 - 4.0);
            assert!((mapped[y * 7 + x] - expected).abs() < 1e-5, "{y} {x}");
        }
        map_plane(&mut mapped, &original, [9, 7], [0.0; 4]);
        assert_eq!(mapped, original);
    }

    #[test]
    fn images_change_within_their_range_and_all_channels_alike() {
        let mut random = generator(3, RandomPurpose::Stretch, 0);
        let plane: Vec<f32> = (0..64).map(|i| (i as f32 * 0.9).sin()).collect();
        for side in [1, 8] {
            let plane = &plane[..side * side];
            let mut image = [plane, plane].concat();
            stretch_images(&mut image, &layout(side, side, 2), 0.3, &mut random);
            let (first, second) = image.split_at(side * side);
            assert_eq!(first, second);
            assert!(first.iter().all(|value| value.abs() <= 1.0));
            assert_eq!(first == plane, side == 1);
        }
        let mut table = vec![1.0, 2.0];
        stretch_images(&mut table, &Layout::Columns(Vec::new()), 0.3, &mut random);
        assert_eq!(table, [1.0, 2.0]);
    }

    #[test]
    fn draws_fill_their_range() {
        let mut random = generator(5, RandomPurpose::Stretch, 1);
        let draws: Vec<f32> = (0..1000).map(|_| draw(&mut random)).collect();
        assert!(draws.iter().all(|draw| draw.abs() <= 1.0));
        let mean = draws.iter().sum::<f32>() / 1000.0;
        let square = draws.iter().map(|draw| draw * draw).sum::<f32>() / 1000.0;
        assert!(
            mean.abs() < 0.08 && (square - 1.0 / 3.0).abs() < 0.05,
            "{mean} {square}"
        );
    }
}
