//! Convolutions of 3 by 3 pixels with a quarter of the products, by Winograd's algorithm.
//!
//! Images are cut into tiles of 4 by 4 pixels ([`tiling`]). A tile and its border, 6 by 6 pixels,
//! are transformed to values at 36 points ([`lines`], [`points`]), each of which is multiplied by
//! the value of the weights there ([`weights`], [`product`]): 36 products instead of 144. The
//! results are transformed back to tiles ([`write`]).
//!
//! In `f32` its errors are 1.5 to 2 times those of the plain sum. In bfloat16 they are 5 times
//! those of plain products of bfloat16, about 1 % of the numbers' size (docs/adr/0010).

mod lanes;
mod lines;
mod points;
mod product;
mod tiling;
mod weight_gradient;
mod weights;
mod write;

pub(super) use weight_gradient::weight_gradient;

use super::ConvShape;
use super::block::ConvEngine;
use crate::parallel;
use crate::product::Precision;
use crate::workspace::Scratch;
use lanes::{LANES, are_there, pairs, run};
use points::{Along, OfImages, POINTS, Part, Points, Strip, ToPoints};
use product::{COLUMNS, Left, Product, Right};
use std::ops::Range;
use tiling::Tiling;
use weights::{transform, turn};
use write::{Target, WriteTiles};

/// About how many tiles are transformed and multiplied at once: enough to reuse weights that are
/// loaded from memory, and few enough to stay in the cache.
const TILES: usize = 32;

/// Whether the algorithm supports a convolution and is faster.
pub(super) fn suits(engine: ConvEngine, shape: &ConvShape) -> bool {
    let tiling = tiling_of(shape);
    let tiles = tiling.down() * tiling.across();
    shape.kernel == 3
        && shape.stride == 1
        && shape.rows > 0
        && [shape.inputs, shape.outputs].iter().all(|c| *c > 0 && c.is_multiple_of(LANES))
        // In small images, much of the padded tiles would be wasted.
        && 6 * tiles <= shape.height * shape.width
        && are_there(engine)
        && !engine.uses_tiles()
}

/// As [`super::forward`].
pub(super) fn forward(
    engine: ConvEngine,
    scratch: &WinogradScratch,
    shape: &ConvShape,
    x: &[f32],
    w: &[f32],
    added: Option<&[f32]>,
    y: &mut [f32],
) {
    let channels = [shape.inputs, shape.outputs];
    let engine = along_channels(engine, channels[0]);
    scratch.weights.with(|[transformed, _]| {
        transform(engine, channels, w, transformed);
        convolve((engine, scratch), shape, channels, x, transformed, added, y);
    });
}

/// As [`super::input_gradient`].
pub(super) fn input_gradient(
    engine: ConvEngine,
    scratch: &WinogradScratch,
    shape: &ConvShape,
    gy: &[f32],
    w: &[f32],
    added: Option<&[f32]>,
    gx: &mut [f32],
) {
    let channels = [shape.outputs, shape.inputs];
    let engine = along_channels(engine, channels[0]);
    scratch.weights.with(|[transformed, turned]| {
        turned.resize(w.len(), 0.0);
        turn([shape.inputs, shape.outputs], w, turned);
        transform(engine, channels, turned, transformed);
        convolve(
            (engine, scratch),
            shape,
            channels,
            gy,
            transformed,
            added,
            gx,
        );
    });
}

/// With a precision that is possible for sums over that many channels.
fn along_channels(engine: ConvEngine, channels: usize) -> ConvEngine {
    if channels.is_multiple_of(2 * LANES) {
        return engine;
    }
    ConvEngine {
        precision: Precision::F32,
        ..engine
    }
}

/// Convolves images with `channels[0]` to images with `channels[1]` channels.
fn convolve(
    (engine, scratch): (ConvEngine, &WinogradScratch),
    shape: &ConvShape,
    channels: [usize; 2],
    from: &[f32],
    weights: &[f32],
    added: Option<&[f32]>,
    to: &mut [f32],
) {
    assert!(added.is_none_or(|added| added.len() == to.len()));
    let tiling = tiling_of(shape);
    let threads = rayon::current_num_threads();
    let blocks = tiling.strips().div_ceil(strips_of(tiling, TILES));
    // The same number for each thread, all of about the same size.
    let blocks = blocks.next_multiple_of(threads).min(tiling.strips());
    let mut rest = to;
    let blocks = (0..blocks).map(|block| {
        let strips = [block, block + 1].map(|block| block * tiling.strips() / blocks);
        let strips = strips[0]..strips[1];
        let [start, end] =
            [strips.start, strips.end].map(|strip| tiling.pixels_before(strip) * channels[1]);
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
        scratch.points.with(|scratch| {
            convolve_block(
                engine,
                scratch,
                tiling,
                strips,
                (channels[0], from),
                weights,
                target,
            );
        });
    });
}

fn convolve_block(
    engine: ConvEngine,
    scratch: &mut PointScratch,
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
    let PointScratch {
        strip,
        zeros,
        left,
        right,
    } = scratch;
    let of_images = ToPoints {
        tiling,
        part: &part,
        images: from,
        along: Along::Channels,
        strip,
        zeros,
        points: left,
    };
    run(engine, OfImages(of_images));
    right.resize(strips.len() * tiling.across() * COLUMNS);
    let [_, words] = Along::Channels.sizes(pairs(engine), tiling.across(), channels);
    let of_point = words * COLUMNS;
    for (block, weights) in weights.chunks_exact(POINTS * of_point).enumerate() {
        for (point, weights) in weights.chunks_exact(of_point).enumerate() {
            let product = Product {
                depth: words,
                left: Left {
                    words: left.at(point),
                    row_step: words,
                    depth_step: 1,
                },
                right: Right {
                    words: weights,
                    row_step: COLUMNS,
                },
                adds: false,
                to: right.at_mut(point),
            };
            run(engine, product);
        }
        let write = WriteTiles {
            tiling,
            strips: strips.clone(),
            points: right,
            first: block * COLUMNS,
            target: &mut target,
        };
        run(engine, write);
    }
}

fn tiling_of(shape: &ConvShape) -> Tiling {
    Tiling {
        rows: shape.rows,
        height: shape.height,
        width: shape.width,
    }
}

/// The number of strips with about `tiles` tiles, at least one.
fn strips_of(tiling: Tiling, tiles: usize) -> usize {
    (tiles / tiling.across()).max(1)
}

/// Memory of these convolutions.
#[derive(Debug, Default)]
pub(super) struct WinogradScratch {
    points: Scratch<PointScratch>,
    /// Transformed and rotated weights.
    weights: Scratch<[Vec<f32>; 2]>,
    sums: Scratch<Vec<f32>>,
}

impl WinogradScratch {
    pub(super) fn clear(&self) {
        self.points.clear();
        self.weights.clear();
        self.sums.clear();
    }
}

/// Factors and products at all points, for some tiles.
#[derive(Debug, Default)]
struct PointScratch {
    strip: Strip,
    zeros: Vec<f32>,
    left: Points,
    right: Points,
}
