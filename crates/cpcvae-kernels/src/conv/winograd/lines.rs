//! The transforms of a line of numbers, of several lines at once.
//!
//! A convolution of 3 weights `g` with 6 numbers `d` has 4 outputs `y`. Seen as polynomials, all
//! are evaluated at the points 0, p, -p, q, -q and infinity, where a convolution is 6 products:
//! `y = A^T ((G g) * (B^T d))` (Toom-Cook; for images Winograd, Lavin and Gray 2016). For these p
//! and q the error of a sum of `f32` is 1.5 to 2 times that of the plain sum; for the usual 1 and 2
//! it is 4 times.

use super::lanes::Lanes;

/// Outputs of a line, and pixels of a tile's side.
pub(super) const TILE: usize = 4;
/// Numbers that those need, and points.
pub(super) const PATCH: usize = 6;
/// Numbers of a line of weights.
pub(super) const TAPS: usize = 3;

const P: f32 = 0.625;
const Q: f32 = 1.5;
const P2: f32 = P * P;
const Q2: f32 = Q * Q;
/// Weights of the values at 0, at ±p and at ±q.
const AT_0: f32 = 1.0 / (P2 * Q2);
const AT_P: f32 = 0.5 / (P2 * (P2 - Q2));
const AT_Q: f32 = 0.5 / (Q2 * (Q2 - P2));

/// A transform of `N` numbers to `M`. Types instead of functions, as calls of those that stand in
/// variables are not inlined.
pub(super) trait Line<const N: usize, const M: usize> {
    fn transform<L: Lanes>(numbers: [L; N]) -> [L; M];
}

/// `B^T d`: what an image is multiplied as.
pub(super) struct OfImage;

impl Line<PATCH, PATCH> for OfImage {
    #[inline(always)]
    fn transform<L: Lanes>(d: [L; PATCH]) -> [L; PATCH] {
        let even_p = d[2].scaled_plus(-Q2, d[4]);
        let odd_p = d[1].scaled_plus(-Q2, d[3]) * P;
        let even_q = d[2].scaled_plus(-P2, d[4]);
        let odd_q = d[1].scaled_plus(-P2, d[3]) * Q;
        [
            d[0].scaled_plus(P2 * Q2, d[2].scaled_plus(-(P2 + Q2), d[4])),
            even_p + odd_p,
            even_p - odd_p,
            even_q + odd_q,
            even_q - odd_q,
            d[1].scaled_plus(P2 * Q2, d[3].scaled_plus(-(P2 + Q2), d[5])),
        ]
    }
}

/// `G g`: what weights are multiplied as.
pub(super) struct OfWeights;

impl Line<TAPS, PATCH> for OfWeights {
    #[inline(always)]
    fn transform<L: Lanes>(g: [L; TAPS]) -> [L; PATCH] {
        let even_p = g[2].scaled_plus(P2, g[0]) * AT_P;
        let odd_p = g[1] * (AT_P * P);
        let even_q = g[2].scaled_plus(Q2, g[0]) * AT_Q;
        let odd_q = g[1] * (AT_Q * Q);
        [
            g[0] * AT_0,
            even_p + odd_p,
            even_p - odd_p,
            even_q + odd_q,
            even_q - odd_q,
            g[2],
        ]
    }
}

/// `A^T m`: the outputs, from sums of products.
pub(super) struct ToOutputs;

impl Line<PATCH, TILE> for ToOutputs {
    #[inline(always)]
    fn transform<L: Lanes>(m: [L; PATCH]) -> [L; TILE] {
        let (even_p, odd_p) = (m[1] + m[2], m[1] - m[2]);
        let (even_q, odd_q) = (m[3] + m[4], m[3] - m[4]);
        [
            m[0] + (even_p + even_q),
            odd_p.scaled_plus(P, odd_q * Q),
            even_p.scaled_plus(P2, even_q * Q2),
            odd_p.scaled_plus(P2 * P, odd_q.scaled_plus(Q2 * Q, m[5])),
        ]
    }
}

/// `A g`, the transpose of [`ToOutputs`]: what a gradient of outputs is multiplied as.
pub(super) struct OfGradient;

impl Line<TILE, PATCH> for OfGradient {
    #[inline(always)]
    fn transform<L: Lanes>(g: [L; TILE]) -> [L; PATCH] {
        let even_p = g[2].scaled_plus(P2, g[0]);
        let odd_p = g[3].scaled_plus(P2, g[1]) * P;
        let even_q = g[2].scaled_plus(Q2, g[0]);
        let odd_q = g[3].scaled_plus(Q2, g[1]) * Q;
        [
            g[0],
            even_p + odd_p,
            even_p - odd_p,
            even_q + odd_q,
            even_q - odd_q,
            g[3],
        ]
    }
}

/// `G^T m`, the transpose of [`OfWeights`]: the gradient of weights, from sums of products.
pub(super) struct ToWeights;

impl Line<PATCH, TAPS> for ToWeights {
    #[inline(always)]
    fn transform<L: Lanes>(m: [L; PATCH]) -> [L; TAPS] {
        let (even_p, odd_p) = ((m[1] + m[2]) * AT_P, (m[1] - m[2]) * AT_P);
        let (even_q, odd_q) = ((m[3] + m[4]) * AT_Q, (m[3] - m[4]) * AT_Q);
        [
            m[0].scaled_plus(AT_0, even_p + even_q),
            odd_p.scaled_plus(P, odd_q * Q),
            even_p.scaled_plus(P2, even_q.scaled_plus(Q2, m[5])),
        ]
    }
}
