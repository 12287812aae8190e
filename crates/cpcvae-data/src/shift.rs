//! Random shifts of images by a few pixels, drawn anew at each step (data augmentation).

use crate::Layout;
use crate::image_planes::change_planes;
use rand::Rng;

/// Moves each image by a whole number of pixels, at most `most` in each direction; border pixels
/// are repeated. Rows that are not images stay as they are. Images are as models see them, one
/// channel after the other: `[channels, height, width]`.
pub(crate) fn shift_images(
    features: &mut [f32],
    layout: &Layout,
    most: usize,
    random: &mut impl Rng,
) {
    let by = || (draw(most, random), draw(most, random));
    change_planes(features, layout, by, |plane, original, size, by| {
        shift_plane(plane, original, size, *by);
    });
}

fn shift_plane(
    plane: &mut [f32],
    original: &[f32],
    [height, width]: [usize; 2],
    (down, right): (isize, isize),
) {
    for y in 0..height {
        let from = place(y, down, height) * width;
        for x in 0..width {
            plane[y * width + x] = original[from + place(x, right, width)];
        }
    }
}

/// A whole number between `-most` and `most`.
fn draw(most: usize, random: &mut impl Rng) -> isize {
    let choices = 2 * most as u64 + 1;
    (random.next_u64() % choices) as isize - most as isize
}

/// The source of the value at `to`.
fn place(to: usize, moved: isize, size: usize) -> usize {
    (to as isize - moved).clamp(0, size as isize - 1) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{RandomPurpose, generator};

    #[test]
    fn images_move_as_a_whole_and_not_too_far() {
        let layout = Layout::Image {
            height: 7,
            width: 9,
            channels: 2,
        };
        let mut random = generator(3, RandomPurpose::Shift, 0);
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..200 {
            let mut image = vec![0.0; 2 * 7 * 9];
            // One bright pixel in the middle, with different channels.
            (image[3 * 9 + 4], image[7 * 9 + 3 * 9 + 4]) = (1.0, 0.5);
            shift_images(&mut image, &layout, 2, &mut random);
            let bright = image.iter().position(|value| *value == 1.0).unwrap();
            assert_eq!(image[7 * 9 + bright], 0.5);
            assert_eq!(image.iter().filter(|value| **value != 0.0).count(), 2);
            let (y, x) = (bright / 9, bright % 9);
            assert!(y.abs_diff(3) <= 2 && x.abs_diff(4) <= 2);
            seen.insert((y, x));
        }
        assert_eq!(seen.len(), 25, "every shift occurs");
    }

    #[test]
    fn the_border_is_repeated() {
        assert_eq!([place(0, 2, 5), place(4, -2, 5), place(3, 1, 5)], [0, 4, 2]);
    }
}
