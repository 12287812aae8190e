//! Log-densities of rows, and the layer with classes, against plain definitions in `f64`.

use cpcvae_kernels::Activation;
use cpcvae_kernels::class_rows::{self, ClassShape};
use cpcvae_kernels::density::{self, Density, DensityShape};
use cpcvae_kernels::isa::Isa;
use cpcvae_kernels::random::{self, Stream};

fn normals(purpose: u32, count: usize) -> Vec<f32> {
    let stream = Stream {
        seed: 11,
        step: 0,
        purpose,
    };
    let mut out = vec![0.0; count];
    random::normal(stream, &mut out);
    out
}

fn close(a: f32, b: f64, tolerance: f64) -> bool {
    (f64::from(a) - b).abs() <= tolerance * b.abs().max(1.0)
}

/// log p of one feature.
fn plain(density: Density, parameters: &[f64], x: f64) -> f64 {
    match density {
        Density::Normal => {
            let (mean, variance) = (parameters[0], parameters[1]);
            let normaliser = (2.0 * std::f64::consts::PI * variance).ln();
            -0.5 * ((x - mean).powi(2) / variance + normaliser)
        }
        Density::Bernoulli => x * parameters[0] - (1.0 + parameters[0].exp()).ln(),
        Density::NoiseNormal => unreachable!("tested by itself"),
    }
}

#[test]
fn normal_and_bernoulli() {
    let sizes = [0, 1, 15, 16, 17, 31, 33, 255, 256, 257, 784];
    for isa in Isa::supported() {
        for (density, features) in [Density::Normal, Density::Bernoulli]
            .into_iter()
            .flat_map(|density| sizes.map(|size| (density, size)))
        {
            for (rows, repeat) in [(0, 1), (1, 1), (6, 1), (6, 3), (40, 10)] {
                let shape = DensityShape {
                    rows,
                    features,
                    repeat,
                };
                let maps = density.maps();
                let mut params = normals(1, rows * maps * features);
                if density == Density::Normal {
                    let pairs = params.chunks_exact_mut(2 * features.max(1));
                    pairs.for_each(|pair| pair[features..].iter_mut().for_each(|v| *v = v.exp()));
                }
                let x = normals(2, rows / repeat * features);
                let (mut out, mut again) = (vec![f32::NAN; rows], vec![f32::NAN; rows]);
                let mut slopes = vec![f32::NAN; params.len()];
                isa.run(|| {
                    density::log_prob(shape, density, &params, &x, &mut out);
                    density::log_prob_with_gradient(
                        shape,
                        density,
                        &params,
                        &x,
                        &mut again,
                        &mut slopes,
                    );
                });
                for row in 0..rows {
                    let mut expected = 0.0;
                    for feature in 0..features {
                        let place = |map: usize| (row * maps + map) * features + feature;
                        let values: Vec<f64> =
                            (0..maps).map(|map| f64::from(params[place(map)])).collect();
                        let x = f64::from(x[row / repeat * features + feature]);
                        expected += plain(density, &values, x);
                        for map in 0..maps {
                            let at = |shift: f64| {
                                let mut moved = values.clone();
                                moved[map] *= 1.0 + shift;
                                plain(density, &moved, x)
                            };
                            let slope = (at(1e-6) - at(-1e-6)) / (2e-6 * values[map]);
                            assert!(close(slopes[place(map)], slope, 1e-4), "{density:?}");
                        }
                    }
                    assert!(close(out[row], expected, 1e-5), "{density:?} {features}");
                    assert!(close(again[row], expected, 1e-5), "{density:?} {features}");
                }
            }
        }
    }
}

#[test]
fn rows_are_scaled() {
    let mut slopes = normals(1, 6 * 50);
    let before = slopes.clone();
    let gradient = normals(2, 6);
    density::scale_rows(&gradient, &mut slopes);
    for (i, (after, before)) in slopes.iter().zip(before).enumerate() {
        assert_eq!(*after, before * gradient[i / 50]);
    }
    density::scale_rows(&[], &mut []);
}

#[test]
fn layers_with_classes() {
    let softplus = |v: f64| v.exp().ln_1p();
    for isa in Isa::supported() {
        for shared in [true, false] {
            for [rows, classes, units] in [[0, 3, 4], [1, 1, 1], [5, 3, 17], [20, 10, 33]] {
                let shape = ClassShape {
                    rows,
                    classes,
                    units,
                    shared,
                };
                let copies = if shared { 1 } else { classes };
                let (x, v) = (
                    normals(1, rows * copies * units),
                    normals(2, classes * units),
                );
                let gy = normals(3, rows * classes * units);
                let mut y = vec![f32::NAN; gy.len()];
                let (mut gx, mut gv) = (vec![f32::NAN; x.len()], vec![f32::NAN; v.len()]);
                isa.run(|| {
                    class_rows::forward(shape, &x, &v, Activation::Softplus, &mut y);
                    class_rows::backward(shape, Activation::Softplus, &y, &gy, &mut gx, &mut gv);
                });
                let (mut want_x, mut want_v) = (vec![0.0; x.len()], vec![0.0; v.len()]);
                for row in 0..rows {
                    for class in 0..classes {
                        for unit in 0..units {
                            let copy = if shared { 0 } else { class };
                            let from_x = (row * copies + copy) * units + unit;
                            let from_v = class * units + unit;
                            let at = (row * classes + class) * units + unit;
                            let z = f64::from(x[from_x]) + f64::from(v[from_v]);
                            assert!(close(y[at], softplus(z), 1e-5));
                            let g = f64::from(gy[at]) / (1.0 + (-z).exp());
                            want_x[from_x] += g;
                            want_v[from_v] += g;
                        }
                    }
                }
                let pairs = gx.iter().zip(want_x).chain(gv.iter().zip(want_v));
                pairs.for_each(|(g, want)| assert!(close(*g, want, 1e-4)));
            }
        }
    }
}
