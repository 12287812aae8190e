//! [`Pass`] on AMX tiles.

use super::block::{ConvEngine, LANES, Left};
use super::pass::{Pass, Target};
use super::tile_block::{Right, SIDE, Tiles};
use super::words::Frame;

/// Pixels after the frame that need words, for blocks that extend beyond it.
pub(super) const PIXELS_BEHIND: usize = SIDE;

/// As [`Pass::run`]. The words extend [`PIXELS_BEHIND`] steps of the pass beyond the image.
pub(super) fn run(
    pass: &Pass,
    engine: ConvEngine,
    from: &Frame,
    words: &[u32],
    weights: &[u32],
    target: &mut Target,
) {
    let [down, across] = pass.grid(&target.frame);
    if down == 0 || across == 0 {
        return;
    }
    let tiles = Tiles::configure(engine);
    let depth = from.depth(engine);
    let segments = pass.segments(engine, from);
    let of_block = segments.len() * depth * LANES;
    // Rows of small images are shorter than a tile. If pixels of the pass are adjacent in the
    // frame, all of its rows are processed as one, and results on its border are discarded.
    let (runs, length, pitch) = if pass.input_step == 1 {
        (1, (down - 1) * from.row() + across, from.row())
    } else {
        (down, across, across)
    };
    let mut sums = [[0.0; SIDE]; SIDE];
    for (block, first) in (0..target.frame.channels).step_by(LANES).enumerate() {
        let weights = Right {
            words: &weights[block * of_block..(block + 1) * of_block],
            row_step: LANES,
        };
        for run in 0..runs {
            let start = run * pass.input_step * from.row() * depth;
            for place in (0..length).step_by(SIDE) {
                let pixels = SIDE.min(length - place);
                let left = Left {
                    words: &words[start + place * pass.input_step * depth..],
                    segments: &segments,
                    depth,
                    row_step: pass.input_step * depth,
                    depth_step: 1,
                };
                tiles.multiply(pixels, &left, weights, &mut sums, false);
                for (place, sums) in (place..place + pixels).zip(&sums) {
                    let (row, column) = (run + place / pitch, place % pitch);
                    if column < across {
                        let pixel = pass.pixel(&target.frame, [row, column]);
                        target.write(pixel, first, sums);
                    }
                }
            }
        }
    }
}
