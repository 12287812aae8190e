//! Convolutions of images, pixel by pixel in memory (`[rows, height, width, channels]`), and their
//! gradients. A transposed convolution is the input gradient of a convolution, so it needs nothing
//! of its own.
//!
//! Each image gets a border of zeros, and blocks of 8 pixels by 32 channels are summed over all
//! taps and inputs in registers (`block.rs`). With the precision [`crate::product::precision`]
//! set to bfloat16, factors are rounded to it; sums are always `f32`.

mod block;
#[cfg(target_arch = "x86_64")]
mod block_avx512;
mod pass;
mod weight_gradient;
mod words;

pub use weight_gradient::weight_gradient;

use crate::parallel;
use crate::timing::timed;
use block::Engine;
use pass::Pass;
use words::{Frame, pack_weights, with_scratch};

/// The sizes of a convolution with an odd kernel, whose borders are zeros: from images
/// `[rows, height, width, inputs]` to images `[rows, height / stride, width / stride, outputs]`,
/// sides rounded up, by weights `[kernel, kernel, inputs, outputs]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConvShape {
    /// Number of images.
    pub rows: usize,
    /// Height of the input.
    pub height: usize,
    /// Width of the input.
    pub width: usize,
    /// Channels of the input.
    pub inputs: usize,
    /// Channels of the output.
    pub outputs: usize,
    /// Side of the kernel, odd.
    pub kernel: usize,
    /// Pixels of the input between those that the kernel is laid on.
    pub stride: usize,
}

impl ConvShape {
    /// Height and width of the output.
    pub fn output_size(&self) -> [usize; 2] {
        [self.height, self.width].map(|side| side.div_ceil(self.stride))
    }

    /// Length of the input.
    pub fn input_length(&self) -> usize {
        self.rows * self.height * self.width * self.inputs
    }

    /// Length of the output.
    pub fn output_length(&self) -> usize {
        let [height, width] = self.output_size();
        self.rows * height * width * self.outputs
    }

    /// Length of the weights.
    pub fn weight_length(&self) -> usize {
        self.kernel * self.kernel * self.inputs * self.outputs
    }

    fn border(&self) -> usize {
        self.kernel / 2
    }

    fn input_frame(&self) -> Frame {
        Frame {
            height: self.height,
            width: self.width,
            channels: self.inputs,
            border: self.border(),
        }
    }

    fn output_frame(&self) -> Frame {
        let [height, width] = self.output_size();
        Frame {
            height,
            width,
            channels: self.outputs,
            border: self.border(),
        }
    }

    /// Floating-point operations of one pass.
    fn flop(&self) -> f64 {
        let [height, width] = self.output_size();
        2.0 * (self.rows * height * width * self.weight_length()) as f64
    }

    fn check(&self, input: &[f32], output: &[f32], weights: &[f32]) {
        assert!(self.kernel % 2 == 1 && self.stride > 0);
        assert_eq!(input.len(), self.input_length());
        assert_eq!(output.len(), self.output_length());
        assert_eq!(weights.len(), self.weight_length());
    }
}

/// `y [rows, output height, output width, outputs]`, the convolution of
/// `x [rows, height, width, inputs]` with `w [kernel, kernel, inputs, outputs]`.
///
/// # Panics
/// If a slice's length does not fit the shape.
pub fn forward(shape: &ConvShape, x: &[f32], w: &[f32], y: &mut [f32]) {
    shape.check(x, y, w);
    timed("convolution: forward", shape.flop(), || {
        let passes = [Pass::forward(shape)];
        apply(
            shape,
            &passes,
            (shape.input_frame(), x),
            (w, false),
            (shape.output_frame(), y),
        );
    });
}

/// `gx [rows, height, width, inputs]` from the gradient `gy` of [`forward`]'s output: the
/// transposed convolution of `gy`.
///
/// # Panics
/// If a slice's length does not fit the shape.
pub fn input_gradient(shape: &ConvShape, gy: &[f32], w: &[f32], gx: &mut [f32]) {
    shape.check(gx, gy, w);
    timed("convolution: input gradient", shape.flop(), || {
        let passes = Pass::input_gradient(shape);
        apply(
            shape,
            &passes,
            (shape.output_frame(), gy),
            (w, true),
            (shape.input_frame(), gx),
        );
    });
}

/// Lets every pass write its part of each image of `to`.
fn apply(
    shape: &ConvShape,
    passes: &[Pass],
    (from_frame, from): (Frame, &[f32]),
    (weights, transposed): (&[f32], bool),
    (to_frame, to): (Frame, &mut [f32]),
) {
    let engine = Engine::current();
    let channels = [from_frame.channels, to_frame.channels];
    let packed: Vec<Vec<u32>> = passes
        .iter()
        .map(|pass| {
            let taps = pass.taps.iter().map(|tap| tap.weight);
            pack_weights(engine, channels, taps, weights, transposed)
        })
        .collect();
    let length = |frame: &Frame| (frame.height * frame.width * frame.channels).max(1);
    let images = from
        .chunks_exact(length(&from_frame))
        .zip(to.chunks_exact_mut(length(&to_frame)));
    let operations = (shape.flop() / 8.0) as usize;
    parallel::for_each(operations, images, |(from, to)| {
        with_scratch(|words, _| {
            from_frame.pack_channels(engine, from, words);
            for (pass, weights) in passes.iter().zip(&packed) {
                pass.run(engine, &from_frame, words, weights, &to_frame, to);
            }
        });
    });
}
