//! Colour images: pixel by pixel in data sets, channel by channel in models, which warp each
//! channel as an image of its own.

use cpcvae_data::Matrix;

/// Rows of `[pixels, channels]` become rows of `[channels, pixels]`.
pub(super) fn split(rows: &mut Matrix, channels: usize) {
    transpose(rows, channels, |pixel, channel, pixels| {
        (pixel * channels + channel, channel * pixels + pixel)
    });
}

/// Rows of `[channels, pixels]` become rows of `[pixels, channels]`.
pub(super) fn join(rows: &mut Matrix, channels: usize) {
    transpose(rows, channels, |pixel, channel, pixels| {
        (channel * pixels + pixel, pixel * channels + channel)
    });
}

/// Moves every value of every row from one place to another, given (pixel, channel, pixels).
fn transpose(
    rows: &mut Matrix,
    channels: usize,
    places: impl Fn(usize, usize, usize) -> (usize, usize),
) {
    if channels <= 1 || rows.columns == 0 {
        return;
    }
    let pixels = rows.columns / channels;
    let mut before = vec![0.0; rows.columns];
    for row in rows.values.chunks_exact_mut(rows.columns) {
        before.copy_from_slice(row);
        for pixel in 0..pixels {
            for channel in 0..channels {
                let (from, to) = places(pixel, channel, pixels);
                row[to] = before[from];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_are_put_one_after_the_other_and_back() {
        // Two pixels of red, green and blue, in two rows.
        let values: Vec<f32> = (1..=12).map(|value| value as f32).collect();
        let rows = Matrix::new(2, 6, values).expect("fits");
        let mut made = rows.clone();
        split(&mut made, 3);
        assert_eq!(made.row(0), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
        join(&mut made, 3);
        assert_eq!(made, rows);
        split(&mut made, 1);
        assert_eq!(made, rows, "grey stays as it is");
    }
}
