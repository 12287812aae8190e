//! Transformed weights, and their gradient from sums of products.

use super::lanes::{
    LANES, Lanes, Simd, Work, at, at_mut, column as column_of, gather, pairs, run, scatter,
};
use super::lines::{Line, OfWeights, PATCH, TAPS, ToWeights};
use super::points::{Along, POINTS};
use super::product::COLUMNS;
use crate::conv::block::ConvEngine;
use crate::parallel;

/// The stride from the sums of one point, `[inputs, COLUMNS]`, to those of the next: with a gap,
/// without which all points of a weight would map to the same cache set.
pub(super) fn sums_of_point(inputs: usize) -> usize {
    inputs * COLUMNS + LANES
}

/// Weights `[3, 3, inputs, outputs]` as right factors: `[blocks of COLUMNS outputs, POINTS, words
/// of the inputs, COLUMNS]`, padded with zeros.
pub(super) fn transform(
    engine: ConvEngine,
    channels: [usize; 2],
    weights: &[f32],
    to: &mut Vec<f32>,
) {
    let [inputs, outputs] = channels;
    let [_, words] = Along::Channels.sizes(pairs(engine), 1, inputs);
    to.resize(outputs.div_ceil(COLUMNS) * POINTS * words * COLUMNS, 0.0);
    let blocks = to.chunks_exact_mut(POINTS * words * COLUMNS);
    let operations = 4 * inputs * outputs;
    parallel::for_each(operations, blocks.enumerate(), |(block, to)| {
        let work = TransformBlock {
            channels,
            first: block * COLUMNS,
            weights,
            to,
        };
        run(engine, work);
    });
}

struct TransformBlock<'a> {
    channels: [usize; 2],
    /// Of its outputs.
    first: usize,
    weights: &'a [f32],
    to: &'a mut [f32],
}

impl Work for TransformBlock<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let words = self.to.len() / (POINTS * COLUMNS);
        for word in 0..words {
            // As in `Along::Channels`.
            let input = if S::PAIRS {
                word / LANES * 2 * LANES + word % LANES
            } else {
                word
            };
            for column in (0..COLUMNS).step_by(LANES) {
                let first = self.across(simd, input, column);
                let second = if S::PAIRS {
                    self.across(simd, input + LANES, column)
                } else {
                    first
                };
                for i in 0..PATCH {
                    let mut numbers = OfWeights::transform(column_of(&first, i));
                    if S::PAIRS {
                        let second = OfWeights::transform(column_of(&second, i));
                        for (number, second) in numbers.iter_mut().zip(second) {
                            *number = simd.pair(*number, second);
                        }
                    }
                    let place = (i * PATCH * words + word) * COLUMNS + column;
                    scatter(numbers, &mut self.to[place..], words * COLUMNS);
                }
            }
        }
    }
}

impl TransformBlock<'_> {
    /// The weights of an input and some outputs, transformed vertically.
    #[inline(always)]
    fn across<S: Simd>(&self, simd: S, input: usize, column: usize) -> [[S::Lanes; PATCH]; TAPS] {
        let ([inputs, outputs], output) = (self.channels, self.first + column);
        let mut across = [[simd.all(0.0); PATCH]; TAPS];
        if output < outputs {
            for (x, across) in across.iter_mut().enumerate() {
                let place = (x * inputs + input) * outputs + output;
                let taps = gather(simd, &self.weights[place..], TAPS * inputs * outputs);
                *across = OfWeights::transform(taps);
            }
        }
        across
    }
}

/// The weights of the input gradient, which is a convolution too: `to [3, 3, outputs, inputs]`,
/// rotated by 180 degrees.
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
/// `[blocks of COLUMNS outputs, POINTS, sums_of_point]`, which are added in order.
pub(super) fn transform_back(
    engine: ConvEngine,
    [inputs, outputs]: [usize; 2],
    parts: &[f32],
    gradient: &mut [f32],
) {
    // One input after the other, with its outputs of every tap.
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
        run(engine, work);
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
        let of_point = sums_of_point(inputs);
        let of_part = outputs.div_ceil(COLUMNS) * POINTS * of_point;
        for output in (0..outputs).step_by(LANES) {
            let mut down = [[simd.all(0.0); TAPS]; PATCH];
            for (i, down) in down.iter_mut().enumerate() {
                let mut sums = [simd.all(0.0); PATCH];
                for part in self.parts.chunks_exact(of_part) {
                    for (k, sum) in sums.iter_mut().enumerate() {
                        let point = output / COLUMNS * POINTS + i * PATCH + k;
                        let place = point * of_point + self.input * COLUMNS + output % COLUMNS;
                        *sum = *sum + simd.load(at(part, place));
                    }
                }
                *down = ToWeights::transform(sums);
            }
            for x in 0..TAPS {
                let numbers = ToWeights::transform(column_of(&down, x));
                for (y, numbers) in numbers.into_iter().enumerate() {
                    numbers.store(at_mut(to[y * TAPS + x], output));
                }
            }
        }
    }
}
