//! One layer for every class: `y = act(x + v_k)` for each row of x and each class k.
//!
//! Rows of the result are numbered `row * classes + class`.

use crate::activation::{Activation, add_bias_activate, slope_rows};
use crate::isa::Isa;
use crate::parallel;

/// Sizes of a layer with classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassShape {
    /// Rows without their classes.
    pub rows: usize,
    /// Classes of each row.
    pub classes: usize,
    /// Units of the layer.
    pub units: usize,
    /// Whether x is the same for all classes, `[rows, units]`, or not, `[rows, classes, units]`.
    pub shared: bool,
}

impl ClassShape {
    fn check(&self, x: &[f32], v: &[f32], y: &[f32]) {
        let copies = if self.shared { 1 } else { self.classes };
        assert_eq!(x.len(), self.rows * copies * self.units);
        assert_eq!(v.len(), self.classes * self.units);
        assert_eq!(y.len(), self.rows * self.classes * self.units);
    }

    fn is_empty(&self) -> bool {
        self.rows * self.classes * self.units == 0
    }

    /// Numbers of x that belong to one row.
    fn width(&self) -> usize {
        self.units * if self.shared { 1 } else { self.classes }
    }
}

/// `y [rows, classes, units]` from `x` and `v [classes, units]`.
///
/// # Panics
/// If a slice's length does not fit the shape.
pub fn forward(shape: ClassShape, x: &[f32], v: &[f32], act: Activation, y: &mut [f32]) {
    shape.check(x, v, y);
    if shape.is_empty() {
        return;
    }
    let isa = Isa::current();
    let elements = y.len();
    let rows = y.chunks_mut(v.len()).zip(x.chunks(shape.width()));
    parallel::timed_for_each("classes", elements, rows, |(y, x)| {
        for (class, (y, v)) in y
            .chunks_mut(shape.units)
            .zip(v.chunks(shape.units))
            .enumerate()
        {
            let x = if shape.shared {
                x
            } else {
                &x[class * shape.units..]
            };
            y.copy_from_slice(&x[..shape.units]);
            add_bias_activate(isa, v, act, y);
        }
    });
}

/// Gradients of [`forward`] from its output `y` and that output's gradient `gy`: `gx` as x, and
/// `gv [classes, units]`.
///
/// # Panics
/// If a slice's length does not fit the shape.
pub fn backward(
    shape: ClassShape,
    act: Activation,
    y: &[f32],
    gy: &[f32],
    gx: &mut [f32],
    gv: &mut [f32],
) {
    /// Rows in one piece of work.
    const PIECE: usize = 8;
    shape.check(gx, gv, y);
    assert_eq!(gy.len(), y.len());
    gv.fill(0.0);
    if shape.is_empty() {
        return gx.fill(0.0);
    }
    let isa = Isa::current();
    let (layer, elements) = (gv.len(), y.len());
    // Each piece has its own sums for v, which are added in order, so that the result is the same
    // for any number of threads.
    let mut partial = vec![0.0; shape.rows.div_ceil(PIECE) * layer];
    let pieces = y.chunks(PIECE * layer).zip(gy.chunks(PIECE * layer));
    let pieces = pieces.zip(gx.chunks_mut(PIECE * shape.width()));
    let pieces = pieces.zip(partial.chunks_mut(layer));
    let name = "classes: gradient";
    parallel::timed_for_each(name, elements, pieces, |(((y, gy), gx), gv)| {
        let mut gz = vec![0.0; shape.units];
        let rows = y.chunks(layer).zip(gy.chunks(layer));
        for ((y, gy), gx) in rows.zip(gx.chunks_mut(shape.width())) {
            if shape.shared {
                gx.fill(0.0);
            }
            let classes = y
                .chunks(shape.units)
                .zip(gy.chunks(shape.units))
                .enumerate();
            for ((class, (y, gy)), gv) in classes.zip(gv.chunks_mut(shape.units)) {
                slope_rows(isa, act, y, gy, &mut gz, gv);
                if shape.shared {
                    add(isa, &gz, gx);
                } else {
                    gx[class * shape.units..][..shape.units].copy_from_slice(&gz);
                }
            }
        }
    });
    for partial in partial.chunks(layer) {
        add(isa, partial, gv);
    }
}

kernel! {
    /// `sum += term`
    fn add<FMA>(term: &[f32], sum: &mut [f32]) {
        for (sum, term) in sum.iter_mut().zip(term) {
            *sum += term;
        }
    }
}
