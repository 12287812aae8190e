//! The product of packed factors: its division among threads, and its edges.

use super::packing::{DEPTH, PackedLeft, PackedRight, RIGHT_PAIR, SIDE};
use super::tile_kernels::{Block, ConfiguredTiles};
use super::vector_kernels;
use crate::parallel;
use std::ops::Range;

/// What multiplies the tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProductEngine {
    /// The AMX-TILE and AMX-BF16 instructions.
    Tiles,
    /// The AVX-512 F and BF16 instructions.
    Vectors,
}

impl ProductEngine {
    /// Multiplications that take as long as one operation that [`parallel::THRESHOLD`] counts:
    /// tiles do about 5 10^11 multiplications a second on one core, vectors a tenth of it.
    fn multiplications_per_operation(self) -> usize {
        match self {
            ProductEngine::Tiles => 256,
            ProductEngine::Vectors => 32,
        }
    }
}

/// Pieces of work for each thread: several, so that a delayed thread does not delay all.
const PIECES_PER_THREAD: usize = 4;

/// Rows and columns that the kernel computes at once.
const BLOCK: usize = 2 * SIDE;

/// [`super::multiply`] without the check whether this machine supports it, for the tests, which
/// emulate the instructions.
///
/// # Panics
/// If the shapes do not fit.
///
/// # Safety
/// The instructions of `engine` must work on all threads of rayon's current pool.
pub unsafe fn multiply_unchecked_support(
    engine: ProductEngine,
    left: &PackedLeft,
    right: &PackedRight,
    c: &mut [f32],
    accumulate: bool,
) {
    super::assert_shapes(left, right, c);
    let (m, k, n) = (left.rows(), left.depth(), right.columns());
    if k == 0 && !accumulate {
        c.fill(0.0);
    }
    if k == 0 || c.is_empty() {
        return;
    }
    let operations = m * k * n / engine.multiplications_per_operation();
    let product = Product {
        engine,
        left,
        right,
        c: c.as_mut_ptr(),
        accumulate,
    };
    let pieces = pieces(m, n, super::threads_for(operations));
    parallel::for_each(operations, pieces.into_iter(), |piece| {
        // SAFETY: the caller guarantees the instructions. Pieces do not overlap and lie within
        // `c`, whose length is checked above and which is borrowed until all of them are done.
        unsafe { product.compute(piece) }
    });
}

/// Rows and columns of the result; both start at multiples of [`BLOCK`].
#[derive(Clone, Debug, PartialEq, Eq)]
struct Piece {
    rows: Range<usize>,
    columns: Range<usize>,
}

/// Splits a result `[m, n]`, neither of them zero: by columns, since then every thread reads only
/// its part of the right factor, and also by rows if there are too few columns.
fn pieces(m: usize, n: usize, threads: usize) -> Vec<Piece> {
    let wanted = if threads == 1 {
        1
    } else {
        PIECES_PER_THREAD * threads
    };
    let by_columns = wanted.min(n.div_ceil(BLOCK));
    let columns = split(n, by_columns);
    let rows = split(m, wanted.div_ceil(by_columns));
    let row_pieces = |columns: Range<usize>| {
        rows.iter().map(move |rows| Piece {
            rows: rows.clone(),
            columns: columns.clone(),
        })
    };
    columns.into_iter().flat_map(row_pieces).collect()
}

/// At most `parts` ranges of complete blocks (except at the end) that make up `0..length`.
fn split(length: usize, parts: usize) -> Vec<Range<usize>> {
    let step = length.div_ceil(BLOCK).div_ceil(parts) * BLOCK;
    let starts = (0..length).step_by(step);
    starts.map(|at| at..length.min(at + step)).collect()
}

/// A product whose pieces threads share.
struct Product<'a> {
    engine: ProductEngine,
    left: &'a PackedLeft,
    right: &'a PackedRight,
    /// `[m, n]`.
    c: *mut f32,
    accumulate: bool,
}

// SAFETY: `c` is only used by `compute`, whose caller ensures that threads do not overlap.
unsafe impl Sync for Product<'_> {}

impl Product<'_> {
    /// # Safety
    /// The engine's instructions must work on this thread. `c` must point to `[m, n]` elements, neither
    /// `k` nor the piece may be empty, and no other thread may use the elements of `piece`.
    unsafe fn compute(&self, piece: Piece) {
        // SAFETY: the caller guarantees the instructions.
        let tiles =
            (self.engine == ProductEngine::Tiles).then(|| unsafe { ConfiguredTiles::load() });
        let mut edge = Edge::ZERO;
        // SAFETY: by the condition of this function.
        let mut block = |row, column| unsafe {
            self.compute_block(tiles.as_ref(), &mut edge, row, column);
        };
        // The inner loop reads all of one factor repeatedly: the smaller one stays in the cache.
        let (rows, columns) = (piece.rows.len(), piece.columns.len());
        let rows_inside = rows <= columns;
        let rows = piece.rows.step_by(BLOCK);
        let columns = piece.columns.step_by(BLOCK);
        if rows_inside {
            columns.for_each(|column| rows.clone().for_each(|row| block(row, column)));
        } else {
            rows.for_each(|row| columns.clone().for_each(|column| block(row, column)));
        }
    }

    /// The block of up to 32 rows and columns that starts at `row` and `column`.
    ///
    /// # Safety
    /// As for [`Product::compute`].
    unsafe fn compute_block(
        &self,
        tiles: Option<&ConfiguredTiles>,
        edge: &mut Edge,
        row: usize,
        column: usize,
    ) {
        let (m, n) = (self.left.rows(), self.right.columns());
        let (height, width) = (BLOCK.min(m - row), BLOCK.min(n - column));
        // SAFETY: `row` and `column` lie within `c [m, n]`. The kernels are given either a block
        // that lies in `c` as a whole, or the one of `edge`, between which and `c` only the rows
        // and columns that exist are copied.
        unsafe {
            let block = Block {
                start: self.c.add(row * n + column),
                row_stride: n,
            };
            if width == BLOCK && height.is_multiple_of(SIDE) {
                self.run_kernel(tiles, row, column, block);
            } else {
                if self.accumulate {
                    edge.load(block, height, width);
                }
                self.run_kernel(tiles, row, column, edge.block());
                edge.store(block, height, width);
            }
        }
    }

    /// 32 columns and 32 rows, or 16 rows at the lower edge if there are not more.
    ///
    /// # Safety
    /// As for [`Product::compute`]; `target` must have that many rows and columns.
    unsafe fn run_kernel(
        &self,
        tiles: Option<&ConfiguredTiles>,
        row: usize,
        column: usize,
        target: Block,
    ) {
        let (k_tiles, pairs) = (
            self.left.depth().div_ceil(DEPTH),
            self.left.depth().div_ceil(2),
        );
        let right = &self.right.tiles()[column / BLOCK * k_tiles * RIGHT_PAIR..];
        let right = right[..k_tiles * RIGHT_PAIR].as_ptr();
        let left = &self.left.tiles()[row / SIDE * k_tiles..];
        let rows = if self.left.rows() - row <= SIDE { 1 } else { 2 };
        let (upper, lower) = left[..rows * k_tiles].split_at(k_tiles);
        let (upper, lower) = (upper.as_ptr(), lower.as_ptr());
        // SAFETY: the slices have as many tiles as the kernels read, `lower` only if there are two
        // rows of them, and the caller guarantees the instructions and the target.
        unsafe {
            match (tiles, rows) {
                (Some(tiles), 1) => {
                    tiles.multiply_1x2(k_tiles, upper, right, target, self.accumulate);
                }
                (Some(tiles), _) => {
                    tiles.multiply_2x2(k_tiles, upper, lower, right, target, self.accumulate);
                }
                (None, rows) => {
                    for (half, left) in [upper, lower].into_iter().take(rows).enumerate() {
                        let target = Block {
                            start: target.start.add(half * SIDE * target.row_stride),
                            row_stride: target.row_stride,
                        };
                        let accumulate = self.accumulate;
                        vector_kernels::multiply_1x2(pairs, left, right, target, accumulate);
                    }
                }
            }
        }
    }
}

/// Replaces blocks that extend beyond the result.
#[repr(align(64))]
struct Edge([f32; BLOCK * BLOCK]);

impl Edge {
    const ZERO: Edge = Edge([0.0; BLOCK * BLOCK]);

    fn block(&mut self) -> Block {
        Block {
            start: self.0.as_mut_ptr(),
            row_stride: BLOCK,
        }
    }

    /// # Safety
    /// The first `height` rows and `width` columns of `block` can be read.
    unsafe fn load(&mut self, block: Block, height: usize, width: usize) {
        for (i, row) in self.0.chunks_exact_mut(BLOCK).take(height).enumerate() {
            // SAFETY: by the condition above; `row` has `BLOCK` elements, and is not of `block`.
            unsafe {
                let from = block.start.add(i * block.row_stride);
                from.copy_to_nonoverlapping(row[..width].as_mut_ptr(), width);
            }
        }
    }

    /// # Safety
    /// The first `height` rows and `width` columns of `block` can be written.
    unsafe fn store(&self, block: Block, height: usize, width: usize) {
        for (i, row) in self.0.chunks_exact(BLOCK).take(height).enumerate() {
            // SAFETY: as in `load`.
            unsafe {
                let to = block.start.add(i * block.row_stride);
                to.copy_from_nonoverlapping(row[..width].as_ptr(), width);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_the_result_once() {
        for (m, n) in [(1, 1), (33, 31), (100, 1000), (1000, 40), (200, 5292)] {
            for threads in [1, 2, 3, 16] {
                let mut covered = vec![0; m * n];
                for Piece { rows, columns } in pieces(m, n, threads) {
                    assert_eq!((rows.start % BLOCK, columns.start % BLOCK), (0, 0));
                    for row in rows {
                        columns
                            .clone()
                            .for_each(|column| covered[row * n + column] += 1);
                    }
                }
                assert!(covered.iter().all(|times| *times == 1), "{m} x {n}");
            }
        }
    }

    #[test]
    fn narrow_results_are_split_by_rows() {
        assert_eq!(pieces(1000, 10, 1).len(), 1);
        assert_eq!(pieces(1000, 10, 2).len(), 8);
        assert_eq!(pieces(10, 1000, 2).len(), 8);
        assert_eq!(pieces(10, 10, 2).len(), 1);
    }
}
