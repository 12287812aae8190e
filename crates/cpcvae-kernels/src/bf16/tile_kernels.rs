//! The AMX instructions: everything that the processor does with tiles happens in this file.

use super::packing::Tile;
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

/// The tiles of this thread while they are configured; they are released when it is dropped,
/// because unreleased tiles make every switch of threads slower.
pub(super) struct ConfiguredTiles {
    /// Tiles belong to a thread.
    not_send: PhantomData<*mut Tile>,
}

impl ConfiguredTiles {
    /// # Safety
    /// The AMX-TILE instructions must work on this thread.
    pub(super) unsafe fn load() -> ConfiguredTiles {
        // SAFETY: reads the 64 bytes of a valid configuration; the caller vouches for the
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
        // SAFETY: the caller vouches for the instructions and the memory; `self` says that the
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
