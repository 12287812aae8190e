//! Convolutions of three by three pixels with a quarter of the products.
//!
//! Images are cut into tiles of 4 by 4 pixels. A tile and its border, 6 by 6 pixels, become their
//! values at 36 points ([`lines`]), each of which is multiplied with the value of the weights
//! there: 36 products instead of 144. All are `f32`, whatever the precision: that takes less time
//! than four times as many products of bfloat16 do, save on AMX tiles.

mod lanes;
mod lines;
mod product;
mod tiling;
mod weight_gradient;
mod weights;

pub(super) use weight_gradient::weight_gradient;

use super::ConvShape;
use super::block::Engine;
use crate::parallel;
use lanes::{LANES, are_there, run};
use product::{COLUMNS, Left, Product, Right};
use std::cell::Cell;
use std::ops::Range;
use std::thread::LocalKey;
use tiling::{OfImages, POINTS, Part, Points, Strip, Target, Tiling, ToPoints, WriteTiles};
use weights::{transform, transformed_length, turn};

/// About how many numbers the points of a block of tiles are, which stays in the cache.
const BLOCK: usize = POINTS * 2048;
/// At most how many tiles are a block.
const MOST_TILES: usize = 64;

/// Whether a convolution can be done this way, and is faster.
pub(super) fn suits(engine: Engine, shape: &ConvShape) -> bool {
    let tiling = tiling_of(shape);
    let tiles = tiling.down() * tiling.across();
    shape.kernel == 3
        && shape.stride == 1
        && shape.rows > 0
        && [shape.inputs, shape.outputs].iter().all(|c| *c > 0 && c % LANES == 0)
        // Of tiles that stick out of small images, much would be thrown away.
        && 6 * tiles <= shape.height * shape.width
        && are_there(engine.isa)
        && !engine.uses_tiles()
}

/// As [`super::forward`].
pub(super) fn forward(
    engine: Engine,
    shape: &ConvShape,
    x: &[f32],
    w: &[f32],
    added: Option<&[f32]>,
    y: &mut [f32],
) {
    kept(&WEIGHTS, |[transformed, _]| {
        let channels = [shape.inputs, shape.outputs];
        transformed.resize(transformed_length(channels), 0.0);
        transform(engine.isa, channels, w, transformed);
        convolve(engine, shape, channels, x, transformed, added, y);
    });
}

/// As [`super::input_gradient`].
pub(super) fn input_gradient(
    engine: Engine,
    shape: &ConvShape,
    gy: &[f32],
    w: &[f32],
    added: Option<&[f32]>,
    gx: &mut [f32],
) {
    kept(&WEIGHTS, |[transformed, turned]| {
        let channels = [shape.outputs, shape.inputs];
        transformed.resize(transformed_length(channels), 0.0);
        turned.resize(w.len(), 0.0);
        turn([shape.inputs, shape.outputs], w, turned);
        transform(engine.isa, channels, turned, transformed);
        convolve(engine, shape, channels, gy, transformed, added, gx);
    });
}

/// Images with `channels[0]` to images with `channels[1]` channels.
fn convolve(
    engine: Engine,
    shape: &ConvShape,
    channels: [usize; 2],
    from: &[f32],
    weights: &[f32],
    added: Option<&[f32]>,
    to: &mut [f32],
) {
    assert!(added.is_none_or(|added| added.len() == to.len()));
    let tiling = tiling_of(shape);
    let at_once = strips_of_block(shape, channels[0]);
    let mut rest = to;
    let blocks = (0..tiling.strips()).step_by(at_once).map(|first| {
        let strips = first..(first + at_once).min(tiling.strips());
        let [start, end] = [strips.start, strips.end]
            .map(|strip| tiling.pixels_before(strip) * channels[1]);
        let (images, after) = std::mem::take(&mut rest).split_at_mut(end - start);
        rest = after;
        let target = Target {
            images,
            added: added.map(|added| &added[start..end]),
            channels: channels[1],
        };
        (strips, target)
    });
    let operations = engine.operations(shape.flop());
    parallel::for_each(operations, blocks, |(strips, target)| {
        convolve_block(engine, tiling, strips, (channels[0], from), weights, target);
    });
}

fn convolve_block(
    engine: Engine,
    tiling: Tiling,
    strips: Range<usize>,
    (channels, from): (usize, &[f32]),
    weights: &[f32],
    mut target: Target,
) {
    let part = Part {
        strips: strips.clone(),
        channels,
        taken: 0..channels,
    };
    let isa = engine.isa;
    kept(&SCRATCH, |Scratch { strip, left, right }| {
        let of_images = ToPoints {
            tiling,
            part: &part,
            images: from,
            strip,
            points: left,
        };
        run(isa, OfImages(of_images));
        right.resize(strips.len() * tiling.across() * COLUMNS);
        let of_point = channels * COLUMNS;
        for (block, weights) in weights.chunks_exact(POINTS * of_point).enumerate() {
            for (point, weights) in weights.chunks_exact(of_point).enumerate() {
                let product = Product {
                    depth: channels,
                    left: Left {
                        numbers: left.at(point),
                        row_step: channels,
                        depth_step: 1,
                    },
                    right: Right {
                        numbers: weights,
                        row_step: COLUMNS,
                    },
                    adds: false,
                    to: right.at_mut(point),
                };
                run(isa, product);
            }
            let write = WriteTiles {
                tiling,
                strips: strips.clone(),
                points: right,
                first: block * COLUMNS,
                target: &mut target,
            };
            run(isa, write);
        }
    });
}

fn tiling_of(shape: &ConvShape) -> Tiling {
    Tiling {
        rows: shape.rows,
        height: shape.height,
        width: shape.width,
    }
}

/// How many strips are transformed and multiplied at once, where that many channels are kept.
fn strips_of_block(shape: &ConvShape, channels: usize) -> usize {
    let tiles = (BLOCK / (POINTS * channels)).min(MOST_TILES);
    (tiles / tiling_of(shape).across()).max(1)
}

/// Memory of a thread.
#[derive(Debug, Default)]
struct Scratch {
    strip: Strip,
    left: Points,
    right: Points,
}

thread_local! {
    static SCRATCH: Cell<Scratch> = Cell::default();
    /// Transformed and turned.
    static WEIGHTS: Cell<[Vec<f32>; 2]> = Cell::default();
}

/// Calls `work` with memory that is kept from call to call.
fn kept<T: Default>(memory: &'static LocalKey<Cell<T>>, work: impl FnOnce(&mut T)) {
    let mut taken = memory.take();
    work(&mut taken);
    memory.set(taken);
}
