//! Transforms tiles to points.

use super::lanes::{LANES, Simd, Work, gather, scatter};
use super::lines::{Line, OfGradient, OfImage, PATCH, TILE};
use super::tiling::Tiling;
use std::ops::Range;

/// Points at which a patch is evaluated.
pub(super) const POINTS: usize = PATCH * PATCH;

/// Numbers or words of tiles at every point: `[POINTS, rows, ..]`, with a gap after each point,
/// without which the points of a tile would map to the same cache set.
#[derive(Debug, Default)]
pub(super) struct Points {
    pub words: Vec<f32>,
    /// The stride between points.
    pub step: usize,
}

/// The dimension that products sum over; where words are pairs, they pair two elements of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Along {
    /// Points are `[tiles, words of the channels]`. A word is a channel and the one [`LANES`]
    /// further on; the channels are a multiple of both.
    Channels,
    /// Points are `[words of the tiles, channels]`. A word is a tile and the one to its right.
    Tiles,
}

impl Along {
    /// The number of rows of each strip, and of words in a row, for words that are pairs or not.
    pub(super) fn sizes(self, pairs: bool, across: usize, channels: usize) -> [usize; 2] {
        match self {
            Self::Channels if pairs => [across, channels / 2],
            Self::Tiles if pairs => [across.div_ceil(2), channels],
            _ => [across, channels],
        }
    }
}

impl Points {
    /// Space for `length` words at each point, with unspecified content.
    pub(super) fn resize(&mut self, length: usize) {
        self.step = length + LANES;
        self.words.resize(POINTS * self.step, 0.0);
    }

    /// The words at a point.
    pub(super) fn at(&self, point: usize) -> &[f32] {
        &self.words[point * self.step..(point + 1) * self.step - LANES]
    }

    /// The words at a point, to be written.
    pub(super) fn at_mut(&mut self, point: usize) -> &mut [f32] {
        &mut self.words[point * self.step..(point + 1) * self.step - LANES]
    }
}

/// The selected part of images with `channels` channels.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub strips: Range<usize>,
    pub channels: usize,
    /// The selected channels; both ends are multiples of [`LANES`].
    pub taken: Range<usize>,
}

/// A strip with its border, transformed vertically: `[PATCH, columns, selected channels]`.
#[derive(Debug, Default)]
pub(super) struct Strip {
    numbers: Vec<f32>,
}

impl Strip {
    /// Transforms these columns of pixels. `lines` are those of the images that the strip needs.
    #[inline(always)]
    fn fill<S: Simd, T: Line<N, PATCH>, const N: usize>(
        &mut self,
        simd: S,
        part: &Part,
        lines: &[&[f32]; N],
        columns: Range<usize>,
    ) {
        let taken = part.taken.len();
        let of_line = self.numbers.len() / PATCH;
        let length = lines[0].len();
        assert!(lines.iter().all(|line| line.len() == length));
        for x in columns {
            for channel in (0..taken).step_by(LANES) {
                let from = x * part.channels + part.taken.start + channel;
                assert!(from + LANES <= length);
                let mut numbers = [simd.all(0.0); N];
                for (number, line) in numbers.iter_mut().zip(lines) {
                    // SAFETY: all lines have that length, which is enough.
                    *number = simd.load(unsafe { &*line.as_ptr().add(from).cast() });
                }
                let to = &mut self.numbers[(x + border(N)) * taken + channel..];
                scatter(T::transform(numbers), to, of_line);
            }
        }
    }

    /// Space for `columns` columns, of which those outside of the image are zeros.
    fn resize(&mut self, tiling: Tiling, border: usize, taken: usize) {
        let of_line = (tiling.across() * TILE + 2 * border) * taken;
        self.numbers.resize(PATCH * of_line, 0.0);
        for line in self.numbers.chunks_exact_mut(of_line) {
            let (before, rest) = line.split_at_mut(border * taken);
            before.fill(0.0);
            rest[tiling.width * taken..].fill(0.0);
        }
    }
}

/// Pixels around a tile that belong to its square of `side` pixels.
const fn border(side: usize) -> usize {
    (side - TILE) / 2
}

/// Transforms strips to points.
#[derive(Debug)]
pub(super) struct ToPoints<'a> {
    pub tiling: Tiling,
    pub part: &'a Part,
    pub images: &'a [f32],
    pub along: Along,
    pub strip: &'a mut Strip,
    /// A line of zeros.
    pub zeros: &'a mut Vec<f32>,
    pub points: &'a mut Points,
}

/// For images to be convolved: each tile with a border of one pixel.
pub(super) struct OfImages<'a>(pub ToPoints<'a>);

/// For output gradients: each tile alone.
pub(super) struct OfGradients<'a>(pub ToPoints<'a>);

impl Work for OfImages<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        self.0.squares::<S, OfImage, PATCH>(simd);
    }
}

impl Work for OfGradients<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        self.0.squares::<S, OfGradient, TILE>(simd);
    }
}

impl ToPoints<'_> {
    /// Squares of `N` pixels, one around each tile, transformed in both directions.
    #[inline(always)]
    fn squares<S: Simd, T: Line<N, PATCH>, const N: usize>(self, simd: S) {
        let Self {
            tiling,
            part,
            images,
            along,
            strip,
            zeros,
            points,
        } = self;
        let (across, taken) = (tiling.across(), part.taken.len());
        strip.resize(tiling, border(N), taken);
        let [rows, of_row] = along.sizes(S::PAIRS, across, taken);
        points.resize(part.strips.len() * rows * of_row);
        let of_line = tiling.width * part.channels;
        zeros.resize(zeros.len().max(of_line), 0.0);
        let tiles_of_row = across.div_ceil(rows);
        let mut row_start = 0;
        for place in part.strips.clone() {
            let (image, first) = tiling.place(place);
            let lines: [&[f32]; N] = std::array::from_fn(|k| {
                let line = (first + k).checked_sub(border(N));
                match line.filter(|line| *line < tiling.height) {
                    Some(line) => &images[(image * tiling.height + line) * of_line..][..of_line],
                    None => &zeros[..of_line],
                }
            });
            let mut filled = 0;
            for tile in (0..across).step_by(tiles_of_row) {
                // Transformed just before they are needed: a complete strip would not stay in the
                // L1 cache.
                let needed = ((tile + tiles_of_row) * TILE + border(N)).min(tiling.width);
                strip.fill::<S, T, N>(simd, part, &lines, filled..needed);
                filled = needed;
                let of_strip_line = strip.numbers.len() / PATCH;
                for (down, line) in strip.numbers.chunks_exact(of_strip_line).enumerate() {
                    for word in (0..of_row).step_by(LANES) {
                        let from = tile * TILE * taken + word * (taken / of_row);
                        let mut words = T::transform(gather(simd, &line[from..], taken));
                        if S::PAIRS {
                            let second = match along {
                                Along::Channels => Some(from + LANES),
                                Along::Tiles if tile + 1 < across => Some(from + TILE * taken),
                                Along::Tiles => None,
                            };
                            let second = match second {
                                Some(from) => T::transform(gather(simd, &line[from..], taken)),
                                None => [simd.all(0.0); PATCH],
                            };
                            for (word, second) in words.iter_mut().zip(second) {
                                *word = simd.pair(*word, second);
                            }
                        }
                        let to = &mut points.words[down * PATCH * points.step + row_start + word..];
                        scatter(words, to, points.step);
                    }
                }
                row_start += of_row;
            }
        }
    }
}
