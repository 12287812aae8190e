//! Processing after the decoder: constraints on its maps and their affine warp to the image.

mod line;
mod shown;
mod warp;

pub use shown::clear_unshown;
pub use warp::{WarpShape, warp, warp_backward};

use crate::isa::Isa;
use crate::math::{at_least, at_most, sigmoid, softplus, tanh};
use crate::parallel;

/// The constraint that maps a raw value of the decoder to a parameter of the likelihood.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MapConstraint {
    /// The raw value.
    Identity,
    /// The logistic function, clipped to [1e-4, 1 - 1e-4]; the gradient is 0 where it clips.
    Sigmoid,
    /// The hyperbolic tangent.
    Tanh,
    /// `(softplus(raw) + floor)^2`
    Variance {
        /// The smallest standard deviation.
        floor: f32,
    },
}

const LOWEST_SHARE: f32 = 1e-4;

/// `out = constraint(raw)`, both `[n, maps, p]`, with one constraint for each map.
///
/// # Panics
/// If a slice's length does not fit the shape.
pub fn constrain(n: usize, p: usize, maps: &[MapConstraint], raw: &[f32], out: &mut [f32]) {
    let elements = n * maps.len() * p;
    assert_eq!(raw.len(), elements);
    assert_eq!(out.len(), elements);
    if elements == 0 {
        return;
    }
    let isa = Isa::current();
    let rows = maps
        .iter()
        .cycle()
        .zip(raw.chunks(p))
        .zip(out.chunks_mut(p));
    parallel::timed_for_each("constrain", elements, rows, |((map, raw), out)| {
        constrain_map(isa, *map, raw, out)
    });
}

/// `g_raw = g_out * constraint'(raw)`, all `[n, maps, p]`.
///
/// # Panics
/// If a slice's length does not fit the shape.
pub fn constrain_backward(
    n: usize,
    p: usize,
    maps: &[MapConstraint],
    raw: &[f32],
    g_out: &[f32],
    g_raw: &mut [f32],
) {
    let elements = n * maps.len() * p;
    assert_eq!(raw.len(), elements);
    assert_eq!(g_out.len(), elements);
    assert_eq!(g_raw.len(), elements);
    if elements == 0 {
        return;
    }
    let isa = Isa::current();
    let rows = maps
        .iter()
        .cycle()
        .zip(raw.chunks(p))
        .zip(g_out.chunks(p))
        .zip(g_raw.chunks_mut(p));
    parallel::timed_for_each(
        "constrain: gradient",
        elements,
        rows,
        |(((map, raw), g_out), g_raw)| {
            g_raw.copy_from_slice(g_out);
            let mut values = [0.0; 256];
            for (raw, g_raw) in raw.chunks(values.len()).zip(g_raw.chunks_mut(values.len())) {
                let values = &mut values[..raw.len()];
                constrain_map(isa, *map, raw, values);
                multiply_by_slope(isa, *map, raw, values, g_raw);
            }
        },
    );
}

kernel! {
    /// One map: `out = constraint(raw)`.
    fn constrain_map<FMA>(map: MapConstraint, raw: &[f32], out: &mut [f32]) {
        macro_rules! all {
            (|$v:ident| $value:expr) => {
                for (raw, out) in raw.iter().zip(out) {
                    let $v = *raw;
                    *out = $value;
                }
            };
        }
        match map {
            MapConstraint::Identity => out.copy_from_slice(raw),
            MapConstraint::Sigmoid => {
                all!(|v| at_most(at_least(sigmoid::<FMA>(v), LOWEST_SHARE), 1.0 - LOWEST_SHARE));
            }
            MapConstraint::Tanh => all!(|v| tanh::<FMA>(v)),
            MapConstraint::Variance { floor } => all!(|v| {
                let sigma = softplus::<FMA>(v) + floor;
                sigma * sigma
            }),
        }
    }
}

kernel! {
    /// One map: `g *= constraint'(raw)`, given `values = constraint(raw)`.
    fn multiply_by_slope<FMA>(map: MapConstraint, raw: &[f32], values: &[f32], g: &mut [f32]) {
        match map {
            MapConstraint::Identity => (),
            MapConstraint::Sigmoid => {
                for (v, g) in values.iter().zip(g) {
                    let free = *v > LOWEST_SHARE && *v < 1.0 - LOWEST_SHARE;
                    *g *= if free { v * (1.0 - v) } else { 0.0 };
                }
            }
            MapConstraint::Tanh => {
                for (v, g) in values.iter().zip(g) {
                    *g *= 1.0 - v * v;
                }
            }
            MapConstraint::Variance { .. } => {
                for ((raw, v), g) in raw.iter().zip(values).zip(g) {
                    *g *= 2.0 * v.sqrt() * sigmoid::<FMA>(*raw);
                }
            }
        }
    }
}
