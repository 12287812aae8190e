//! Transforms sums of products to tiles of the output.

use super::lanes::{LANES, Lanes, Simd, Work, at, at_mut, column, gather};
use super::lines::{Line, PATCH, TILE, ToOutputs};
use super::points::Points;
use super::product::COLUMNS;
use super::tiling::Tiling;
use std::ops::Range;

/// Writes channels `first..first + COLUMNS`, up to the last, of strips of images, from sums of
/// products `[POINTS, tiles, COLUMNS]`.
#[derive(Debug)]
pub(super) struct WriteTiles<'a, 'b> {
    pub tiling: Tiling,
    pub strips: Range<usize>,
    pub points: &'a Points,
    pub first: usize,
    pub target: &'a mut Target<'b>,
}

/// Strips of images with `channels` channels.
#[derive(Debug)]
pub(super) struct Target<'a> {
    pub images: &'a mut [f32],
    /// An image that is added, if given.
    pub added: Option<&'a [f32]>,
    pub channels: usize,
}

impl Work for WriteTiles<'_, '_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self {
            tiling,
            points,
            first,
            target,
            ..
        } = self;
        let used = COLUMNS.min(target.channels - first);
        let start = tiling.pixels_before(self.strips.start);
        let mut tile_start = 0;
        for strip in self.strips {
            let (_, first_line) = tiling.place(strip);
            let above = tiling.pixels_before(strip) - start;
            let high = TILE.min(tiling.height - first_line);
            for tile in 0..tiling.across() {
                let wide = TILE.min(tiling.width - tile * TILE);
                for channel in (0..used).step_by(LANES) {
                    let sums = &points.words[tile_start + channel..];
                    // Not initialised with zeros, which would be written to memory.
                    let down = [
                        across(simd, sums, points.step, 0),
                        across(simd, sums, points.step, 1),
                        across(simd, sums, points.step, 2),
                        across(simd, sums, points.step, 3),
                        across(simd, sums, points.step, 4),
                        across(simd, sums, points.step, 5),
                    ];
                    // A constant number of iterations, so that all stay in registers.
                    for x in 0..TILE {
                        let pixels = ToOutputs::transform(column(&down, x));
                        for (y, pixel) in pixels.into_iter().enumerate() {
                            if x < wide && y < high {
                                let place = above + y * tiling.width + tile * TILE + x;
                                let place = place * target.channels + first + channel;
                                target.write(simd, place, pixel);
                            }
                        }
                    }
                }
                tile_start += COLUMNS;
            }
        }
    }
}

/// Line `i` of a tile's sums, transformed horizontally.
#[inline(always)]
fn across<S: Simd>(simd: S, sums: &[f32], step: usize, i: usize) -> [S::Lanes; TILE] {
    ToOutputs::transform(gather(simd, &sums[i * PATCH * step..], step))
}

impl Target<'_> {
    #[inline(always)]
    fn write<S: Simd>(&mut self, simd: S, place: usize, numbers: S::Lanes) {
        let sums = match self.added {
            Some(added) => numbers + simd.load(at(added, place)),
            None => numbers,
        };
        sums.store(at_mut(self.images, place));
    }
}
