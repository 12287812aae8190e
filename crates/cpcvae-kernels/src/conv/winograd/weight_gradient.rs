//! The gradient of the weights: at every point a product of images and gradients, summed over
//! tiles.

use super::lanes::{pairs, run};
use super::points::{Along, OfGradients, OfImages, POINTS, Part, ToPoints};
use super::product::{COLUMNS, Left, Product, Right};
use super::weights::{sums_of_point, transform_back};
use super::{PointScratch, TILES, WinogradScratch, strips_of, tiling_of};
use crate::conv::ConvShape;
use crate::conv::block::ConvEngine;
use crate::parallel;
use std::ops::Range;

/// The approximate maximum of numbers in the sums of all groups of strips, so that they stay in the
/// cache,
const MOST_SUMS: usize = 5 << 18;
/// and the minimum and maximum number of groups. Groups depend on the shape only; additional
/// threads share the outputs of a group.
/// beyond them share the outputs of a group.
const GROUPS: [usize; 2] = [2, 8];

/// As [`crate::conv::weight_gradient`].
pub(in crate::conv) fn weight_gradient(
    engine: ConvEngine,
    scratch: &WinogradScratch,
    shape: &ConvShape,
    x: &[f32],
    gy: &[f32],
    gw: &mut [f32],
) {
    let (tiling, channels) = (tiling_of(shape), [shape.inputs, shape.outputs]);
    let blocks = shape.outputs.div_ceil(COLUMNS);
    let of_group = blocks * POINTS * sums_of_point(shape.inputs);
    let groups = (MOST_SUMS / of_group).clamp(GROUPS[0], GROUPS[1]);
    let strips_of_group = tiling.strips().div_ceil(groups).max(1);
    let groups = tiling.strips().div_ceil(strips_of_group);
    let shares = rayon::current_num_threads().div_ceil(groups);
    let blocks_of_share = blocks.div_ceil(shares);
    scratch.sums.with(|sums| {
        sums.resize(groups * of_group, 0.0);
        let pieces = sums
            .chunks_exact_mut(of_group)
            .enumerate()
            .flat_map(|(group, sums)| {
                let shares = sums.chunks_mut(blocks_of_share * (of_group / blocks));
                shares.enumerate().map(move |share| (group, share))
            });
        let operations = engine.operations(shape.flop());
        parallel::for_each(operations, pieces, |(group, (share, sums))| {
            let first = group * strips_of_group;
            let strips = first..(first + strips_of_group).min(tiling.strips());
            let first = share * blocks_of_share * COLUMNS;
            let outputs = first..(first + blocks_of_share * COLUMNS).min(shape.outputs);
            scratch.points.with(|scratch| {
                sum_up(engine, scratch, shape, strips, outputs, (x, gy), sums);
            });
        });
        transform_back(engine, channels, sums, gw);
    });
}

/// The contribution of some strips to some outputs: `sums [blocks of COLUMNS outputs, POINTS,
/// sums_of_point]`.
/// sums_of_point]`.
fn sum_up(
    engine: ConvEngine,
    scratch: &mut PointScratch,
    shape: &ConvShape,
    strips: Range<usize>,
    outputs: Range<usize>,
    (x, gy): (&[f32], &[f32]),
    sums: &mut [f32],
) {
    let tiling = tiling_of(shape);
    // Twice as many as otherwise: the sums are read and written once for all of them.
    let at_once = strips_of(tiling, 2 * TILES);
    let PointScratch {
        strip,
        zeros,
        left,
        right,
    } = scratch;
    for first in strips.clone().step_by(at_once) {
        let part = Part {
            strips: first..(first + at_once).min(strips.end),
            channels: shape.inputs,
            taken: 0..shape.inputs,
        };
        let of_x = ToPoints {
            tiling,
            part: &part,
            images: x,
            along: Along::Tiles,
            strip,
            zeros,
            points: left,
        };
        run(engine, OfImages(of_x));
        let part = Part {
            channels: shape.outputs,
            taken: outputs.clone(),
            ..part
        };
        let of_gy = ToPoints {
            tiling,
            part: &part,
            images: gy,
            along: Along::Tiles,
            strip,
            zeros,
            points: right,
        };
        run(engine, OfGradients(of_gy));
        let [words, _] = Along::Tiles.sizes(pairs(engine), tiling.across(), shape.inputs);
        let pieces = sums.chunks_exact_mut(sums_of_point(shape.inputs));
        for (piece, sums) in pieces.enumerate() {
            let (block, point) = (piece / POINTS, piece % POINTS);
            let product = Product {
                depth: part.strips.len() * words,
                left: Left {
                    words: left.at(point),
                    row_step: 1,
                    depth_step: shape.inputs,
                },
                right: Right {
                    // Up to the gap after the point: a last block of fewer outputs reads into the
                    // next tile, for sums that are not used.
                    words: &right.words[point * right.step..][block * COLUMNS..right.step],
                    row_step: outputs.len(),
                },
                adds: first > strips.start,
                to: &mut sums[..shape.inputs * COLUMNS],
            };
            run(engine, product);
        }
    }
}
