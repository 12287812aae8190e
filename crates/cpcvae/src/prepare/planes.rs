//! Colour images: pixel by pixel in data sets, channel by channel in models, which warp each
//! channel separately.

use cpcvae_data::Matrix;

/// A row of `[pixels, channels]` becomes one of `[channels, pixels]`.
pub(super) fn split(row: &[f32], out: &mut [f32], channels: usize) {
    if channels <= 1 || row.is_empty() {
        return out.copy_from_slice(row);
    }
    for (channel, plane) in out.chunks_exact_mut(row.len() / channels).enumerate() {
        let values = row[channel..].iter().step_by(channels);
        plane
            .iter_mut()
            .zip(values)
            .for_each(|(to, from)| *to = *from);
    }
}

/// Rows of `[channels, pixels]` become rows of `[pixels, channels]`.
pub(super) fn join(mut rows: Matrix, channels: usize) -> Matrix {
    if channels <= 1 || rows.columns == 0 {
        return rows;
    }
    let mut before = vec![0.0; rows.columns];
    for row in rows.values.chunks_exact_mut(rows.columns) {
        before.copy_from_slice(row);
        // Channel-first is the transpose of channel-last.
        split(&before, row, rows.columns / channels);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_are_put_one_after_the_other_and_back() {
        // Two pixels of red, green and blue.
        let row: Vec<f32> = (1..=6).map(|value| value as f32).collect();
        let mut made = vec![0.0; 6];
        split(&row, &mut made, 3);
        assert_eq!(made, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
        let twice = Matrix::new(2, 6, made.repeat(2)).expect("fits");
        assert_eq!(join(twice, 3).values, row.repeat(2));
        split(&row, &mut made, 1);
        assert_eq!(made, row, "grey stays as it is");
        let grey = Matrix::new(1, 6, row.clone()).expect("fits");
        assert_eq!(join(grey, 1).values, row);
    }
}
