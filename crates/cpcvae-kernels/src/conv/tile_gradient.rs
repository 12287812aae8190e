//! The gradient of a convolution's weights on AMX tiles.
//!
//! Pixels are in the order of the framed input, including its border, so that every tap is one
//! product with the input from an offset on: `outputs x pixels` times `pixels x inputs`. Where
//! there is no output, the left factor is zero.

use super::ConvShape;
use super::block::{ConvEngine, Left, TILE};
use super::rounding::pairs;
use super::tile_block::{Right, SIDE, TileSums, Tiles};
use super::words::PackedImages;
use crate::bf16::turn;
use crate::parallel;
use crate::workspace::Scratch;

/// The number of groups of images; their sums are added in order.
const GROUPS: usize = 8;

/// The sizes of the product of one image.
struct Plan {
    /// Pixels of a row of the frame.
    pitch: usize,
    /// Words along the pixels, padded to complete tiles.
    depth: usize,
    /// Pixels of the input with words, including padding after the frame.
    pixels: usize,
    taps: usize,
    /// Blocks of inputs and of outputs.
    blocks: [usize; 2],
}

impl Plan {
    fn new(shape: &ConvShape) -> Self {
        let [height, width] = shape.output_size();
        let pitch = shape.input_frame().row();
        let places = (height - 1) * pitch + width;
        let depth = places.div_ceil(2).next_multiple_of(TILE);
        let last_tap = (shape.kernel - 1) * (pitch + 1);
        Self {
            pitch,
            depth,
            pixels: 2 * shape.stride * (depth - 1) + last_tap + 1,
            taps: shape.kernel * shape.kernel,
            blocks: [shape.inputs, shape.outputs].map(|channels| channels.div_ceil(SIDE)),
        }
    }

    /// Blocks of one group: `[taps, blocks of outputs, blocks of inputs]`.
    fn blocks_of_group(&self) -> usize {
        self.taps * self.blocks[0] * self.blocks[1]
    }
}

/// As [`super::weight_gradient()`], whose lengths were checked.
pub(super) fn weight_gradient(
    engine: ConvEngine,
    scratch: &Scratch<PackedImages>,
    shape: &ConvShape,
    x: &[f32],
    gy: &[f32],
    gw: &mut [f32],
) {
    if gw.is_empty() || x.is_empty() {
        return gw.fill(0.0);
    }
    let plan = Plan::new(shape);
    let groups = GROUPS.min(shape.rows);
    let rows_of_group = shape.rows.div_ceil(groups);
    let mut partial: Vec<TileSums> = vec![[[0.0; SIDE]; SIDE]; groups * plan.blocks_of_group()];
    let (of_x, of_gy) = (x.len() / shape.rows, gy.len() / shape.rows);
    let pieces = partial.chunks_mut(plan.blocks_of_group());
    let images = x
        .chunks(rows_of_group * of_x)
        .zip(gy.chunks(rows_of_group * of_gy));
    let operations = engine.operations(shape.flop());
    parallel::for_each(operations, pieces.zip(images), |(sums, (x, gy))| {
        scratch.with(|packed| {
            for (x, gy) in x.chunks(of_x).zip(gy.chunks(of_gy)) {
                add_image(engine, shape, &plan, (x, gy), packed, sums);
            }
        });
    });
    let taps = gw.chunks_mut(shape.inputs * shape.outputs).enumerate();
    parallel::for_each(groups * shape.weight_length(), taps, |(tap, gw)| {
        gw.fill(0.0);
        for sums in partial.chunks(plan.blocks_of_group()) {
            let of_tap = plan.blocks[0] * plan.blocks[1];
            add_turned(shape, &plan, &sums[tap * of_tap..(tap + 1) * of_tap], gw);
        }
    });
}

/// Adds what one image contributes to the blocks of its group.
fn add_image(
    engine: ConvEngine,
    shape: &ConvShape,
    plan: &Plan,
    (x, gy): (&[f32], &[f32]),
    packed: &mut PackedImages,
    sums: &mut [TileSums],
) {
    let (image, gradient) = (&mut packed.image, &mut packed.gradient);
    pack_input(engine, shape, plan, x, &mut packed.padded, image);
    pack_gradient(engine, shape, plan, gy, &mut packed.padded, gradient);
    let tiles = Tiles::configure(engine);
    for (block, sums) in sums.iter_mut().enumerate() {
        let (tap, block) = (
            block / (plan.blocks[0] * plan.blocks[1]),
            block % (plan.blocks[0] * plan.blocks[1]),
        );
        let (output, input) = (block / plan.blocks[0] * SIDE, block % plan.blocks[0] * SIDE);
        let start = tap / shape.kernel * plan.pitch + tap % shape.kernel;
        let left = Left {
            words: &gradient[output * plan.depth..],
            segments: &[0],
            depth: plan.depth,
            row_step: plan.depth,
            depth_step: 1,
        };
        let right = Right {
            words: &image[start * shape.inputs + input..],
            row_step: 2 * shape.stride * shape.inputs,
        };
        let rows = SIDE.min(shape.outputs - output);
        tiles.multiply(rows, &left, right, sums, true);
    }
}

/// The input as a right factor: `[pixels of the frame, inputs]`, where a word is a pixel and the
/// one `stride` further.
fn pack_input(
    engine: ConvEngine,
    shape: &ConvShape,
    plan: &Plan,
    x: &[f32],
    padded: &mut Vec<f32>,
    words: &mut Vec<u32>,
) {
    let border = shape.border();
    let second = shape.stride * shape.inputs;
    padded.clear();
    // Large strides may leave the last pixels out.
    let of_frame = (shape.height + 2 * border) * plan.pitch;
    padded.resize(
        (plan.pixels + shape.stride).max(of_frame) * shape.inputs,
        0.0,
    );
    for (y, row) in x.chunks(shape.width * shape.inputs).enumerate() {
        let start = ((y + border) * plan.pitch + border) * shape.inputs;
        padded[start..start + row.len()].copy_from_slice(row);
    }
    let used = plan.pixels * shape.inputs;
    // The last block of inputs may extend beyond the end.
    words.resize(used + SIDE, 0);
    pairs(engine, padded, &padded[second..], &mut words[..used]);
}

/// The gradient as a left factor: `[outputs, words along the pixels]`, rows of complete tiles.
fn pack_gradient(
    engine: ConvEngine,
    shape: &ConvShape,
    plan: &Plan,
    gy: &[f32],
    padded: &mut Vec<f32>,
    words: &mut Vec<u32>,
) {
    let outputs = shape.outputs;
    let [_, width] = shape.output_size();
    padded.clear();
    padded.resize(2 * plan.depth * outputs, 0.0);
    for (y, row) in gy.chunks(width * outputs).enumerate() {
        let start = y * plan.pitch * outputs;
        padded[start..start + row.len()].copy_from_slice(row);
    }
    words.resize(outputs.next_multiple_of(TILE) * plan.depth, 0);
    let mut turned = [[0; TILE]; TILE];
    for first in (0..outputs).step_by(TILE) {
        let channels = TILE.min(outputs - first);
        let mut rows = [[0; TILE]; TILE];
        for start in (0..plan.depth).step_by(TILE) {
            for (place, row) in (start..).zip(&mut rows) {
                let even = &padded[2 * place * outputs + first..];
                let odd = &padded[(2 * place + 1) * outputs + first..];
                pairs(engine, even, odd, &mut row[..channels]);
            }
            turn(&rows, &mut turned);
            for (channel, row) in (first..).zip(&turned) {
                words[channel * plan.depth + start..][..TILE].copy_from_slice(row);
            }
        }
    }
}

/// Adds blocks `[outputs, inputs]` of one tap to `gw [inputs, outputs]`.
fn add_turned(shape: &ConvShape, plan: &Plan, blocks: &[TileSums], gw: &mut [f32]) {
    for (block, sums) in blocks.iter().enumerate() {
        let (output, input) = (block / plan.blocks[0] * SIDE, block % plan.blocks[0] * SIDE);
        for (output, sums) in (output..shape.outputs).zip(sums) {
            for (input, sum) in (input..shape.inputs).zip(sums) {
                gw[input * shape.outputs + output] += sum;
            }
        }
    }
}
