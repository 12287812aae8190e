//! Weights as they are multiplied, and their gradient from sums of products.

use super::lanes::{LANES, Lanes, Simd, Work, at, at_mut, column, gather, run, scatter};
use super::lines::{Line, OfWeights, PATCH, TAPS, ToWeights};
use super::product::COLUMNS;
use super::tiling::POINTS;
use crate::isa::Isa;
use crate::parallel;

/// Numbers of [`transform`].
pub(super) fn transformed_length([inputs, outputs]: [usize; 2]) -> usize {
    outputs.div_ceil(COLUMNS) * POINTS * inputs * COLUMNS
}

/// Weights `[3, 3, inputs, outputs]` at every point: `[blocks of COLUMNS outputs, POINTS, inputs,
/// COLUMNS]`, zeros where there are no outputs.
pub(super) fn transform(isa: Isa, [inputs, outputs]: [usize; 2], weights: &[f32], to: &mut [f32]) {
    let blocks = to.chunks_exact_mut(POINTS * inputs * COLUMNS);
    let operations = 4 * inputs * outputs;
    parallel::for_each(operations, blocks.enumerate(), |(block, to)| {
        let work = TransformBlock {
            channels: [inputs, outputs],
            first: block * COLUMNS,
            weights,
            to,
        };
        run(isa, work);
    });
}

struct TransformBlock<'a> {
    channels: [usize; 2],
    first: usize,
    weights: &'a [f32],
    to: &'a mut [f32],
}

impl Work for TransformBlock<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let ([inputs, outputs], to) = (self.channels, self.to);
        for input in 0..inputs {
            for first in (0..COLUMNS).step_by(LANES) {
                let output = self.first + first;
                let mut across = [[simd.all(0.0); PATCH]; TAPS];
                if output < outputs {
                    for (x, across) in across.iter_mut().enumerate() {
                        let place = (x * inputs + input) * outputs + output;
                        let taps = gather(simd, &self.weights[place..], TAPS * inputs * outputs);
                        *across = OfWeights::transform(taps);
                    }
                }
                for down in 0..PATCH {
                    let numbers = OfWeights::transform(column(&across, down));
                    let place = (down * PATCH * inputs + input) * COLUMNS + first;
                    scatter(numbers, &mut to[place..], inputs * COLUMNS);
                }
            }
        }
    }
}

/// The weights of the input gradient, which is a convolution too: `to [3, 3, outputs, inputs]`,
/// turned by half a turn.
pub(super) fn turn([inputs, outputs]: [usize; 2], weights: &[f32], to: &mut [f32]) {
    let taps = weights.chunks_exact(inputs * outputs).rev();
    let taps = taps.zip(to.chunks_exact_mut(inputs * outputs));
    parallel::for_each(weights.len(), taps, |(from, to)| {
        // A few inputs at a time stay in the cache.
        for first in (0..inputs).step_by(LANES) {
            for output in 0..outputs {
                let to = &mut to[output * inputs + first..][..LANES];
                for (to, input) in to.iter_mut().zip(first..) {
                    *to = from[input * outputs + output];
                }
            }
        }
    });
}

/// The gradient of weights `[3, 3, inputs, outputs]`, from sums of products of several parts, each
/// `[blocks of COLUMNS outputs, POINTS, inputs, COLUMNS]`, which are added in order.
pub(super) fn transform_back(
    isa: Isa,
    [inputs, outputs]: [usize; 2],
    parts: &[f32],
    gradient: &mut [f32],
) {
    // An input after the other, with its outputs of every tap.
    let mut taps: Vec<_> = gradient
        .chunks_exact_mut(inputs * outputs)
        .map(|tap| tap.chunks_exact_mut(outputs))
        .collect();
    let of_input = |_| taps.iter_mut().filter_map(Iterator::next).collect();
    let all: Vec<Vec<&mut [f32]>> = (0..inputs).map(of_input).collect();
    let operations = 8 * inputs * outputs;
    parallel::for_each(operations, all.into_iter().enumerate(), |(input, to)| {
        let work = BackOfInput {
            channels: [inputs, outputs],
            input,
            parts,
            to,
        };
        run(isa, work);
    });
}

struct BackOfInput<'a> {
    channels: [usize; 2],
    input: usize,
    parts: &'a [f32],
    /// Its outputs, for every tap.
    to: Vec<&'a mut [f32]>,
}

impl Work for BackOfInput<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let ([inputs, outputs], mut to) = (self.channels, self.to);
        let of_part = transformed_length(self.channels);
        for output in (0..outputs).step_by(LANES) {
            let mut down = [[simd.all(0.0); TAPS]; PATCH];
            for (i, down) in down.iter_mut().enumerate() {
                let mut sums = [simd.all(0.0); PATCH];
                for part in self.parts.chunks_exact(of_part) {
                    for (k, sum) in sums.iter_mut().enumerate() {
                        let point = output / COLUMNS * POINTS + i * PATCH + k;
                        let line = point * inputs + self.input;
                        *sum = *sum + simd.load(at(part, line * COLUMNS + output % COLUMNS));
                    }
                }
                *down = ToWeights::transform(sums);
            }
            for x in 0..TAPS {
                let numbers = ToWeights::transform(column(&down, x));
                for (y, numbers) in numbers.into_iter().enumerate() {
                    numbers.store(at_mut(to[y * TAPS + x], output));
                }
            }
        }
    }
}
