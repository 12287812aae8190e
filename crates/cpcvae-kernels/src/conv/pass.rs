//! One walk over the pixels of an image that have their taps in common.

use super::ConvShape;
use super::block::{Engine, LANES, Left, ROWS};
use super::words::Frame;

/// A weight, and where it finds its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tap {
    /// Which `[inputs, outputs]` of the weights.
    pub weight: usize,
    /// Row and column in the framed input, for the first pixel of the pass.
    pub place: [usize; 2],
}

/// Pixels `offset + step * (i, j)` of the output, each summed over the same taps; these move by
/// `input_step` from pixel to pixel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pass {
    pub taps: Vec<Tap>,
    offset: [usize; 2],
    step: usize,
    input_step: usize,
}

impl Pass {
    /// All pixels of the output have all taps.
    pub(super) fn forward(shape: &ConvShape) -> Self {
        let taps = (0..shape.kernel * shape.kernel).map(|weight| Tap {
            weight,
            place: [weight / shape.kernel, weight % shape.kernel],
        });
        Self {
            taps: taps.collect(),
            offset: [0, 0],
            step: 1,
            input_step: shape.stride,
        }
    }

    /// A pixel of the input took part in one output of every `stride`, so which taps it has
    /// depends on its place modulo the stride.
    pub(super) fn input_gradient(shape: &ConvShape) -> Vec<Self> {
        let (stride, kernel) = (shape.stride, shape.kernel);
        let along = |offset: usize| Self::taps_along(shape, offset);
        let passes = (0..stride * stride).map(|phase| {
            let offset = [phase / stride, phase % stride];
            let (down, across) = (along(offset[0]), along(offset[1]));
            let taps = down.iter().flat_map(|(i, y)| {
                across.iter().map(move |(j, x)| Tap {
                    weight: i * kernel + j,
                    place: [*y, *x],
                })
            });
            Self {
                taps: taps.collect(),
                offset,
                step: stride,
                input_step: 1,
            }
        });
        passes.collect()
    }

    /// In one direction: which places of the kernel reach pixel `offset` of the input, and from
    /// which pixel of the framed output.
    fn taps_along(shape: &ConvShape, offset: usize) -> Vec<(usize, usize)> {
        let border = shape.border();
        (0..shape.kernel)
            .filter_map(|place| {
                // output * stride + place - border = offset; within the frame: output + border
                let framed = (offset + border + border * shape.stride).checked_sub(place)?;
                framed
                    .is_multiple_of(shape.stride)
                    .then(|| (place, framed / shape.stride))
            })
            .collect()
    }

    /// Writes this pass's pixels of `to`, from the packed image `words` in `from` and the packed
    /// weights of its taps.
    pub(super) fn run(
        &self,
        engine: Engine,
        from: &Frame,
        words: &[u32],
        weights: &[u32],
        to_frame: &Frame,
        to: &mut [f32],
    ) {
        let depth = from.depth(engine);
        let at = |[y, x]: [usize; 2]| (y * from.row() + x) * depth;
        let segments: Vec<usize> = self.taps.iter().map(|tap| at(tap.place)).collect();
        let of_block = (segments.len() * depth * LANES).max(1);
        let grid = |side: usize, offset: usize| side.saturating_sub(offset).div_ceil(self.step);
        let (down, across) = (
            grid(to_frame.height, self.offset[0]),
            grid(to_frame.width, self.offset[1]),
        );
        for (block, first) in (0..to_frame.channels).step_by(LANES).enumerate() {
            let weights = weights.get(block * of_block..).unwrap_or_default();
            let lanes = LANES.min(to_frame.channels - first);
            for i in 0..down {
                let row = (self.offset[0] + i * self.step) * to_frame.width + self.offset[1];
                for j in (0..across).step_by(ROWS) {
                    let pixels = ROWS.min(across - j);
                    let left = Left {
                        words: &words[at([i * self.input_step, j * self.input_step])..],
                        segments: &segments,
                        depth,
                        row_step: self.input_step * depth,
                        depth_step: 1,
                    };
                    let mut sums = [[0.0; LANES]; ROWS];
                    engine.multiply(pixels, &left, weights, &mut sums);
                    for (pixel, sums) in sums.iter().take(pixels).enumerate() {
                        let place = (row + (j + pixel) * self.step) * to_frame.channels + first;
                        to[place..place + lanes].copy_from_slice(&sums[..lanes]);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_stride_two_a_pixel_has_one_two_or_four_taps() {
        let shape = ConvShape {
            rows: 1,
            height: 4,
            width: 4,
            inputs: 1,
            outputs: 1,
            kernel: 3,
            stride: 2,
        };
        let taps: Vec<usize> = Pass::input_gradient(&shape)
            .iter()
            .map(|pass| pass.taps.len())
            .collect();
        assert_eq!(taps, [1, 2, 2, 4]);
        // The middle of the kernel stands on every second pixel; the frame is one pixel wide.
        let first = Pass::input_gradient(&shape)[0].taps[0];
        assert_eq!((first.weight, first.place), (4, [1, 1]));
    }
}
