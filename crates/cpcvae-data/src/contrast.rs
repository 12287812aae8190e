//! Contrast normalisation, as the paper does for SVHN before converting images to grey.

use crate::image_set::changed;
use crate::{ImageSet, Result};

/// How colour is converted to grey.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grey {
    /// The mean of the channels.
    Mean,
    /// Luminance (Rec. 709): 0.2126 red, 0.7152 green and 0.0722 blue. The same as reading images
    /// with `gray`.
    Luminance,
}

impl ImageSet {
    /// The contrast-normalised set: every channel of every image is standardised (mean 0, standard
    /// deviation 1 over its pixels) and put through the logistic sigmoid; then, if asked for,
    /// converted to grey. A constant channel becomes mid-grey. The result is bytes again, 255 times
    /// the value in `[0, 1]`; beyond `memory_budget` bytes they are in a mapped file.
    pub fn contrast_normalised(&self, grey: Option<Grey>, memory_budget: u64) -> Result<ImageSet> {
        let channels = if grey.is_some() { 1 } else { self.channels };
        let size = self.height * self.width * channels;
        let normalise = |place| normalise_image(self.image(place), self.channels, grey);
        Ok(ImageSet {
            channels,
            pixels: changed(self.len(), size, memory_budget, normalise)?,
            ..self.clone()
        })
    }
}

fn normalise_image(pixels: &[u8], channels: usize, grey: Option<Grey>) -> Vec<u8> {
    let tables: Vec<[f32; 256]> = (0..channels)
        .map(|channel| contrast_table(pixels.iter().skip(channel).step_by(channels)))
        .collect();
    let to_byte = |value: f32| (value * 255.0).round() as u8;
    match grey {
        None => pixels
            .iter()
            .enumerate()
            .map(|(place, &byte)| to_byte(tables[place % channels][usize::from(byte)]))
            .collect(),
        Some(grey) => {
            let weights: &[f32] = match (grey, channels) {
                (Grey::Luminance, 3) => &[0.2126, 0.7152, 0.0722],
                _ => &vec![1.0 / channels as f32; channels],
            };
            let value = |pixel: &[u8]| -> f32 {
                let parts = pixel.iter().zip(&tables).zip(weights);
                parts
                    .map(|((&byte, table), weight)| weight * table[usize::from(byte)])
                    .sum()
            };
            pixels
                .chunks_exact(channels)
                .map(|pixel| to_byte(value(pixel)))
                .collect()
        }
    }
}

/// The new value for each of the 256 values of a channel.
fn contrast_table<'a>(values: impl Iterator<Item = &'a u8>) -> [f32; 256] {
    let (mut count, mut sum, mut squares) = (0u64, 0u64, 0u64);
    for &value in values {
        count += 1;
        sum += u64::from(value);
        squares += u64::from(value) * u64::from(value);
    }
    let mean = sum as f64 / count.max(1) as f64;
    let variance = squares as f64 / count.max(1) as f64 - mean * mean;
    let deviation = variance.max(0.0).sqrt().max(1e-6);
    std::array::from_fn(|value| {
        let standardised = (value as f64 - mean) / deviation;
        (1.0 / (1.0 + (-standardised).exp())) as f32
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(channels: usize, pixels: Vec<u8>) -> ImageSet {
        ImageSet {
            path: "pair".into(),
            height: 1,
            width: pixels.len() / channels,
            channels,
            files: vec!["one".into()],
            labels: vec![None],
            pixels: pixels.into(),
            skipped: Vec::new(),
        }
    }

    #[test]
    fn two_values_become_the_sigmoid_of_plus_and_minus_one() {
        // Mean 20, deviation 10: standardised -1 and 1, sigmoid 0.2689 and 0.7311.
        let done = pair(1, vec![10, 30])
            .contrast_normalised(None, 1 << 20)
            .unwrap();
        assert_eq!(done.pixels[..], [69, 186]);
        let flat = pair(1, vec![7, 7])
            .contrast_normalised(None, 1 << 20)
            .unwrap();
        assert_eq!(flat.pixels[..], [128, 128]);
    }

    #[test]
    fn channels_are_normalised_apart_before_they_are_mixed() {
        let colour = pair(3, vec![10, 200, 5, 30, 100, 5]);
        let kept = colour.contrast_normalised(None, 1 << 20).unwrap();
        assert_eq!(kept.pixels[..], [69, 186, 128, 186, 69, 128]);
        let mean = colour
            .contrast_normalised(Some(Grey::Mean), 1 << 20)
            .unwrap();
        assert_eq!((mean.channels, &mean.pixels[..]), (1, &[128, 128][..]));
        // 0.2126 * 0.2689 + 0.7152 * 0.7311 + 0.0722 * 0.5 = 0.6162
        let light = colour
            .contrast_normalised(Some(Grey::Luminance), 1 << 20)
            .unwrap();
        assert_eq!(light.pixels[0], 157);
    }
}
