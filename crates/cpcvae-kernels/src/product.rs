//! Matrix products.

use gemm::Parallelism;
use std::sync::atomic::{AtomicBool, Ordering};

/// How exact the factors of large products are. Sums are always `f32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// As they are.
    F32,
    /// Rounded to bfloat16: 8 bits of mantissa.
    Bf16,
}

static ROUNDS: AtomicBool = AtomicBool::new(false);

/// Sets the precision of the products of dense layers, for the whole process.
pub fn set_precision(precision: Precision) {
    ROUNDS.store(precision == Precision::Bf16, Ordering::Relaxed);
}

/// The precision of the products of dense layers.
pub fn precision() -> Precision {
    if ROUNDS.load(Ordering::Relaxed) {
        Precision::Bf16
    } else {
        Precision::F32
    }
}

/// `c = op(a) op(b)`, `c [m, n]`.
///
/// `a` is stored `[m, k]`, or `[k, m]` if `a_transposed`; `b` is stored `[k, n]`, or `[n, k]` if
/// `b_transposed`.
///
/// # Panics
/// If a slice's length does not fit the shape.
#[allow(clippy::too_many_arguments)]
pub fn product(
    m: usize,
    k: usize,
    n: usize,
    a: &[f32],
    a_transposed: bool,
    b: &[f32],
    b_transposed: bool,
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
