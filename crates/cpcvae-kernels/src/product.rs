//! Matrix products.

use crate::bf16::round_to_bf16;
use crate::isa::Isa;
use crate::workspace::Workspace;
use gemm::Parallelism;
use serde::{Deserialize, Serialize};

/// The precision of the factors of large products. Sums are always `f32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// Not rounded.
    F32,
    /// Rounded to bfloat16: 8 bits of mantissa.
    Bf16,
}

impl Precision {
    /// The default for this machine: bfloat16 if it has instructions for it.
    pub fn auto() -> Self {
        if Isa::current().has_bf16_products() {
            Self::Bf16
        } else {
            Self::F32
        }
    }

    /// `f32` or `bf16`.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::Bf16 => "bf16",
        }
    }

    /// The precision for a layer with weights `[k, n]`, which may be too small to be rounded.
    pub fn of_layer(self, k: usize, n: usize) -> Self {
        if k * n < SMALLEST_ROUNDED_LAYER {
            Self::F32
        } else {
            self
        }
    }
}

/// Layers with fewer weights are multiplied in `f32` whatever the precision: rounding and packing
/// would cost as much as the product saves.
pub const SMALLEST_ROUNDED_LAYER: usize = 1 << 16;

/// `c = op(a) op(b)`, `c [m, n]`, with factors of that precision, whatever the workspace's; each
/// has a flag for whether it is transposed.
///
/// `a` is stored `[m, k]`, or `[k, m]` if transposed; `b` is stored `[k, n]`, or `[n, k]`.
///
/// # Panics
/// If a slice's length does not fit the shape.
pub fn product(
    workspace: &Workspace,
    precision: Precision,
    shape: [usize; 3],
    (a, a_transposed): (&[f32], bool),
    (b, b_transposed): (&[f32], bool),
    c: &mut [f32],
) {
    match precision {
        Precision::F32 => product_f32(shape, (a, a_transposed), (b, b_transposed), c),
        // The product of two such numbers fits an `f32`, so this is the result of a machine with
        // instructions for them, up to the order of the sums.
        Precision::Bf16 => workspace.rounded.with(|[left, right]| {
            for (values, rounded) in [(a, &mut *left), (b, &mut *right)] {
                rounded.resize(rounded.len().max(values.len()), 0.0);
                round_to_bf16(values, &mut rounded[..values.len()]);
            }
            let (a, b) = (&left[..a.len()], &right[..b.len()]);
            product_f32(shape, (a, a_transposed), (b, b_transposed), c);
        }),
    }
}

/// [`product`] `[m, k, n]` without rounding.
///
/// # Panics
/// If a slice's length does not fit the shape.
pub fn product_f32(
    [m, k, n]: [usize; 3],
    (a, a_transposed): (&[f32], bool),
    (b, b_transposed): (&[f32], bool),
    c: &mut [f32],
) {
    assert_eq!(a.len(), m * k);
    assert_eq!(b.len(), k * n);
    assert_eq!(c.len(), m * n);
    let (a_row, a_column) = if a_transposed { (1, m) } else { (k, 1) };
    let (b_row, b_column) = if b_transposed { (1, k) } else { (n, 1) };
    // About 60 microseconds; a layer of 200 x 100 x 100 stays on this thread.
    let threads = if m * n * k < 4_000_000 {
        Parallelism::None
    } else {
        Parallelism::Rayon(0)
    };
    // SAFETY: the strides address exactly the elements of the row-major slices, whose lengths
    // are checked above; `c` is exclusively borrowed and fully written (`read_dst` is false).
    unsafe {
        gemm::gemm(
            m,
            n,
            k,
            c.as_mut_ptr(),
            1,
            n as isize,
            false,
            a.as_ptr(),
            a_column as isize,
            a_row as isize,
            b.as_ptr(),
            b_column as isize,
            b_row as isize,
            0.0,
            1.0,
            false,
            false,
            false,
            threads,
        );
    }
}
