//! Factors of a product as bfloat16 tiles, in the order in which the product reads them.

use super::tile_words::{Source, Words, turn};
#[cfg(target_arch = "x86_64")]
use super::vector_words;
use crate::isa::Isa;
use crate::parallel;

/// Rows of a tile, and words in a row.
pub(super) const SIDE: usize = 16;
/// Steps along `k` that a tile covers: two in a word.
pub(super) const DEPTH: usize = 2 * SIDE;
/// Adjacent column tiles in [`PackedRight`].
pub(super) const RIGHT_PAIR: usize = 2;

/// The content of an AMX register: 16 rows of 64 bytes, 1 KiB without gaps.
///
/// A word is two bfloat16 numbers that follow each other along `k`, the first in its lower half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Tile {
    /// `[row][word]`.
    pub words: Words,
}

impl Tile {
    pub(super) const ZERO: Tile = Tile {
        words: [[0; SIDE]; SIDE],
    };
}

/// The left factor `a [m, k]`: tiles of 16 rows and 32 steps along `k`, padded with zeros.
///
/// Order `[row tile][k tile]`; row `i` and word `p` of a tile are `a[i, 2p]` and `a[i, 2p + 1]`.
#[derive(Debug, Default)]
pub struct PackedLeft(Packed);

/// The right factor `b [k, n]`: tiles of 32 steps along `k` and 16 columns, padded with zeros.
///
/// Order `[block of 32 columns][k tile][half of the block]`, so that the product of a block reads
/// memory sequentially; row `p` and word `j` of a tile are `b[2p, j]` and `b[2p + 1, j]`.
#[derive(Debug, Default)]
pub struct PackedRight(Packed);

impl PackedLeft {
    /// Packs `a [m, k]`, stored `[m, k]`, or `[k, m]` if `transposed`, replacing the content;
    /// memory is only allocated if it was never as large.
    ///
    /// # Panics
    /// If the length of `source` does not fit the shape.
    pub fn pack(&mut self, m: usize, k: usize, source: &[f32], transposed: bool) {
        self.pack_on(Isa::current(), m, k, source, transposed);
    }

    /// [`PackedLeft::pack`] on an instruction set of the caller's choice.
    pub(super) fn pack_on(
        &mut self,
        isa: Isa,
        m: usize,
        k: usize,
        source: &[f32],
        transposed: bool,
    ) {
        let layout = Layout {
            parallel_runs: 1,
            k_runs_down_source: transposed,
            turn: transposed,
        };
        let source = Source {
            lines: m,
            depth: k,
            values: source,
        };
        self.0.pack(isa, layout, source);
    }

    /// `m`.
    pub fn rows(&self) -> usize {
        self.0.lines
    }

    /// `k`.
    pub fn depth(&self) -> usize {
        self.0.depth
    }

    /// All tiles.
    pub fn tiles(&self) -> &[Tile] {
        &self.0.tiles[..self.0.tile_count]
    }
}

impl PackedRight {
    /// Packs `b [k, n]`, stored `[k, n]`, or `[n, k]` if `transposed`, replacing the content;
    /// memory is only allocated if it was never as large.
    ///
    /// # Panics
    /// If the length of `source` does not fit the shape.
    pub fn pack(&mut self, k: usize, n: usize, source: &[f32], transposed: bool) {
        self.pack_on(Isa::current(), k, n, source, transposed);
    }

    /// [`PackedRight::pack`] on an instruction set of the caller's choice.
    pub(super) fn pack_on(
        &mut self,
        isa: Isa,
        k: usize,
        n: usize,
        source: &[f32],
        transposed: bool,
    ) {
        let layout = Layout {
            parallel_runs: RIGHT_PAIR,
            k_runs_down_source: !transposed,
            turn: transposed,
        };
        let source = Source {
            lines: n,
            depth: k,
            values: source,
        };
        self.0.pack(isa, layout, source);
    }

    /// Packs weights `w [k, n]` for the product with them, in `self`, and with them transposed, in
    /// `transposed`.
    ///
    /// # Panics
    /// If the length does not fit the shape.
    pub fn pack_both_ways(&mut self, transposed: &mut Self, k: usize, n: usize, w: &[f32]) {
        #[cfg(target_arch = "x86_64")]
        if rounds_in_vectors(Isa::current()) {
            return super::both_ways::pack(self, transposed, [k, n], w);
        }
        self.pack(k, n, w, false);
        transposed.pack(n, k, w, true);
    }

    /// Space for the tiles of a factor `[k, n]`, with unspecified words.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn tiles_for(&mut self, n: usize, k: usize) -> &mut [Tile] {
        self.0.tiles_for(RIGHT_PAIR, n, k)
    }

    /// `n`.
    pub fn columns(&self) -> usize {
        self.0.lines
    }

    /// `k`.
    pub fn depth(&self) -> usize {
        self.0.depth
    }

    /// All tiles.
    pub fn tiles(&self) -> &[Tile] {
        &self.0.tiles[..self.0.tile_count]
    }
}

/// A packed factor of either side. Its *lines* run along `k`: rows of the left factor, columns of
/// the right one.
#[derive(Debug, Default)]
struct Packed {
    lines: usize,
    depth: usize,
    /// Never shrinks; the first `tile_count` are the packed ones.
    tiles: Vec<Tile>,
    tile_count: usize,
}

/// How the source becomes tiles.
#[derive(Clone, Copy, Debug)]
struct Layout {
    /// Line tiles that alternate within a block of the packed order.
    parallel_runs: usize,
    /// Whether a line is a column of the source.
    k_runs_down_source: bool,
    /// Whether the words of the source have to be transposed.
    turn: bool,
}

/// Line tiles that one piece of work packs if `k` runs down the source: it reads as many columns of
/// every source row, and reading fewer would waste memory bandwidth.
const LINE_TILES_TOGETHER: usize = 8;

impl Packed {
    /// Space for the tiles of `lines` that run along `depth`.
    fn tiles_for(&mut self, parallel_runs: usize, lines: usize, depth: usize) -> &mut [Tile] {
        (self.lines, self.depth) = (lines, depth);
        let blocks = lines.div_ceil(parallel_runs * SIDE);
        self.tile_count = blocks * depth.div_ceil(DEPTH) * parallel_runs;
        if self.tiles.len() < self.tile_count {
            self.tiles.resize(self.tile_count, Tile::ZERO);
        }
        &mut self.tiles[..self.tile_count]
    }

    fn pack(&mut self, isa: Isa, layout: Layout, source: Source) {
        let Source {
            lines,
            depth,
            values,
        } = source;
        assert_eq!(values.len(), lines * depth);
        let blocks = lines.div_ceil(layout.parallel_runs * SIDE);
        let block_tiles = depth.div_ceil(DEPTH) * layout.parallel_runs;
        let tiles = self.tiles_for(layout.parallel_runs, lines, depth);
        let together = if layout.k_runs_down_source {
            let share = blocks / (2 * super::threads_for(values.len()));
            share.clamp(1, LINE_TILES_TOGETHER / layout.parallel_runs)
        } else {
            1
        };
        #[cfg(target_arch = "x86_64")]
        let rounds_in_vectors = rounds_in_vectors(isa);
        // A depth of zero has no tiles, and no piece may be empty.
        let pieces = tiles.chunks_mut((together * block_tiles).max(1));
        parallel::for_each(values.len(), pieces.enumerate(), |(piece, tiles)| {
            let first_line = piece * together * layout.parallel_runs * SIDE;
            #[cfg(target_arch = "x86_64")]
            if rounds_in_vectors {
                return pack_blocks_in_vectors(layout, source, first_line, tiles);
            }
            pack_blocks(isa, layout, source, first_line, tiles);
        });
    }
}

/// Whether words are made by [`vector_words`].
#[cfg(target_arch = "x86_64")]
fn rounds_in_vectors(isa: Isa) -> bool {
    isa.has_bf16_products() && vector_words::is_supported()
}

impl Layout {
    /// Which tile of blocks of `tiles` tiles is filled at a step, and the position in the source of
    /// its first word, relative to the blocks' first line: along the rows of the source, so that
    /// memory is read sequentially.
    #[inline(always)]
    fn place(self, step: usize, tiles: usize, k_tiles: usize) -> (usize, [usize; 2]) {
        let line_tiles = tiles / k_tiles;
        let (line_tile, k_tile) = if self.k_runs_down_source {
            (step % line_tiles, step / line_tiles)
        } else {
            (step / k_tiles, step % k_tiles)
        };
        let (block, half) = (
            line_tile / self.parallel_runs,
            line_tile % self.parallel_runs,
        );
        let tile = (block * k_tiles + k_tile) * self.parallel_runs + half;
        (tile, [line_tile * SIDE, k_tile * DEPTH])
    }
}

/// [`pack_blocks`] with [`vector_words`], which must be supported.
#[cfg(target_arch = "x86_64")]
fn pack_blocks_in_vectors(layout: Layout, source: Source, first_line: usize, tiles: &mut [Tile]) {
    let k_tiles = source.depth.div_ceil(DEPTH);
    for step in 0..tiles.len() {
        let (tile, [line, k]) = layout.place(step, tiles.len(), k_tiles);
        let (line, words) = (first_line + line, &mut tiles[tile].words);
        if line >= source.lines {
            // The second half of the last block.
            *words = Tile::ZERO.words;
            continue;
        }
        // SAFETY: the caller has checked that it is supported, and the position was checked.
        unsafe {
            vector_words::words(
                source,
                layout.k_runs_down_source,
                layout.turn,
                [line, k],
                words,
            );
        }
    }
}

kernel! {
    /// Fills the blocks `tiles`, whose first line is `first_line`.
    fn pack_blocks<FMA>(
        layout: Layout,
        source: Source,
        first_line: usize,
        tiles: &mut [Tile],
    ) {
        let k_tiles = source.depth.div_ceil(DEPTH);
        for step in 0..tiles.len() {
            let (tile, [line, k]) = layout.place(step, tiles.len(), k_tiles);
            let (line, tile) = (first_line + line, &mut tiles[tile]);
            let mut words = [[0; SIDE]; SIDE];
            if layout.k_runs_down_source {
                source.words_from_columns(line, k, &mut words);
            } else {
                source.words_from_rows(line, k, &mut words);
            }
            if layout.turn {
                turn(&words, &mut tile.words);
            } else {
                tile.words = words;
            }
        }
    }
}
