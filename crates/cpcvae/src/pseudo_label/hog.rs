//! Histograms of oriented gradients (HOG): images described by the directions of their edges, so
//! that images of the same shape are similar despite small shifts and different stroke widths.

use rayon::prelude::*;
use std::f32::consts::PI;

/// Cells along a side: edges are collected in squares that overlap by half.
pub(crate) const CELLS: usize = 7;
/// Orientation bins, from 0 to 180 degrees: dark on light is the same as light on dark.
pub(crate) const DIRECTIONS: usize = 8;

/// Length of the descriptor.
pub const HOG_LENGTH: usize = CELLS * CELLS * DIRECTIONS;

/// HOG descriptors (Dalal and Triggs 2005) of `images [rows, channels, height, width]`: `[rows,
/// HOG_LENGTH]`, the strength of edges of each direction in each cell.
///
/// Each pixel votes with the length of its gradient for the two nearest directions and the four
/// nearest cells. The histogram is normalised to shares, which do not depend on the contrast, and
/// the square root of each is taken, so that faint edges count too.
///
/// # Panics
/// If the images' length does not fit the shape.
pub fn hog(images: &[f32], [height, width, channels]: [usize; 3]) -> Vec<f32> {
    let pixels = height * width * channels;
    assert!(pixels > 0 && images.len().is_multiple_of(pixels));
    let (rows, columns) = (votes(height), votes(width));
    let mut described = vec![0.0; images.len() / pixels * HOG_LENGTH];
    let pairs = described
        .par_chunks_exact_mut(HOG_LENGTH)
        .zip(images.par_chunks_exact(pixels));
    pairs.for_each(|(out, image)| {
        for plane in image.chunks_exact(height * width) {
            collect(plane, &rows, &columns, out);
        }
        let sum: f32 = out.iter().sum();
        for strength in out.iter_mut().filter(|strength| **strength > 0.0) {
            *strength = (*strength / sum).sqrt();
        }
    });
    described
}

/// For each pixel along a side, the two nearest cells and its weight in each; weight for a cell
/// outside is dropped, so that all cells weigh their pixels alike.
pub(crate) fn votes(side: usize) -> Vec<[(usize, f32); 2]> {
    let cell = side as f32 / CELLS as f32;
    let of_pixel = |pixel: usize| {
        let place = (pixel as f32 + 0.5) / cell - 0.5;
        let before = place.floor();
        let share = |at: f32| match (0.0..CELLS as f32).contains(&at) {
            true => (at as usize, 1.0 - (place - at).abs()),
            false => (0, 0.0),
        };
        [share(before), share(before + 1.0)]
    };
    (0..side).map(of_pixel).collect()
}

/// Adds the votes of one channel's pixels to `out [cell row, cell column, direction]`.
fn collect(
    plane: &[f32],
    rows: &[[(usize, f32); 2]],
    columns: &[[(usize, f32); 2]],
    out: &mut [f32],
) {
    let (height, width) = (rows.len(), columns.len());
    let at = |y: usize, x: usize| plane[y * width + x];
    for (y, in_rows) in rows.iter().enumerate() {
        for (x, in_columns) in columns.iter().enumerate() {
            // Border pixels are repeated.
            let across = at(y, (x + 1).min(width - 1)) - at(y, x.saturating_sub(1));
            let down = at((y + 1).min(height - 1), x) - at(y.saturating_sub(1), x);
            let strength = across.hypot(down);
            if strength == 0.0 {
                continue;
            }
            let turn = (down.atan2(across) / PI).rem_euclid(1.0) * DIRECTIONS as f32;
            let (first, share) = (turn as usize % DIRECTIONS, turn.fract());
            let second = (first + 1) % DIRECTIONS;
            for (row, in_row) in in_rows {
                for (column, in_column) in in_columns {
                    let vote = strength * in_row * in_column;
                    let cell = &mut out[(row * CELLS + column) * DIRECTIONS..][..DIRECTIONS];
                    cell[first] += vote * (1.0 - share);
                    cell[second] += vote * share;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Black to the left of `edge`, white from there on, in a square of `side`.
    fn half(side: usize, edge: usize) -> Vec<f32> {
        let pixel = |i: usize| if i % side < edge { -1.0 } else { 1.0 };
        (0..side * side).map(pixel).collect()
    }

    fn turned(image: &[f32], side: usize) -> Vec<f32> {
        (0..side * side)
            .map(|i| image[i % side * side + i / side])
            .collect()
    }

    #[test]
    fn an_upright_edge_is_found_where_it_is_and_in_its_direction() {
        let described = hog(&half(28, 14), [28, 28, 1]);
        for (i, strength) in described.iter().enumerate() {
            let (column, direction) = (i / DIRECTIONS % CELLS, i % DIRECTIONS);
            // The gradient points across; the middle cell of seven lies around the edge.
            let expected = direction == 0 && (2..=4).contains(&column);
            assert_eq!(*strength > 0.0, expected, "{column} {direction}");
        }
        let flat = hog(&turned(&half(28, 14), 28), [28, 28, 1]);
        let upright = |d: &[f32], direction: usize| d[(3 * CELLS + 3) * DIRECTIONS + direction];
        assert!(upright(&flat, DIRECTIONS / 2) > 0.1 && upright(&flat, 0) == 0.0);
    }

    #[test]
    fn neither_light_nor_contrast_nor_the_number_of_colours_matters() {
        let image: Vec<f32> = (0..15 * 9).map(|i| (i as f32 * 0.7).sin()).collect();
        let described = hog(&image, [15, 9, 1]);
        assert!(described.iter().all(|strength| strength.is_finite()));
        let negative: Vec<f32> = image.iter().map(|value| 0.3 - 2.0 * value).collect();
        for (a, b) in described.iter().zip(hog(&negative, [15, 9, 1])) {
            assert!((a - b).abs() < 1e-3, "{a} {b}");
        }
        let colours = hog(&[image.clone(), image.clone(), image].concat(), [15, 9, 3]);
        for (one, three) in described.iter().zip(colours) {
            assert!((one - three).abs() < 1e-4, "{one} {three}");
        }
        let empty = hog(&[0.5; 15 * 9], [15, 9, 1]);
        assert!(empty.iter().all(|strength| *strength == 0.0));
    }

    #[test]
    fn any_size_has_as_many_numbers() {
        for (height, width) in [(1, 1), (3, 50), (7, 7), (64, 64)] {
            let image: Vec<f32> = (0..height * width).map(|i| (i % 3) as f32).collect();
            let described = hog(&[image.clone(), image].concat(), [height, width, 1]);
            assert_eq!(described.len(), 2 * HOG_LENGTH);
            assert_eq!(described[..HOG_LENGTH], described[HOG_LENGTH..]);
        }
    }

    #[test]
    fn a_shift_by_a_pixel_changes_little() {
        let distance = |a: &[f32], b: &[f32]| -> f32 {
            a.iter()
                .zip(b)
                .map(|(a, b)| (a - b).powi(2))
                .sum::<f32>()
                .sqrt()
        };
        let [one, shifted, far] = [12, 13, 24].map(|edge| hog(&half(28, edge), [28, 28, 1]));
        assert!(3.0 * distance(&one, &shifted) < distance(&one, &far));
    }
}
