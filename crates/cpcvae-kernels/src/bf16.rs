//! Matrix products with factors in bfloat16 and sums in `f32`: on the AMX tiles of recent Intel
//! processors, or with the vector instruction of AMD's since Zen 4.
//!
//! Packing a factor ([`PackedLeft`], [`PackedRight`]) and multiplying ([`multiply`]) are separate
//! steps, because a factor can be part of several products. Both run everywhere: without such
//! instructions ([`Isa::has_bf16_products`]) [`multiply`] computes the same product of the same
//! tiles in plain loops.
//!
//! Every element of a product is summed in an order that depends on `k` only: neither the number
//! of threads nor the other rows and columns change it.

#[cfg(target_arch = "x86_64")]
mod both_ways;
mod packing;
mod portable;
mod rounding;
mod support;
#[cfg(target_arch = "x86_64")]
mod tile_kernels;
#[cfg(target_arch = "x86_64")]
mod tile_product;
mod tile_words;
#[cfg(target_arch = "x86_64")]
mod vector_kernels;
#[cfg(target_arch = "x86_64")]
mod vector_words;

pub use packing::{PackedLeft, PackedRight, Tile};
pub use portable::multiply_portable;
pub(crate) use rounding::pair;
pub use rounding::round_to_bf16;
pub(crate) use support::{are_tiles_supported, are_vectors_supported};
#[cfg(target_arch = "x86_64")]
pub(crate) use tile_kernels::{ConfiguredTiles, SegmentSums, Segments, Strided};
pub(crate) use tile_words::turn;
#[cfg(target_arch = "x86_64")]
#[doc(hidden)]
pub use {
    support::self_check,
    tile_product::{ProductEngine, multiply_unchecked_support},
};

use crate::isa::Isa;
use crate::parallel;

/// `c = a b`, or `c += a b` if `accumulate`, with `a [m, k]`, `b [k, n]` and `c [m, n]` row-major.
///
/// With the instructions of the current [`Isa`], otherwise by [`multiply_portable`]. The
/// instructions flush factors and sums below 2^-126, the smallest normal number, to zero.
///
/// # Panics
/// If the shapes do not fit.
pub fn multiply(left: &PackedLeft, right: &PackedRight, c: &mut [f32], accumulate: bool) {
    #[cfg(target_arch = "x86_64")]
    {
        let engine = match Isa::current() {
            Isa::Amx => Some(ProductEngine::Tiles),
            Isa::Avx512Bf16 => Some(ProductEngine::Vectors),
            _ => None,
        };
        if let Some(engine) = engine {
            // SAFETY: an instruction set is only current where it was detected.
            return unsafe {
                tile_product::multiply_unchecked_support(engine, left, right, c, accumulate);
            };
        }
    }
    multiply_portable(left, right, c, accumulate);
}

fn assert_shapes(left: &PackedLeft, right: &PackedRight, c: &[f32]) {
    assert_eq!(left.depth(), right.depth());
    assert_eq!(c.len(), left.rows() * right.columns());
}

/// The number of threads that [`parallel::for_each`] will use. Rayon starts its threads when asked
/// for their number, so it is only asked if they are needed.
fn threads_for(operations: usize) -> usize {
    if operations < parallel::THRESHOLD {
        1
    } else {
        rayon::current_num_threads()
    }
}
