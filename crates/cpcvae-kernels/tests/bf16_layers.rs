//! Dense layers in bfloat16: packed weights, and plain ones under `Precision::Bf16`, both against
//! `f64` sums of rounded factors; small layers are not rounded.

use cpcvae_kernels::bf16::round_to_bf16;
use cpcvae_kernels::isa::Isa;
use cpcvae_kernels::linear::{self, LinearGrads, PackedWeights, WeightsRef};
use cpcvae_kernels::random::{self, Stream};
use cpcvae_kernels::{Activation, Precision, Workspace};

fn normals(purpose: u32, count: usize) -> Vec<f32> {
    let stream = Stream {
        seed: 3,
        step: 1,
        purpose,
    };
    let mut out = vec![0.0; count];
    random::normal(stream, &mut out);
    out
}

/// The effective factors: rounded or not.
fn factors(values: &[f32], precision: Precision) -> Vec<f64> {
    let mut out = values.to_vec();
    if precision == Precision::Bf16 {
        round_to_bf16(values, &mut out);
    }
    out.into_iter().map(f64::from).collect()
}

fn assert_close(name: &str, actual: &[f32], expected: &[f64]) {
    let scale = expected.iter().fold(1.0f64, |scale, e| scale.max(e.abs()));
    for (a, e) in actual.iter().zip(expected) {
        assert!((f64::from(*a) - e).abs() < 1e-5 * scale, "{name}: {a} {e}");
    }
}

#[test]
fn layers_round_their_factors() {
    let workspace = Workspace::new(Precision::Bf16);
    let mut packed = PackedWeights::default();
    for isa in Isa::supported() {
        for [m, k, n] in [
            [0, 3, 2],
            [1, 1, 1],
            [17, 33, 15],
            [40, 70, 65],
            [5, 200, 31],
            [3, 256, 256],
            [18, 300, 230],
        ] {
            let (x, w) = (normals(1, m * k), normals(2, k * n));
            let (b, gy) = (normals(3, n), normals(4, m * n));
            isa.run(|| packed.pack(k, n, &w));
            assert_eq!(packed.shape(), [k, n]);
            let sum = |terms: usize, term: &dyn Fn(usize) -> f64| (0..terms).map(term).sum();
            let of = |count: usize, value: &dyn Fn(usize) -> f64| -> Vec<f64> {
                (0..count).map(value).collect()
            };
            let of_plain = workspace.precision().of_layer(k, n);
            assert_eq!(of_plain == Precision::Bf16, k * n >= 256 * 256);
            for (weights, precision) in [
                (WeightsRef::Plain(&w), of_plain),
                (WeightsRef::Packed(&packed), Precision::Bf16),
            ] {
                let [x64, w64, g64] = [&x, &w, &gy].map(|values| factors(values, precision));
                let want_y = of(m * n, &|at| {
                    let product: f64 = sum(k, &|l| x64[at / n * k + l] * w64[l * n + at % n]);
                    product + f64::from(b[at % n])
                });
                let want_gx = of(m * k, &|at| {
                    sum(n, &|j| g64[at / k * n + j] * w64[at % k * n + j])
                });
                let want_gw = of(k * n, &|at| {
                    sum(m, &|i| x64[i * k + at / n] * g64[i * n + at % n])
                });
                let (mut y, mut gx) = (vec![f32::NAN; m * n], vec![f32::NAN; m * k]);
                let (mut gw, mut gb) = (vec![f32::NAN; k * n], vec![f32::NAN; n]);
                let grads = LinearGrads {
                    x: Some(&mut gx),
                    w: Some(&mut gw),
                    b: Some(&mut gb),
                };
                isa.run(|| {
                    let act = Activation::Identity;
                    linear::forward(&workspace, [m, k, n], &x, weights, &b, act, &mut y);
                    linear::backward(&workspace, [m, k, n], &x, weights, &y, &gy, act, grads);
                });
                assert_close("y", &y, &want_y);
                assert_close("gx", &gx, &want_gx);
                assert_close("gw", &gw, &want_gw);
            }
        }
    }
}
