//! The fully connected layer `y = act(x W + b)` and its gradients.

use crate::activation::{self, Activation};
use crate::bf16::{self, PackedLeft, PackedRight};
use crate::product::{precision_of_layer, product};
use crate::timing::timed;
use std::cell::Cell;

/// The weights of a layer.
#[derive(Clone, Copy, Debug)]
pub enum WeightsRef<'a> {
    /// `[k, n]`
    Plain(&'a [f32]),
    /// Rounded to bfloat16 and packed once for many products.
    Packed(&'a PackedWeights),
}

/// Weights `[k, n]` packed for the forward product and, transposed, for the input gradient.
#[derive(Debug, Default)]
pub struct PackedWeights {
    forward: PackedRight,
    backward: PackedRight,
}

impl PackedWeights {
    /// Packs `w [k, n]`, in the memory that is already there if it is enough.
    ///
    /// # Panics
    /// If the length does not fit the shape.
    pub fn pack(&mut self, k: usize, n: usize, w: &[f32]) {
        timed("dense: packing weights", 0.0, || {
            self.forward.pack_both_ways(&mut self.backward, k, n, w);
        });
    }

    /// `[k, n]`
    pub fn shape(&self) -> [usize; 2] {
        [self.forward.depth(), self.forward.columns()]
    }
}

/// `y = act(x w + b)` with `x [m, k]`, `w [k, n]`, `b [n]`, `y [m, n]`.
///
/// # Panics
/// If a slice's length does not fit the shape.
#[allow(clippy::too_many_arguments)]
pub fn forward(
    m: usize,
    k: usize,
    n: usize,
    x: &[f32],
    w: WeightsRef,
    b: &[f32],
    act: Activation,
    y: &mut [f32],
) {
    assert_eq!(b.len(), n);
    let flop = 2.0 * (m * k * n) as f64;
    let precision = precision_of_layer(k, n);
    timed("dense: forward", flop, || match w {
        WeightsRef::Plain(w) => product(precision, [m, k, n], (x, false), (w, false), y),
        WeightsRef::Packed(w) => packed_product([m, k], x, false, &w.forward, y),
    });
    timed("dense: activation", 0.0, || {
        activation::activate(n, b, act, y)
    });
}

/// Where [`backward`] writes the gradients that are wanted.
#[derive(Debug, Default)]
pub struct LinearGrads<'a> {
    /// With respect to the input, `[m, k]`.
    pub x: Option<&'a mut [f32]>,
    /// With respect to the weights, `[k, n]`.
    pub w: Option<&'a mut [f32]>,
    /// With respect to the bias, `[n]`.
    pub b: Option<&'a mut [f32]>,
}

thread_local! {
    /// Memory for the gradient before the activation: pages fresh from the system at every call
    /// would cost more than the pass that writes them.
    static SCRATCH: Cell<Vec<f32>> = const { Cell::new(Vec::new()) };
    /// The same for packed factors.
    static LEFT: Cell<PackedLeft> = Cell::default();
    static RIGHT: Cell<PackedRight> = Cell::default();
}

/// `c = left right` where `left [m, k]` is stored as it is, or transposed.
fn packed_product(
    [m, k]: [usize; 2],
    left: &[f32],
    transposed: bool,
    right: &PackedRight,
    c: &mut [f32],
) {
    let mut packed = LEFT.take();
    packed.pack(m, k, left, transposed);
    bf16::multiply(&packed, right, c, false);
    LEFT.set(packed);
}

/// Gradients of [`forward`] from its input `x [m, k]`, weights `w [k, n]`, output `y [m, n]` and
/// the gradient `gy [m, n]` of that output.
///
/// # Panics
/// If a slice's length does not fit the shape.
#[allow(clippy::too_many_arguments)]
pub fn backward(
    m: usize,
    k: usize,
    n: usize,
    x: &[f32],
    w: WeightsRef,
    y: &[f32],
    gy: &[f32],
    act: Activation,
    grads: LinearGrads,
) {
    assert_eq!(y.len(), m * n);
    assert_eq!(gy.len(), m * n);
    // Taken from its cell, not borrowed: a nested call on this thread just gets an empty one.
    let mut scratch = SCRATCH.take();
    scratch.resize(scratch.len().max(m * n + n), 0.0);
    let (gz, unwanted) = scratch[..m * n + n].split_at_mut(m * n);
    let gb = grads.b.unwrap_or(unwanted);
    assert_eq!(gb.len(), n);
    let gz = timed("dense: slope", 0.0, || match act {
        Activation::Identity => {
            activation::column_sums(n, gy, gb);
            gy
        }
        _ => {
            activation::slope(n, act, y, gy, gz, gb);
            gz
        }
    });
    let flop = 2.0 * (m * k * n) as f64;
    let precision = precision_of_layer(k, n);
    if let Some(gx) = grads.x {
        timed("dense: input gradient", flop, || match w {
            WeightsRef::Plain(w) => product(precision, [m, n, k], (gz, false), (w, true), gx),
            WeightsRef::Packed(w) => packed_product([m, n], gz, false, &w.backward, gx),
        });
    }
    if let Some(gw) = grads.w {
        timed("dense: weight gradient", flop, || match w {
            WeightsRef::Plain(_) => product(precision, [k, m, n], (x, true), (gz, false), gw),
            WeightsRef::Packed(_) => {
                let mut right = RIGHT.take();
                right.pack(m, n, gz, false);
                packed_product([k, m], x, true, &right, gw);
                RIGHT.set(right);
            }
        });
    }
    SCRATCH.set(scratch);
}
