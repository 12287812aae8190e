//! Images cut into tiles, and tiles turned into what is multiplied and back.

use super::lanes::{LANES, Lanes, Simd, Work, at, at_mut, column, gather, scatter};
use super::lines::{Line, OfGradient, OfImage, PATCH, TILE, ToOutputs};
use super::product::COLUMNS;
use std::ops::Range;

/// Points at which a patch is evaluated.
pub(super) const POINTS: usize = PATCH * PATCH;

/// Images `[rows, height, width, ..]`, cut into tiles. A strip is a line of tiles from left to
/// right; strips are numbered through all images.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tiling {
    pub rows: usize,
    pub height: usize,
    pub width: usize,
}

impl Tiling {
    /// Tiles of a strip.
    pub(super) fn across(&self) -> usize {
        self.width.div_ceil(TILE)
    }

    /// Strips of an image.
    pub(super) fn down(&self) -> usize {
        self.height.div_ceil(TILE)
    }

    /// Strips of all images.
    pub(super) fn strips(&self) -> usize {
        self.rows * self.down()
    }

    /// In which image a strip is, and the first of its lines of pixels.
    fn place(&self, strip: usize) -> (usize, usize) {
        (strip / self.down(), strip % self.down() * TILE)
    }

    /// Pixels of all images before this strip.
    pub(super) fn pixels_before(&self, strip: usize) -> usize {
        let (image, line) = self.place(strip);
        (image * self.height + line) * self.width
    }
}

/// Which numbers of images with `channels` channels are taken.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub strips: Range<usize>,
    pub channels: usize,
    /// Of the channels; both ends are multiples of [`LANES`].
    pub taken: Range<usize>,
}

/// Numbers or words of tiles at every point: `[POINTS, rows, ..]`, with a gap after each point,
/// without which the points of a tile would share a place in the cache.
#[derive(Debug, Default)]
pub(super) struct Points {
    pub words: Vec<f32>,
    /// From one point to the next.
    pub step: usize,
}

/// What is summed over, so that two of it are a word where words are pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Along {
    /// Points are `[tiles, words of the channels]`. A word is a channel and the one [`LANES`]
    /// further on; the channels are a multiple of both.
    Channels,
    /// Points are `[words of the tiles, channels]`. A word is a tile and the one to its right.
    Tiles,
}

impl Along {
    /// How many words and channels there are for each strip, where words are pairs or are not.
    pub(super) fn sizes(self, pairs: bool, across: usize, channels: usize) -> [usize; 2] {
        match self {
            Self::Channels if pairs => [across, channels / 2],
            Self::Tiles if pairs => [across.div_ceil(2), channels],
            _ => [across, channels],
        }
    }
}

impl Points {
    /// Room for so many words at each point, whatever they are.
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

/// Lines of pixels of a strip, transformed from top to bottom: `[PATCH, columns, channels]`.
#[derive(Debug, Default)]
pub(super) struct Strip {
    numbers: Vec<f32>,
    zeros: Vec<f32>,
}

/// Turns strips into points.
#[derive(Debug)]
pub(super) struct ToPoints<'a> {
    pub tiling: Tiling,
    pub part: &'a Part,
    pub images: &'a [f32],
    pub along: Along,
    pub strip: &'a mut Strip,
    pub points: &'a mut Points,
}

/// The images that are convolved: each tile with a border of one pixel.
pub(super) struct OfImages<'a>(pub ToPoints<'a>);

/// The gradient of what comes out: each tile alone.
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
            points,
        } = self;
        let border = (N - TILE) / 2;
        let (across, taken) = (tiling.across(), part.taken.len());
        let of_line = tiling.width * part.channels;
        let of_strip_line = (across * TILE + 2 * border) * taken;
        strip.zeros.resize(strip.zeros.len().max(of_line), 0.0);
        strip.numbers.resize(PATCH * of_strip_line, 0.0);
        for line in strip.numbers.chunks_exact_mut(of_strip_line) {
            let (before, rest) = line.split_at_mut(border * taken);
            before.fill(0.0);
            rest[tiling.width * taken..].fill(0.0);
        }
        let [rows, of_row] = along.sizes(S::PAIRS, across, taken);
        points.resize(part.strips.len() * rows * of_row);
        let mut row_start = 0;
        for place in part.strips.clone() {
            let (image, first) = tiling.place(place);
            let lines: [&[f32]; N] = std::array::from_fn(|k| {
                let line = (first + k).checked_sub(border);
                match line.filter(|line| *line < tiling.height) {
                    Some(line) => &images[(image * tiling.height + line) * of_line..][..of_line],
                    None => &strip.zeros[..of_line],
                }
            });
            for x in 0..tiling.width {
                for channel in (0..taken).step_by(LANES) {
                    let from = x * part.channels + part.taken.start + channel;
                    let mut numbers = [simd.all(0.0); N];
                    for (number, line) in numbers.iter_mut().zip(&lines) {
                        *number = simd.load(at(line, from));
                    }
                    let to = (x + border) * taken + channel;
                    scatter(T::transform(numbers), &mut strip.numbers[to..], of_strip_line);
                }
            }
            let tiles_of_row = across.div_ceil(rows);
            for tile in (0..across).step_by(tiles_of_row) {
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
                        let to = down * PATCH * points.step + row_start + word;
                        scatter(words, &mut points.words[to..], points.step);
                    }
                }
                row_start += of_row;
            }
        }
    }
}

/// Writes channels `first..first + COLUMNS`, as many as there are, of strips of images, from sums
/// of products `[POINTS, tiles, COLUMNS]`.
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
    /// What is added to them, if anything.
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
                    // One by one: zeros to begin with would be written to memory.
                    let down = [
                        across(simd, sums, points.step, 0),
                        across(simd, sums, points.step, 1),
                        across(simd, sums, points.step, 2),
                        across(simd, sums, points.step, 3),
                        across(simd, sums, points.step, 4),
                        across(simd, sums, points.step, 5),
                    ];
                    for x in 0..wide {
                        let pixels = ToOutputs::transform(column(&down, x));
                        for (y, pixel) in pixels.into_iter().take(high).enumerate() {
                            let place = above + y * tiling.width + tile * TILE + x;
                            let place = place * target.channels + first + channel;
                            target.write(simd, place, pixel);
                        }
                    }
                }
                tile_start += COLUMNS;
            }
        }
    }
}

/// Line `i` of a tile's sums, transformed from left to right.
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
