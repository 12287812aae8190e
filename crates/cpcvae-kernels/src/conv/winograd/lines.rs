//! One-dimensional transforms of the algorithm, of several lines at once.
//!
//! A convolution of 3 weights `g` with 6 numbers `d` has 4 outputs `y`. As polynomials, they are
//! evaluated at the points 0, p, -p, q, -q and infinity, where a convolution is 6 products: `y =
//! A^T ((G g) * (B^T d))` (Toom-Cook; for images Winograd, Lavin and Gray 2016). For these p and q
//! the error of a sum of `f32` is 1.5 to 2 times that of the plain sum; for the usual 1 and 2 it is
//! 4 times.

use super::lanes::Lanes;

/// Outputs of a line, and pixels of a tile's side.
pub(super) const TILE: usize = 4;
/// Input numbers of a line, and points.
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

/// A transform of `N` numbers to `M`. Types instead of functions, since calls through function
/// pointers are not inlined.
pub(super) trait Line<const N: usize, const M: usize> {
    fn transform<L: Lanes>(numbers: [L; N]) -> [L; M];
}

/// `B^T d`: the transform of images.
#[derive(Clone, Copy, Debug)]
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

/// `G g`: the transform of weights.
#[derive(Clone, Copy, Debug)]
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

/// `A^T m`: outputs from sums of products.
#[derive(Clone, Copy, Debug)]
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

/// `A g`, the transpose of [`ToOutputs`]: the transform of output gradients.
#[derive(Clone, Copy, Debug)]
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

/// `G^T m`, the transpose of [`OfWeights`]: the gradient of weights from sums of products.
#[derive(Clone, Copy, Debug)]
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

#[cfg(test)]
mod tests {
    use super::super::lanes::{LANES, Simd, Work, gather, run, scatter};
    use super::*;
    use crate::conv::block::ConvEngine;
    use crate::isa::Isa;
    use crate::product::Precision;

    /// `to [M] = T(from [N])`, in every lane.
    struct Transform<'a, T, const N: usize, const M: usize>(T, &'a [f32], &'a mut [f32]);

    impl<T: Line<N, M>, const N: usize, const M: usize> Work for Transform<'_, T, N, M> {
        #[inline(always)]
        fn run<S: Simd>(self, simd: S) {
            scatter(T::transform(gather(simd, self.1, LANES)), self.2, LANES);
        }
    }

    /// The matrix `[N, M]` of the transform, from unit vectors. Lanes differ by a factor.
    fn matrix<T: Line<N, M> + Copy, const N: usize, const M: usize>(
        isa: Isa,
        line: T,
    ) -> Vec<[f64; M]> {
        let engine = ConvEngine {
            precision: Precision::F32,
            isa,
        };
        let of_unit = |n: usize| {
            let mut from = vec![0.0; N * LANES];
            (0..LANES).for_each(|lane| from[n * LANES + lane] = (lane + 1) as f32);
            let mut to = vec![f32::NAN; M * LANES];
            run(engine, Transform::<T, N, M>(line, &from, &mut to));
            std::array::from_fn(|m| {
                let lanes = &to[m * LANES..][..LANES];
                for (lane, number) in lanes.iter().enumerate() {
                    let expected = lanes[0] * (lane + 1) as f32;
                    assert!(
                        (number - expected).abs() < 1e-5 * expected.abs() + 1e-9,
                        "{isa:?}"
                    );
                }
                f64::from(lanes[0])
            })
        };
        (0..N).map(of_unit).collect()
    }

    fn vectors() -> Vec<Isa> {
        let mut all = Isa::supported();
        all.retain(|isa| *isa != Isa::Portable);
        all
    }

    #[test]
    fn products_at_points_are_a_convolution() {
        for isa in vectors() {
            let (image, weights) = (matrix(isa, OfImage), matrix(isa, OfWeights));
            let outputs = matrix(isa, ToOutputs);
            for (place, image) in image.iter().enumerate() {
                for (tap, weights) in weights.iter().enumerate() {
                    let found: [f64; TILE] = std::array::from_fn(|output| {
                        let at_points =
                            (0..PATCH).map(|p| image[p] * weights[p] * outputs[p][output]);
                        at_points.sum()
                    });
                    for (output, found) in found.iter().enumerate() {
                        let expected = f64::from(output + tap == place);
                        assert!((found - expected).abs() < 1e-6, "{isa:?} {found}");
                    }
                }
            }
        }
    }

    #[test]
    fn those_of_gradients_are_transposes() {
        for isa in vectors() {
            let (outputs, gradient) = (matrix(isa, ToOutputs), matrix(isa, OfGradient));
            let (of_weights, to_weights) = (matrix(isa, OfWeights), matrix(isa, ToWeights));
            for point in 0..PATCH {
                for output in 0..TILE {
                    assert!((outputs[point][output] - gradient[output][point]).abs() < 1e-6);
                }
                for tap in 0..TAPS {
                    assert!((of_weights[tap][point] - to_weights[point][tap]).abs() < 1e-6);
                }
            }
        }
    }
}
