//! A pass over the pixels of an image that have their taps in common.

use super::ConvShape;
use super::block::{ConvEngine, LANES, Left, ROWS};
use super::words::Frame;

/// A tap: a weight and the position of its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tap {
    /// Which `[inputs, outputs]` of the weights.
    pub weight: usize,
    /// Row and column in the framed input, for the first pixel of the pass.
    pub place: [usize; 2],
}

/// Pixels `offset + step * (i, j)` of the output, each summed over the same taps, whose inputs move
/// by `input_step` from pixel to pixel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pass {
    pub taps: Vec<Tap>,
    offset: [usize; 2],
    step: usize,
    pub input_step: usize,
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

    /// A pixel of the input contributes to one output of every `stride`, so its taps depend on its
    /// position modulo the stride.
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

    /// In one direction: which positions of the kernel reach pixel `offset` of the input, and from
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

    /// Rows and columns of the output in this pass.
    pub(super) fn grid(&self, to: &Frame) -> [usize; 2] {
        let side = |side: usize, offset: usize| side.saturating_sub(offset).div_ceil(self.step);
        [
            side(to.height, self.offset[0]),
            side(to.width, self.offset[1]),
        ]
    }

    /// The index in the output of this pass's row `i` and column `j`.
    pub(super) fn pixel(&self, to: &Frame, [i, j]: [usize; 2]) -> usize {
        (self.offset[0] + i * self.step) * to.width + self.offset[1] + j * self.step
    }

    /// Where each tap starts in the packed image.
    pub(super) fn segments(&self, engine: ConvEngine, from: &Frame) -> Vec<usize> {
        let at = |tap: &Tap| (tap.place[0] * from.row() + tap.place[1]) * from.depth(engine);
        self.taps.iter().map(at).collect()
    }

    /// Writes this pass's pixels of the target, from the packed image `words` in `from` and the
    /// packed weights of its taps.
    pub(super) fn run(
        &self,
        engine: ConvEngine,
        from: &Frame,
        words: &[u32],
        weights: &[u32],
        target: &mut Target,
    ) {
        #[cfg(target_arch = "x86_64")]
        if engine.uses_tiles() {
            return super::tile_pass::run(self, engine, from, words, weights, target);
        }
        let depth = from.depth(engine);
        let segments = self.segments(engine, from);
        let of_block = segments.len() * depth * LANES;
        let [down, across] = self.grid(&target.frame);
        let mut sums = [[0.0; LANES]; ROWS];
        for (block, first) in (0..target.frame.channels).step_by(LANES).enumerate() {
            let weights = &weights[block * of_block..(block + 1) * of_block];
            for i in 0..down {
                for j in (0..across).step_by(ROWS) {
                    let pixels = ROWS.min(across - j);
                    let start = (i * from.row() + j) * self.input_step * depth;
                    let left = Left {
                        words: &words[start..],
                        segments: &segments,
                        depth,
                        row_step: self.input_step * depth,
                        depth_step: 1,
                    };
                    engine.multiply(pixels, &left, weights, &mut sums);
                    for (j, sums) in (j..j + pixels).zip(&sums) {
                        target.write(self.pixel(&target.frame, [i, j]), first, sums);
                    }
                }
            }
        }
    }
}

/// The image that passes write: their results, or the sum of these and another image.
#[derive(Debug)]
pub(super) struct Target<'a> {
    pub frame: Frame,
    pub image: &'a mut [f32],
    pub added: Option<&'a [f32]>,
}

impl Target<'_> {
    /// The channels from `first` on of a pixel, up to the last.
    #[inline]
    pub(super) fn write(&mut self, pixel: usize, first: usize, sums: &[f32; LANES]) {
        let place = pixel * self.frame.channels + first;
        let lanes = LANES.min(self.frame.channels - first);
        let to = &mut self.image[place..place + lanes];
        match (self.added, to.as_chunks_mut::<LANES>().0) {
            (Some(added), _) => {
                let added = &added[place..place + lanes];
                for ((to, sum), added) in to.iter_mut().zip(sums).zip(added) {
                    *to = sum + added;
                }
            }
            // The length is known to the compiler: a call of `memcpy` would take longer.
            (None, [all]) => *all = *sums,
            (None, _) => to.copy_from_slice(&sums[..lanes]),
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
        // The middle of the kernel is at every second pixel; the frame is one pixel wide.
        let first = Pass::input_gradient(&shape)[0].taps[0];
        assert_eq!((first.weight, first.place), (4, [1, 1]));
    }
}
