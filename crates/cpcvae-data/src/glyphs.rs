//! Ten simple drawn shapes: an image data set that needs no download.

use crate::glyph_strokes::{Affine, NAMES, draw, strokes};
use crate::random::{RandomPurpose, generator};
use crate::{DataError, Dataset, Labels, Layout, Matrix, Result};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

const SIDE: usize = 28;
/// Half the height of an unscaled shape, in pixels.
const RADIUS: f32 = 8.0;
const PIXEL_NOISE: f32 = 0.04;
/// 4 of 784 pixels on average: one in 200.
const MOST_OUTLIERS: usize = 8;

/// Draws `rows` images of 28 x 28 pixels in 10 balanced classes.
///
/// Each shape is shifted, rotated, sheared and scaled at random and drawn with a line of random
/// thickness; pixels get a little noise, and about one in 200 is replaced by a uniform random
/// value. Row `i` depends on the seed and `i` only and has class `i % 10`, so a longer data set
/// begins with a shorter one.
pub fn glyphs(rows: usize, seed: u64) -> Result<Dataset> {
    if rows < NAMES.len() || u32::try_from(rows).is_err() {
        return Err(DataError::Generate {
            dataset: "glyphs",
            problem: format!(
                "{rows} rows cannot show its 10 classes; ask for 10 to {}",
                u32::MAX
            ),
        });
    }
    let values = (0..rows)
        .flat_map(|row| {
            let mut random = generator(seed, RandomPurpose::Glyph, row as u64);
            let mut image = shape(row % NAMES.len(), &mut random);
            disturb(&mut image, &mut random);
            image
        })
        .collect();
    Dataset::new(
        "glyphs",
        Matrix::new(rows, SIDE * SIDE, values)?,
        Layout::Image {
            height: SIDE,
            width: SIDE,
            channels: 1,
        },
        Labels::Classes {
            names: NAMES.map(String::from).to_vec(),
            of_row: (0..rows)
                .map(|row| Some((row % NAMES.len()) as u32))
                .collect(),
        },
    )
}

fn shape(class: usize, random: &mut ChaCha8Rng) -> Vec<f32> {
    let transform = random_transform(random);
    let half_thickness = random.random_range(0.6..1.5);
    let mut lines = strokes(class);
    for point in lines.iter_mut().flatten() {
        *point = transform.apply(*point);
    }
    draw(&lines, half_thickness, SIDE)
}

/// Scale, then shear, then rotation, then a shift to about the middle.
fn random_transform(random: &mut ChaCha8Rng) -> Affine {
    let (scale_x, scale_y) = (random.random_range(0.8..1.2), random.random_range(0.8..1.2));
    let shear: f32 = random.random_range(-0.2..0.2);
    let (sin, cos) = random.random_range(-0.3f32..0.3).sin_cos();
    let middle = (SIDE - 1) as f32 / 2.0;
    Affine {
        matrix: [
            [
                RADIUS * scale_x * cos,
                RADIUS * scale_y * (shear * cos - sin),
            ],
            [
                RADIUS * scale_x * sin,
                RADIUS * scale_y * (shear * sin + cos),
            ],
        ],
        offset: [
            middle + random.random_range(-2.5..2.5),
            middle + random.random_range(-2.5..2.5),
        ],
    }
}

fn disturb(image: &mut [f32], random: &mut ChaCha8Rng) {
    for pixel in image.iter_mut() {
        let noise: f32 = StandardNormal.sample(random);
        *pixel = (*pixel + PIXEL_NOISE * noise).clamp(0.0, 1.0);
    }
    for _ in 0..random.random_range(0..=MOST_OUTLIERS) {
        image[random.random_range(0..SIDE * SIDE)] = random.random();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_are_in_range_and_show_something() {
        let data = glyphs(200, 1).unwrap();
        assert!(
            data.features
                .matrix()
                .values
                .iter()
                .all(|v| (0.0..=1.0).contains(v))
        );
        for row in 0..200 {
            let ink: f32 = data.features.row(row).iter().filter(|&&v| v > 0.5).sum();
            assert!((12.0..250.0).contains(&ink), "row {row} has ink {ink}");
        }
    }

    #[test]
    fn classes_are_balanced_and_rows_depend_on_seed_and_place_only() {
        let (short, long) = (glyphs(20, 7).unwrap(), glyphs(40, 7).unwrap());
        assert_eq!(
            short.features.matrix().values,
            long.features.matrix().values[..20 * 784]
        );
        assert_ne!(
            short.features.matrix().values,
            glyphs(20, 8).unwrap().features.matrix().values
        );
        assert_ne!(
            long.features.row(3),
            long.features.row(13),
            "same class, other transform"
        );
        let of_class = |class| {
            (0..40)
                .filter(|&row| long.labels.class_of(row) == Some(class))
                .count()
        };
        assert!((0..10).all(|class| of_class(class) == 4));
    }

    #[test]
    fn about_one_pixel_in_200_is_an_outlier() {
        let data = glyphs(100, 3).unwrap();
        // A corner is black in every image, so what is bright there is an outlier.
        let corner = (0..100).flat_map(|row| data.features.row(row)[..28 * 2].to_vec());
        let bright = corner.filter(|&v| v > 0.3).count() as f64 / 5600.0;
        assert!((0.001..0.007).contains(&bright), "{bright}");
    }

    #[test]
    fn too_few_rows_are_refused() {
        assert!(glyphs(9, 0).unwrap_err().to_string().contains("9 rows"));
    }
}
