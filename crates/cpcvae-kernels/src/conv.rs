//! Convolutions of images, channels last (`[rows, height, width, channels]`), and their gradients.
//! A transposed convolution is the input gradient of a convolution, so it needs no code of its own.
//!
//! There are two algorithms. Kernels of 3 by 3 pixels with stride 1, the majority, use Winograd's
//! (`winograd.rs`), with a quarter of the products. For the others each image gets a border of
//! zeros, and blocks of 8 pixels by 32 channels are summed over all taps and inputs in registers
//! (`block.rs`), or of 32 pixels in AMX tiles (`tile_block.rs`). With the workspace's precision
//! bfloat16, factors are rounded to it; sums are always `f32`.

mod block;
#[cfg(target_arch = "x86_64")]
mod block_avx512;
mod pass;
mod rounding;
#[cfg(target_arch = "x86_64")]
mod tile_block;
#[cfg(target_arch = "x86_64")]
mod tile_gradient;
#[cfg(target_arch = "x86_64")]
mod tile_pass;
mod weight_gradient;
#[cfg(target_arch = "x86_64")]
mod winograd;
mod words;

pub use weight_gradient::weight_gradient;

use crate::parallel;
use crate::timing::timed;
use crate::workspace::{Scratch, Workspace};
use block::ConvEngine;
use pass::{Pass, Target};
use words::{Frame, PackedImages, pack_weights};

/// Memory of convolutions, part of a [`Workspace`].
#[derive(Debug, Default)]
pub(crate) struct ConvScratch {
    images: Scratch<PackedImages>,
    #[cfg(target_arch = "x86_64")]
    winograd: winograd::WinogradScratch,
}

impl ConvScratch {
    pub(crate) fn clear(&self) {
        self.images.clear();
        #[cfg(target_arch = "x86_64")]
        self.winograd.clear();
    }
}

/// The sizes of a convolution with an odd kernel and zero padding: from images `[rows, height,
/// width, inputs]` to images `[rows, height / stride, width / stride, outputs]`, sides rounded up,
/// by weights `[kernel, kernel, inputs, outputs]`.
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
    /// Distance between the input pixels under the kernel's centre.
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

/// `y [rows, output height, output width, outputs]`, the convolution of `x [rows, height, width,
/// inputs]` with `w [kernel, kernel, inputs, outputs]`, plus `added`, if given, of the same shape
/// as `y`.
///
/// # Panics
/// If a slice's length does not fit the shape.
pub fn forward(
    workspace: &Workspace,
    shape: &ConvShape,
    x: &[f32],
    w: &[f32],
    added: Option<&[f32]>,
    y: &mut [f32],
) {
    shape.check(x, y, w);
    timed("convolution: forward", shape.flop(), || {
        let engine = ConvEngine::of(workspace.precision());
        #[cfg(target_arch = "x86_64")]
        if winograd::suits(engine, shape) {
            let scratch = &workspace.conv.winograd;
            return winograd::forward(engine, scratch, shape, x, w, added, y);
        }
        apply(
            (engine, &workspace.conv.images),
            shape,
            &[Pass::forward(shape)],
            (shape.input_frame(), x),
            (w, false),
            (shape.output_frame(), added, y),
        );
    });
}

/// `gx [rows, height, width, inputs]` from the gradient `gy` of [`forward`]'s output: the
/// transposed convolution of `gy`, plus `added`, if given, of the same shape as `gx`.
///
/// # Panics
/// If a slice's length does not fit the shape.
pub fn input_gradient(
    workspace: &Workspace,
    shape: &ConvShape,
    gy: &[f32],
    w: &[f32],
    added: Option<&[f32]>,
    gx: &mut [f32],
) {
    shape.check(gx, gy, w);
    timed("convolution: input gradient", shape.flop(), || {
        let engine = ConvEngine::of(workspace.precision());
        #[cfg(target_arch = "x86_64")]
        if winograd::suits(engine, shape) {
            let scratch = &workspace.conv.winograd;
            return winograd::input_gradient(engine, scratch, shape, gy, w, added, gx);
        }
        apply(
            (engine, &workspace.conv.images),
            shape,
            &Pass::input_gradient(shape),
            (shape.output_frame(), gy),
            (w, true),
            (shape.input_frame(), added, gx),
        );
    });
}

/// Runs every pass on each image of `to`.
fn apply(
    (engine, scratch): (ConvEngine, &Scratch<PackedImages>),
    shape: &ConvShape,
    passes: &[Pass],
    (from_frame, from): (Frame, &[f32]),
    (weights, transposed): (&[f32], bool),
    (to_frame, added, to): (Frame, Option<&[f32]>, &mut [f32]),
) {
    assert!(added.is_none_or(|added| added.len() == to.len()));
    let channels = [from_frame.channels, to_frame.channels];
    let packed: Vec<Vec<u32>> = passes
        .iter()
        .map(|pass| {
            let taps = pass.taps.iter().map(|tap| tap.weight);
            pack_weights(engine, channels, taps, weights, transposed)
        })
        .collect();
    let length = |frame: &Frame| (frame.height * frame.width * frame.channels).max(1);
    let (of_from, of_to) = (length(&from_frame), length(&to_frame));
    let images = from.chunks_exact(of_from).zip(to.chunks_exact_mut(of_to));
    let operations = engine.operations(shape.flop());
    parallel::for_each(operations, images.enumerate(), |(row, (from, image))| {
        let mut target = Target {
            frame: to_frame,
            image,
            added: added.map(|added| &added[row * of_to..(row + 1) * of_to]),
        };
        scratch.with(|packed_images| {
            let words = &mut packed_images.image;
            from_frame.pack_channels(engine, from, words);
            #[cfg(target_arch = "x86_64")]
            if engine.uses_tiles() {
                let behind = tile_pass::PIXELS_BEHIND * shape.stride * from_frame.depth(engine);
                words.resize(words.len() + behind, 0);
            }
            for (pass, weights) in passes.iter().zip(&packed) {
                pass.run(engine, &from_frame, words, weights, &mut target);
            }
        });
    });
}
