//! The innermost product on AMX tiles: 32 rows by 32 columns at once.

use super::block::{ConvEngine, LANES, Left, TILE};
use crate::bf16::{ConfiguredTiles, SegmentSums, Segments, Strided};

/// Rows and columns of a block.
pub(super) const SIDE: usize = LANES;

/// The sums of a block.
pub(super) type TileSums = SegmentSums;

/// The right factor of a block: rows of [`SIDE`] words that start `row_step` words apart, one for
/// each position of each segment of the left one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Right<'a> {
    pub words: &'a [u32],
    pub row_step: usize,
}

/// The tiles of this thread.
pub(super) struct Tiles(ConfiguredTiles);

impl Tiles {
    /// # Panics
    /// If the engine does not use tiles.
    pub(super) fn configure(engine: ConvEngine) -> Self {
        assert!(engine.uses_tiles());
        // SAFETY: an instruction set is only current where it was detected.
        Self(unsafe { ConfiguredTiles::load() })
    }

    /// `sums[i][j]` are (or, if `accumulate`, are increased by) `left[i] . right[j]` for the first
    /// `rows` rows; others are undefined. The depth of `left` is a multiple of the tile's.
    ///
    /// # Panics
    /// If the factors are too short: the left one has to have words for 16 rows, or 32.
    pub(super) fn multiply(
        &self,
        rows: usize,
        left: &Left,
        right: Right,
        sums: &mut TileSums,
        accumulate: bool,
    ) {
        if left.depth == 0 || left.segments.is_empty() {
            if !accumulate {
                sums.as_flattened_mut().fill(0.0);
            }
            return;
        }
        assert!((1..=SIDE).contains(&rows));
        assert!(left.depth.is_multiple_of(TILE) && left.depth_step == 1);
        let reach = (rows.next_multiple_of(TILE) - 1) * left.row_step + left.depth;
        for segment in left.segments {
            assert!(segment + reach <= left.words.len());
        }
        let places = left.segments.len() * left.depth;
        assert!((places - 1) * right.row_step + SIDE <= right.words.len());
        let factor = Segments {
            rows: Strided {
                start: left.words.as_ptr(),
                row_step: left.row_step,
            },
            segments: left.segments,
            k_tiles: left.depth / TILE,
        };
        let right = Strided {
            start: right.words.as_ptr(),
            row_step: right.row_step,
        };
        // SAFETY: tiles are configured, so that the instructions work, and the lengths were
        // checked above.
        unsafe {
            self.0
                .multiply_segments(rows > TILE, &factor, right, sums, accumulate);
        }
    }
}
