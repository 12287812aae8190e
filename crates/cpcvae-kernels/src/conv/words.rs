//! Images and weights packed as the words of [`super::block`].

use super::block::{ConvEngine, LANES};
use super::rounding::{bits, neighbours, pairs};
use crate::bf16::pair;
use crate::product::Precision;

/// An image `[height, width, channels]` within a border of zeros.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub height: usize,
    pub width: usize,
    pub channels: usize,
    pub border: usize,
}

impl Frame {
    /// Pixels of a row, including the border.
    pub(super) fn row(&self) -> usize {
        self.width + 2 * self.border
    }

    /// Words of each pixel for sums along the channels.
    pub(super) fn depth(&self, engine: ConvEngine) -> usize {
        engine.depth(self.channels)
    }

    /// The image for sums along its channels: `[height + 2 border, row, depth]`.
    pub(super) fn pack_channels(&self, engine: ConvEngine, image: &[f32], words: &mut Vec<u32>) {
        let depth = self.depth(engine);
        self.each_row(words, depth, |pixels, words| match pixels {
            None => words.fill(0),
            Some(y) => {
                let start = y * self.width * self.channels;
                let pixels = &image[start..start + self.width * self.channels];
                let (before, rest) = words.split_at_mut(self.border * depth);
                let (inside, after) = rest.split_at_mut(self.width * depth);
                before.fill(0);
                after.fill(0);
                match engine.precision {
                    Precision::F32 => bits(engine.isa, pixels, inside),
                    Precision::Bf16 if self.channels == 2 * depth => {
                        neighbours(engine, pixels, inside);
                    }
                    Precision::Bf16 => {
                        let places = pixels.chunks(self.channels.max(1));
                        for (pixel, words) in places.zip(inside.chunks_mut(depth.max(1))) {
                            let (whole, rest) = words.split_at_mut(self.channels / 2);
                            neighbours(engine, pixel, whole);
                            rest.fill(0);
                            if self.channels % 2 == 1 {
                                rest[0] = pair(pixel[self.channels - 1], 0.0);
                            }
                        }
                    }
                }
            }
        });
    }

    /// The image for sums along its pixels, of which every `step`-th of a row is used: `[height + 2
    /// border, row, channels]`. A word of two numbers is a pixel and the one `step` further in its
    /// row.
    pub(super) fn pack_pixels(
        &self,
        engine: ConvEngine,
        step: usize,
        image: &[f32],
        padded: &mut Vec<f32>,
        words: &mut Vec<u32>,
    ) {
        if engine.precision == Precision::F32 {
            return self.pack_channels(engine, image, words);
        }
        padded.clear();
        padded.resize((self.row() + step) * self.channels, 0.0);
        let inside = self.border * self.channels..(self.border + self.width) * self.channels;
        self.each_row(words, self.channels, |pixels, words| match pixels {
            None => words.fill(0),
            Some(y) => {
                let start = y * self.width * self.channels;
                padded[inside.clone()]
                    .copy_from_slice(&image[start..start + self.width * self.channels]);
                pairs(engine, padded, &padded[step * self.channels..], words);
            }
        });
    }

    /// Calls `write` with each row of words, of `depth` words a pixel, and the number of its image
    /// row, which is `None` in the border.
    fn each_row(
        &self,
        words: &mut Vec<u32>,
        depth: usize,
        mut write: impl FnMut(Option<usize>, &mut [u32]),
    ) {
        let length = self.row() * depth;
        words.resize((self.height + 2 * self.border) * length, 0);
        for (y, row) in words.chunks_mut(length.max(1)).enumerate() {
            let inside = y.checked_sub(self.border).filter(|y| *y < self.height);
            write(inside, row);
        }
    }
}

/// Channels `first..` of an image `[height, width, channels]` as the right factor of a sum along
/// pixels: `[height, words of a row, LANES]`, padded with zeros.
pub(super) fn pack_lanes(
    engine: ConvEngine,
    [width, channels]: [usize; 2],
    first: usize,
    image: &[f32],
    words: &mut Vec<u32>,
) {
    let depth = engine.words(width);
    let lanes = LANES.min(channels - first);
    let rows = image.len() / (width * channels).max(1);
    words.resize(rows * depth * LANES, 0);
    let places = words.chunks_exact_mut((depth * LANES).max(1));
    for (row, words) in image.chunks_exact((width * channels).max(1)).zip(places) {
        let mut pixels = row
            .chunks_exact(channels)
            .map(|pixel| &pixel[first..first + lanes]);
        for words in words.chunks_exact_mut(LANES) {
            let Some(pixel) = pixels.next() else { break };
            let (used, rest) = words.split_at_mut(lanes);
            rest.fill(0);
            match engine.precision {
                Precision::F32 => bits(engine.isa, pixel, used),
                Precision::Bf16 => {
                    let next = pixels.next().unwrap_or(&[0.0; LANES]);
                    pairs(engine, pixel, next, used);
                }
            }
        }
    }
}

/// One weight of each tap, `[inputs, outputs]`, as the right factor of a sum along its inputs:
/// `[blocks of LANES outputs, taps, words of the inputs, LANES]`. If `transposed`, the weights are
/// stored `[outputs, inputs]`.
pub(super) fn pack_weights(
    engine: ConvEngine,
    [inputs, outputs]: [usize; 2],
    taps: impl Iterator<Item = usize> + Clone,
    weights: &[f32],
    transposed: bool,
) -> Vec<u32> {
    let of_tap = inputs * outputs;
    let (input_step, output_step) = if transposed {
        (1, inputs)
    } else {
        (outputs, 1)
    };
    let mut words = Vec::new();
    for first in (0..outputs).step_by(LANES) {
        let lanes = LANES.min(outputs - first);
        for tap in taps.clone() {
            let weights = &weights[tap * of_tap..(tap + 1) * of_tap];
            let row = |input: usize| -> [f32; LANES] {
                let mut row = [0.0; LANES];
                if input < inputs {
                    let from = weights[input * input_step + first * output_step..].iter();
                    let from = from.step_by(output_step).take(lanes);
                    row.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
                }
                row
            };
            for place in 0..engine.depth(inputs) {
                match engine.precision {
                    Precision::F32 => words.extend(row(place).map(f32::to_bits)),
                    Precision::Bf16 => {
                        let (even, odd) = (row(2 * place), row(2 * place + 1));
                        words.extend(even.iter().zip(odd).map(|(even, odd)| pair(*even, odd)));
                    }
                }
            }
        }
    }
    words
}

/// Memory for packed images.
#[derive(Debug, Default)]
pub(super) struct PackedImages {
    pub image: Vec<u32>,
    pub gradient: Vec<u32>,
    /// Numbers with zeros around them.
    pub padded: Vec<f32>,
}
