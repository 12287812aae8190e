//! The AMX instructions: all use of tiles is in this file.

use super::packing::{SIDE, Tile};
use std::arch::asm;
use std::marker::PhantomData;

/// Memory for `ldtilecfg`, as Intel's manual lays it out.
#[repr(C, align(64))]
struct Configuration {
    palette: u8,
    start_row: u8,
    reserved: [u8; 14],
    row_bytes: [u16; 16],
    rows: [u8; 16],
}

/// All eight tiles 16 rows of 64 bytes.
static FULL_TILES: Configuration = {
    let mut all = Configuration {
        palette: 1,
        start_row: 0,
        reserved: [0; 14],
        row_bytes: [0; 16],
        rows: [0; 16],
    };
    let mut tile = 0;
    while tile < 8 {
        all.row_bytes[tile] = 64;
        all.rows[tile] = 16;
        tile += 1;
    }
    all
};

/// A block of the result: where it starts and how far apart its rows are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub start: *mut f32,
    /// In elements.
    pub row_stride: usize,
}

/// Words of a factor: the first one, and how far apart its rows are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Strided {
    pub start: *const u32,
    /// In words.
    pub row_step: usize,
}

/// A left factor in parts that start at `segments`, in words from its start, and are each
/// `k_tiles` tiles long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segments<'a> {
    pub rows: Strided,
    pub segments: &'a [usize],
    pub k_tiles: usize,
}

/// The result of [`ConfiguredTiles::multiply_segments`].
pub(crate) type SegmentSums = [[f32; 2 * SIDE]; 2 * SIDE];

/// The tiles of this thread while they are configured; they are released when it is dropped,
/// because unreleased tiles make every switch of threads slower.
pub(crate) struct ConfiguredTiles {
    /// Tiles belong to a thread.
    not_send: PhantomData<*mut Tile>,
}

impl ConfiguredTiles {
    /// # Safety
    /// The AMX-TILE instructions must work on this thread.
    pub(crate) unsafe fn load() -> ConfiguredTiles {
        // SAFETY: reads the 64 bytes of a valid configuration; the caller guarantees the
        // instruction. It sets all tiles to zero.
        unsafe {
            asm!(
                "ldtilecfg [{configuration}]",
                configuration = in(reg) &raw const FULL_TILES,
                out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
                options(nostack, preserves_flags),
            );
        }
        ConfiguredTiles {
            not_send: PhantomData,
        }
    }

    /// `c [32, 32]` is (or, if `accumulate`, is increased by) the product of two row tiles and two
    /// column tiles: `upper [k_tiles]`, `lower [k_tiles]` and `right [k_tiles][2]`.
    ///
    /// # Safety
    /// The AMX-BF16 instructions must work on this thread. `k_tiles` is not zero. All tiles can be
    /// read, all elements of `c` be written and, if `accumulate`, read.
    #[inline]
    pub(super) unsafe fn multiply_2x2(
        &self,
        k_tiles: usize,
        upper: *const Tile,
        lower: *const Tile,
        right: *const Tile,
        c: Block,
        accumulate: bool,
    ) {
        // The sums stay in tmm0-3, and each operand is loaded just before its first use. Neither
        // prefetching nor a second loop over parts of k made this faster.
        // SAFETY: the caller guarantees the instructions and the memory; `self` says that the
        // tiles are configured.
        unsafe {
            asm!(
                "test {accumulate:e}, {accumulate:e}",
                "jnz 2f",
                "tilezero tmm0",
                "tilezero tmm1",
                "tilezero tmm2",
                "tilezero tmm3",
                "jmp 3f",
                "2:",
                "tileloadd tmm0, [{c_upper} + {c_stride}*1]",
                "tileloadd tmm1, [{c_upper} + {c_stride}*1 + 64]",
                "tileloadd tmm2, [{c_lower} + {c_stride}*1]",
                "tileloadd tmm3, [{c_lower} + {c_stride}*1 + 64]",
                "3:",
                "tileloadd tmm4, [{upper} + {stride}*1]",
                "tileloadd tmm6, [{right} + {stride}*1]",
                "tdpbf16ps tmm0, tmm4, tmm6",
                "tileloadd tmm7, [{right} + {stride}*1 + 1024]",
                "tdpbf16ps tmm1, tmm4, tmm7",
                "tileloadd tmm5, [{lower} + {stride}*1]",
                "tdpbf16ps tmm2, tmm5, tmm6",
                "tdpbf16ps tmm3, tmm5, tmm7",
                "add {upper}, 1024",
                "add {lower}, 1024",
                "add {right}, 2048",
                "dec {k_tiles}",
                "jnz 3b",
                "tilestored [{c_upper} + {c_stride}*1], tmm0",
                "tilestored [{c_upper} + {c_stride}*1 + 64], tmm1",
                "tilestored [{c_lower} + {c_stride}*1], tmm2",
                "tilestored [{c_lower} + {c_stride}*1 + 64], tmm3",
                accumulate = in(reg) u32::from(accumulate),
                c_upper = in(reg) c.start,
                c_lower = in(reg) c.start.add(16 * c.row_stride),
                c_stride = in(reg) 4 * c.row_stride,
                upper = inout(reg) upper => _,
                lower = inout(reg) lower => _,
                right = inout(reg) right => _,
                stride = in(reg) 64usize,
                k_tiles = inout(reg) k_tiles => _,
                out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
                options(nostack),
            );
        }
    }

    /// [`ConfiguredTiles::multiply_2x2`] of one row tile: `c [16, 32]`.
    ///
    /// # Safety
    /// As there.
    #[inline]
    pub(super) unsafe fn multiply_1x2(
        &self,
        k_tiles: usize,
        left: *const Tile,
        right: *const Tile,
        c: Block,
        accumulate: bool,
    ) {
        // SAFETY: as in `multiply_2x2`.
        unsafe {
            asm!(
                "test {accumulate:e}, {accumulate:e}",
                "jnz 2f",
                "tilezero tmm0",
                "tilezero tmm1",
                "jmp 3f",
                "2:",
                "tileloadd tmm0, [{c} + {c_stride}*1]",
                "tileloadd tmm1, [{c} + {c_stride}*1 + 64]",
                "3:",
                "tileloadd tmm4, [{left} + {stride}*1]",
                "tileloadd tmm6, [{right} + {stride}*1]",
                "tileloadd tmm7, [{right} + {stride}*1 + 1024]",
                "tdpbf16ps tmm0, tmm4, tmm6",
                "tdpbf16ps tmm1, tmm4, tmm7",
                "add {left}, 1024",
                "add {right}, 2048",
                "dec {k_tiles}",
                "jnz 3b",
                "tilestored [{c} + {c_stride}*1], tmm0",
                "tilestored [{c} + {c_stride}*1 + 64], tmm1",
                accumulate = in(reg) u32::from(accumulate),
                c = in(reg) c.start,
                c_stride = in(reg) 4 * c.row_stride,
                left = inout(reg) left => _,
                right = inout(reg) right => _,
                stride = in(reg) 64usize,
                k_tiles = inout(reg) k_tiles => _,
                out("tmm0") _, out("tmm1") _, out("tmm4") _, out("tmm6") _, out("tmm7") _,
                options(nostack),
            );
        }
    }

    /// `sums [32, 32]` are (or, if `accumulate`, are increased by) the product of up to 32 rows of
    /// `left` and 32 columns of `right`, whose tiles consist of words with given strides: the taps
    /// of an image are its `segments`. Only the first 16 rows are computed if not `two`.
    ///
    /// # Safety
    /// The AMX-BF16 instructions must work on this thread. Neither `left.segments` nor
    /// `left.k_tiles` is empty. From each segment on, `left` can be read for 16 rows, or 32 if
    /// `two`, and `right` for 32 words of 16 rows for each k tile of each segment.
    #[inline]
    pub(crate) unsafe fn multiply_segments(
        &self,
        two: bool,
        left: &Segments,
        right: Strided,
        sums: &mut SegmentSums,
        accumulate: bool,
    ) {
        // As in `multiply_2x2`; the counter along k is also the distance of rows of the sums before
        // and after the loop, since there are only so many registers.
        // SAFETY: the caller guarantees the instructions and the memory; `self` says that the
        // tiles are configured.
        unsafe {
            asm!(
                "test {k:e}, {k:e}",
                "mov {k:e}, 128",
                "jnz 2f",
                "tilezero tmm0",
                "tilezero tmm1",
                "tilezero tmm2",
                "tilezero tmm3",
                "jmp 3f",
                "2:",
                "tileloadd tmm0, [{sums} + {k}*1]",
                "tileloadd tmm1, [{sums} + {k}*1 + 64]",
                "tileloadd tmm2, [{sums} + {k}*1 + 2048]",
                "tileloadd tmm3, [{sums} + {k}*1 + 2112]",
                "3:",
                "mov {upper}, [{segment}]",
                "lea {upper}, [{left} + {upper}*4]",
                "lea {lower}, [{upper} + {left_stride}*8]",
                "lea {lower}, [{lower} + {left_stride}*8]",
                "mov {k}, {k_tiles}",
                "4:",
                "tileloadd tmm4, [{upper} + {left_stride}*1]",
                "tileloadd tmm6, [{right} + {right_stride}*1]",
                "tdpbf16ps tmm0, tmm4, tmm6",
                "tileloadd tmm7, [{right} + {right_stride}*1 + 64]",
                "tdpbf16ps tmm1, tmm4, tmm7",
                "test {two:e}, {two:e}",
                "jz 5f",
                "tileloadd tmm5, [{lower} + {left_stride}*1]",
                "tdpbf16ps tmm2, tmm5, tmm6",
                "tdpbf16ps tmm3, tmm5, tmm7",
                "5:",
                "add {upper}, 64",
                "add {lower}, 64",
                "lea {right}, [{right} + {right_stride}*8]",
                "lea {right}, [{right} + {right_stride}*8]",
                "dec {k}",
                "jnz 4b",
                "add {segment}, 8",
                "dec {segments}",
                "jnz 3b",
                "mov {k:e}, 128",
                "tilestored [{sums} + {k}*1], tmm0",
                "tilestored [{sums} + {k}*1 + 64], tmm1",
                "tilestored [{sums} + {k}*1 + 2048], tmm2",
                "tilestored [{sums} + {k}*1 + 2112], tmm3",
                k = inout(reg) usize::from(accumulate) => _,
                two = in(reg) u32::from(two),
                sums = in(reg) sums.as_mut_ptr(),
                segment = inout(reg) left.segments.as_ptr() => _,
                segments = inout(reg) left.segments.len() => _,
                left = in(reg) left.rows.start,
                left_stride = in(reg) 4 * left.rows.row_step,
                k_tiles = in(reg) left.k_tiles,
                right = inout(reg) right.start => _,
                right_stride = in(reg) 4 * right.row_step,
                upper = out(reg) _,
                lower = out(reg) _,
                out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
                options(nostack),
            );
        }
    }
}

impl Drop for ConfiguredTiles {
    fn drop(&mut self) {
        // SAFETY: tiles were configured on this thread, so the instruction works.
        unsafe {
            asm!(
                "tilerelease",
                out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
                options(nostack, preserves_flags),
            );
        }
    }
}
