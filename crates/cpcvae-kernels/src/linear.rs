//! The fully connected layer `y = act(x W + b)` and its gradients.

use crate::activation::{self, Activation};
use crate::bf16::{self, PackedRight};
use crate::product::product;
use crate::timing::timed;
use crate::workspace::Workspace;

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
    /// Packs `w [k, n]`, reusing the memory if it is large enough.
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
pub fn forward(
    workspace: &Workspace,
    [m, k, n]: [usize; 3],
    x: &[f32],
    w: WeightsRef,
    b: &[f32],
    act: Activation,
    y: &mut [f32],
) {
    assert_eq!(b.len(), n);
    let flop = 2.0 * (m * k * n) as f64;
    let precision = workspace.precision().of_layer(k, n);
    timed("dense: forward", flop, || match w {
        WeightsRef::Plain(w) => product(workspace, precision, [m, k, n], (x, false), (w, false), y),
        WeightsRef::Packed(w) => packed_product(workspace, [m, k], x, false, &w.forward, y),
    });
    timed("dense: activation", 0.0, || {
        activation::activate(n, b, act, y)
    });
}

/// Outputs of [`backward`] for the gradients that are needed.
#[derive(Debug, Default)]
pub struct LinearGrads<'a> {
    /// With respect to the input, `[m, k]`.
    pub x: Option<&'a mut [f32]>,
    /// With respect to the weights, `[k, n]`.
    pub w: Option<&'a mut [f32]>,
    /// With respect to the bias, `[n]`.
    pub b: Option<&'a mut [f32]>,
}

/// `c = left right`, where `left [m, k]` is stored plain or transposed.
fn packed_product(
    workspace: &Workspace,
    [m, k]: [usize; 2],
    left: &[f32],
    transposed: bool,
    right: &PackedRight,
    c: &mut [f32],
) {
    workspace.left.with(|packed| {
        packed.pack(m, k, left, transposed);
        bf16::multiply(packed, right, c, false);
    });
}

/// Gradients of [`forward`] from its input `x [m, k]`, weights `w [k, n]`, output `y [m, n]` and
/// the gradient `gy [m, n]` of that output.
///
/// # Panics
/// If a slice's length does not fit the shape.
#[allow(clippy::too_many_arguments)]
pub fn backward(
    workspace: &Workspace,
    [m, k, n]: [usize; 3],
    x: &[f32],
    w: WeightsRef,
    y: &[f32],
    gy: &[f32],
    act: Activation,
    grads: LinearGrads,
) {
    assert_eq!(y.len(), m * n);
    assert_eq!(gy.len(), m * n);
    workspace.gradients.with(|scratch| {
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
        products(workspace, [m, k, n], x, w, gz, (grads.x, grads.w));
    });
}

/// The needed gradients of input and weights, from `gz [m, n]` before the activation.
fn products(
    workspace: &Workspace,
    [m, k, n]: [usize; 3],
    x: &[f32],
    w: WeightsRef,
    gz: &[f32],
    (gx, gw): (Option<&mut [f32]>, Option<&mut [f32]>),
) {
    let flop = 2.0 * (m * k * n) as f64;
    let precision = workspace.precision().of_layer(k, n);
    if let Some(gx) = gx {
        timed("dense: input gradient", flop, || match w {
            WeightsRef::Plain(w) => {
                product(workspace, precision, [m, n, k], (gz, false), (w, true), gx)
            }
            WeightsRef::Packed(w) => packed_product(workspace, [m, n], gz, false, &w.backward, gx),
        });
    }
    if let Some(gw) = gw {
        timed("dense: weight gradient", flop, || match w {
            WeightsRef::Plain(_) => {
                product(workspace, precision, [k, m, n], (x, true), (gz, false), gw)
            }
            WeightsRef::Packed(_) => workspace.right.with(|right| {
                right.pack(m, n, gz, false);
                packed_product(workspace, [k, m], x, true, right, gw);
            }),
        });
    }
}
