//! The gradient of a convolution's weights: for each tap a sum over all pixels of all images.

use super::ConvShape;
use super::block::{ConvEngine, LANES, Left, ROWS, Sums};
use super::words::{PackedImages, pack_lanes};
use crate::parallel;
use crate::product::Precision;
use crate::timing::timed;
use crate::workspace::Workspace;

/// About how many pieces the work is split into, which is enough for the number of threads. The
/// pieces depend on the shape only, and their sums are added in order.
const PIECES: usize = 8;

/// `gw [kernel, kernel, inputs, outputs]` from `x [rows, height, width, inputs]` and the gradient
/// `gy [rows, output height, output width, outputs]` of [`super::forward`]'s output.
///
/// # Panics
/// If a slice's length does not fit the shape.
pub fn weight_gradient(
    workspace: &Workspace,
    shape: &ConvShape,
    x: &[f32],
    gy: &[f32],
    gw: &mut [f32],
) {
    shape.check(x, gy, gw);
    timed("convolution: weight gradient", shape.flop(), || {
        let engine = ConvEngine::of(workspace.precision());
        #[cfg(target_arch = "x86_64")]
        if super::winograd::suits(engine, shape) {
            let scratch = &workspace.conv.winograd;
            return super::winograd::weight_gradient(engine, scratch, shape, x, gy, gw);
        }
        #[cfg(target_arch = "x86_64")]
        if engine.uses_tiles() {
            let scratch = &workspace.conv.images;
            return super::tile_gradient::weight_gradient(engine, scratch, shape, x, gy, gw);
        }
        let blocks = shape.outputs.div_ceil(LANES);
        let of_block = shape.kernel * shape.kernel * shape.inputs * LANES;
        let groups = PIECES.min(shape.rows.max(1));
        let rows_of_group = shape.rows.div_ceil(groups).max(1);
        let mut partial = vec![0.0; groups * blocks * of_block];
        let pieces = partial.chunks_exact_mut((blocks * of_block).max(1));
        let operations = engine.operations(shape.flop());
        parallel::for_each(operations, pieces.enumerate(), |(group, sums)| {
            let rows = group * rows_of_group..((group + 1) * rows_of_group).min(shape.rows);
            workspace.conv.images.with(|scratch| {
                for row in rows {
                    add_image(engine, shape, x, gy, row, scratch, sums);
                }
            });
        });
        add_up(shape, &partial, gw);
    });
}

/// Adds what one image contributes: `sums [blocks of LANES outputs, taps, inputs, LANES]`.
fn add_image(
    engine: ConvEngine,
    shape: &ConvShape,
    x: &[f32],
    gy: &[f32],
    row: usize,
    scratch: &mut PackedImages,
    sums: &mut [f32],
) {
    let frame = shape.input_frame();
    let [height, width] = shape.output_size();
    let of_x = shape.height * shape.width * shape.inputs;
    let of_gy = height * width * shape.outputs;
    let (x, gy) = (&x[row * of_x..][..of_x], &gy[row * of_gy..][..of_gy]);
    let PackedImages {
        image,
        gradient,
        padded,
    } = scratch;
    frame.pack_pixels(engine, shape.stride, x, padded, image);
    // A word of two numbers takes two pixels at once.
    let pixels_of_word = match engine.precision {
        Precision::F32 => 1,
        Precision::Bf16 => 2,
    };
    let mut new: Sums = [[0.0; LANES]; ROWS];
    let taps = shape.kernel * shape.kernel;
    let places = sums.chunks_exact_mut((shape.inputs * LANES).max(1));
    for (place, sums) in places.enumerate() {
        let (block, tap) = (place / taps, place % taps);
        if tap == 0 {
            pack_lanes(engine, [width, shape.outputs], block * LANES, gy, gradient);
        }
        let (down, across) = (tap / shape.kernel, tap % shape.kernel);
        let rows = (0..height).map(|y| {
            let y = y * shape.stride + down;
            (y * frame.row() + across) * shape.inputs
        });
        let segments: Vec<usize> = rows.collect();
        for (block, sums) in sums.chunks_mut(ROWS * LANES).enumerate() {
            let left = Left {
                words: &image[block * ROWS..],
                segments: &segments,
                depth: engine.words(width),
                row_step: 1,
                depth_step: pixels_of_word * shape.stride * shape.inputs,
            };
            let inputs = sums.len() / LANES;
            engine.multiply(inputs, &left, gradient, &mut new);
            for (sum, new) in sums.iter_mut().zip(new.as_flattened()) {
                *sum += new;
            }
        }
    }
}

/// The sum of the pieces `[groups, blocks, taps * inputs, LANES]`, in order.
fn add_up(shape: &ConvShape, partial: &[f32], gw: &mut [f32]) {
    gw.fill(0.0);
    let lines = shape.kernel * shape.kernel * shape.inputs;
    let blocks = shape.outputs.div_ceil(LANES);
    for (piece, partial) in partial.chunks_exact((lines * LANES).max(1)).enumerate() {
        let first = (piece % blocks) * LANES;
        let lanes = LANES.min(shape.outputs - first);
        let lines = gw
            .chunks_exact_mut(shape.outputs)
            .zip(partial.chunks_exact(LANES));
        for (line, partial) in lines {
            for (sum, new) in line[first..first + lanes].iter_mut().zip(partial) {
                *sum += new;
            }
        }
    }
}
