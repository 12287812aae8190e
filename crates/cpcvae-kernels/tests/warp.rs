//! The warp against PyTorch and against a plain version, with gradients by finite differences.

use cpcvae_kernels::MapConstraint;
use cpcvae_kernels::isa::Isa;
use cpcvae_kernels::random::{self, Stream};
use cpcvae_kernels::transform::{WarpShape, warp, warp_backward};

const MAPS: [MapConstraint; 3] = [
    MapConstraint::Sigmoid,
    MapConstraint::Tanh,
    MapConstraint::Variance { floor: 0.01 },
];

/// As `pattern` in tests/reference/warp.py.
fn pattern(count: usize, factor: usize) -> Vec<f32> {
    (0..count)
        .map(|i| ((i * factor % 41) as f64 / 10.0 - 2.0) as f32)
        .collect()
}

fn assert_close(name: &str, actual: &[f32], expected: &[f32], tolerance: f32) {
    assert_eq!(actual.len(), expected.len());
    let scale = expected.iter().fold(0.0f32, |scale, e| scale.max(e.abs()));
    for (i, (a, e)) in actual.iter().zip(expected).enumerate() {
        assert!(
            (a - e).abs() <= tolerance * scale,
            "{name}[{i}]: {a}, expected {e}"
        );
    }
}

#[test]
fn torch_values_and_gradients() {
    let shape = WarpShape {
        rows: 4,
        canvas: (4, 5),
        image: (3, 2),
    };
    let raw: Vec<f32> = pattern(240, 17).iter().map(|v| 5.0 * v).collect();
    let theta = [
        [1.0, 0.0, 0.0, 0.0, 1.0, 0.0],
        [0.6, 0.2, 0.1, -0.3, 0.7, -0.2],
        [1.7, -0.4, 0.5, 0.5, 1.6, -0.9],
        [0.3, 0.1, 2.5, 0.1, 0.2, 0.3],
    ];
    let theta = theta.as_flattened();
    let g_out = pattern(72, 29);
    for isa in Isa::supported() {
        let (mut constrained, mut out) = ([0.0; 240], [0.0; 72]);
        let (mut g_raw, mut g_theta) = ([0.0; 240], [0.0; 24]);
        isa.run(|| {
            warp(&shape, &MAPS, &raw, theta, &mut constrained, &mut out);
            warp_backward(
                &shape,
                &MAPS,
                &raw,
                &constrained,
                theta,
                &g_out,
                &mut g_raw,
                &mut g_theta,
            );
        });
        assert_close("out", &out, &OUT, 1e-6);
        assert_close("g_raw", &g_raw, &G_RAW, 1e-6);
        assert_close("g_theta", &g_theta, &G_THETA, 1e-6);
    }
}

/// One map, plainly, in `f64`; `canvas [h, w]` is already constrained.
fn plain(shape: &WarpShape, canvas: &[f64], theta: &[f64]) -> Vec<f64> {
    let (height, width) = shape.canvas;
    let mut out = vec![];
    for line in 0..shape.image.0 {
        for column in 0..shape.image.1 {
            let x = (2 * column + 1) as f64 / shape.image.1 as f64 - 1.0;
            let y = (2 * line + 1) as f64 / shape.image.0 as f64 - 1.0;
            let place = |row: &[f64], size: usize| {
                let at = row[0] * x + row[1] * y + row[2];
                (((at + 1.0) * size as f64 - 1.0) / 2.0).clamp(0.0, (size - 1) as f64)
            };
            let (px, py) = (place(&theta[..3], width), place(&theta[3..], height));
            let mut value = 0.0;
            for row in 0..height {
                for cell in 0..width {
                    let weight = |p: f64, i: usize| (1.0 - (p - i as f64).abs()).max(0.0);
                    value += weight(px, cell) * weight(py, row) * canvas[row * width + cell];
                }
            }
            out.push(value);
        }
    }
    out
}

/// Sum of the warped maps times `g`, by the plain version.
fn plain_total(shape: &WarpShape, raw: &[f64], theta: &[f64], g: &[f32]) -> f64 {
    let size = shape.canvas.0 * shape.canvas.1;
    let softplus = |v: f64| v.max(0.0) + (-v.abs()).exp().ln_1p();
    let mut out = vec![];
    for row in 0..shape.rows {
        for map in 0..3 {
            let raw = &raw[(row * 3 + map) * size..][..size];
            let canvas: Vec<f64> = match map {
                0 => raw
                    .iter()
                    .map(|v| (1.0 / (1.0 + (-v).exp())).clamp(1e-4, 1.0 - 1e-4))
                    .collect(),
                1 => raw.iter().map(|v| v.tanh()).collect(),
                _ => raw.iter().map(|v| (softplus(*v) + 0.01).powi(2)).collect(),
            };
            out.extend(plain(shape, &canvas, &theta[row * 6..][..6]));
        }
    }
    out.iter().zip(g).map(|(v, g)| v * f64::from(*g)).sum()
}

#[test]
fn plain_version_and_finite_differences() {
    for (i, canvas) in [(1, 1), (1, 4), (5, 1), (2, 2), (7, 6)]
        .into_iter()
        .enumerate()
    {
        for image in [(1, 1), (3, 4), (6, 1)] {
            let shape = WarpShape {
                rows: 2,
                canvas,
                image,
            };
            let size = canvas.0 * canvas.1;
            let draw = |purpose, count| {
                let mut out = vec![0.0f32; count];
                random::normal(
                    Stream {
                        seed: 5,
                        step: i as u64,
                        purpose,
                    },
                    &mut out,
                );
                out
            };
            let (raw, theta) = (draw(1, 6 * size), draw(2, 12));
            let g_out = draw(3, 6 * image.0 * image.1);
            let (mut constrained, mut out) = (vec![0.0; raw.len()], vec![0.0; g_out.len()]);
            let (mut g_raw, mut g_theta) = (vec![0.0; raw.len()], vec![0.0; theta.len()]);
            warp(&shape, &MAPS, &raw, &theta, &mut constrained, &mut out);
            warp_backward(
                &shape,
                &MAPS,
                &raw,
                &constrained,
                &theta,
                &g_out,
                &mut g_raw,
                &mut g_theta,
            );
            let wide = |v: &[f32]| v.iter().map(|v| f64::from(*v)).collect::<Vec<_>>();
            let (raw, theta) = (wide(&raw), wide(&theta));
            let total: f64 = out.iter().zip(&g_out).map(|(v, g)| f64::from(v * g)).sum();
            assert!(
                (total - plain_total(&shape, &raw, &theta, &g_out)).abs() < 1e-4,
                "{shape:?}"
            );
            let moved = |values: &[f64], j: usize, by: f64| {
                let mut values = values.to_vec();
                values[j] += by;
                values
            };
            for (j, g) in g_raw.iter().enumerate() {
                let at = |by| plain_total(&shape, &moved(&raw, j, by), &theta, &g_out);
                let slope = (at(1e-5) - at(-1e-5)) / 2e-5;
                assert!(
                    (f64::from(*g) - slope).abs() < 1e-4,
                    "g_raw[{j}] {g} {slope} {shape:?}"
                );
            }
            for (j, g) in g_theta.iter().enumerate() {
                let at = |by| plain_total(&shape, &raw, &moved(&theta, j, by), &g_out);
                let slope = (at(1e-6) - at(-1e-6)) / 2e-6;
                assert!(
                    (f64::from(*g) - slope).abs() < 1e-3,
                    "g_theta[{j}] {g} {slope} {shape:?}"
                );
            }
        }
    }
}

/// NaN and infinite points are mapped to the canvas's border.
#[test]
fn wild_points_stay_on_the_canvas() {
    let maps = [MapConstraint::Identity];
    for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 3e38, -3e38] {
        for canvas in [(1, 1), (1, 3), (3, 1), (4, 3)] {
            let shape = WarpShape {
                rows: 1,
                canvas,
                image: (2, 17),
            };
            let raw = vec![2.5; canvas.0 * canvas.1];
            let (mut constrained, mut g_raw) = (raw.clone(), raw.clone());
            let (mut out, mut g_theta) = ([0.0; 34], [1.0; 6]);
            warp(&shape, &maps, &raw, &[value; 6], &mut constrained, &mut out);
            assert_eq!(out, [2.5; 34]);
            let theta = [value; 6];
            warp_backward(
                &shape,
                &maps,
                &raw,
                &raw,
                &theta,
                &out,
                &mut g_raw,
                &mut g_theta,
            );
            assert_eq!(g_theta, [0.0; 6]);
            assert!((g_raw.iter().sum::<f32>() - 34.0 * 2.5).abs() < 1e-4);
        }
    }
}

// The values below were printed by tests/reference/warp.py (PyTorch 2.15).

#[rustfmt::skip]
const OUT: [f32; 72] = [
    0.1765453, 0.2514615, 0.4942297, 0.3046689, 0.6984415, 0.5007309, 0.5005417, 0.7659898,
    0.5314691, 0.4947289, 0.8145412, 0.4998962, 1.473499, 39.77362, 4.712242, 64.73676, 9.882044,
    12.57479, 0.202992, 0.3300395, 0.5756934, 0.002088683, 0.8974554, 0.3280048, 0.6499704,
    -0.9367655, -0.0005643803, -0.1810296, -0.6666668, 0.7758502, 63.69038, 13.62685, 27.15575,
    33.00787, 0.3270738, 34.00421, 0.6976104, 0.1824255, 0.1114131, 0.2459404, 0.5478243, 0.8625744,
    0.695392, 0.9997532, -0.2793526, 0.9998001, -0.1582223, 0.9999996, 6.334494, 0.00010091,
    26.60445, 0.0001015501, 26.18905, 0.0001454409, 0.2174526, 0.2560692, 0.2689414, 0.339645,
    0.3632129, 0.4339165, 0.9994475, 0.9997938, 0.9999092, 0.9999265, 0.9999322, 0.9999495,
    24.11781, 6.029528, 0.0001015026, 0.0001025662, 0.0001029207, 0.0001039843,
];

#[rustfmt::skip]
const G_RAW: [f32; 240] = [
    0.0, -0.1864331, 0.0, 0.003739532, 0.005334942, -2.457575e-05, -0.090625, 0.0, -0.01280386,
    -0.0009972085, 1.896294e-05, 0.009321652, 0.0, -0.05643405, -0.0002685581, 0.001182292,
    0.03952957, 0.0, 0.02937546, 1.396823e-05, -0.0002793647, -0.0003084484, 0.0, 0.4987195,
    8.871096e-09, 0.00121881, 3.379274e-06, 0.0, 0.001329611, 3.735198e-10, 0.006999571,
    6.118041e-08, 0.0, -5.028564e-05, -5.626755e-09, -0.2785336, -6.472744e-08, 0.0, 5.010342e-05,
    2.26032e-06, 0.0, 0.0, 0.0, -10.50679, -5.593667e-05, 1.460297, 2.646462e-06, 0.0, 0.6381353,
    2.912933e-05, 1.827151, 1.0935e-05, 0.0, -1.000959, -0.0005440739, -1.896337, -5.013854e-05,
    0.0, -2.966786e-06, -0.144684, 0.0, 0.007850091, 0.0002414716, 9.207885e-05, 1.977579e-09, 0.0,
    -0.002181003, -0.000844094, 0.002565169, -0.005608296, 0.0, -0.04849761, -6.26136e-05,
    -0.004781141, -0.003885795, 0.0, 0.003916729, 1.028161e-05, 0.0, 0.0, 0.0, 0.06280073,
    3.664273e-09, 0.03855075, -3.568529e-14, 0.0, 0.002394894, 5.887905e-09, -1.262222, 1.47197e-09,
    0.0, 1.170203e-05, 2.136102e-06, 0.008834545, 2.01535e-10, 0.0, 6.529814e-07, 2.412387e-05, 0.0,
    0.0, 0.0, -7.829702, 0.0005085607, 9.65817, -4.693948e-14, 0.0, -4.712418, 0.00127368,
    -3.411973, 6.032432e-06, 0.0, -1.206503e-07, -0.1530117, 8.073551, 0.0001243613, 0.0,
    -6.931959e-07, -0.6125479, 0.0, 0.0, 0.0, 0.002067273, 0.01268672, 0.0, -0.1461635,
    -0.0002629528, -0.00162508, 0.0, 0.0, 0.02000001, -2.937792e-05, -0.003477592, 0.0, 0.0,
    -0.1988619, 0.0, 0.0, 0.0, 0.0, -0.03011778, 0.0, -0.8847537, 2.363238e-07, 0.0, 0.0004046843,
    8.837173e-08, 0.02566509, 0.0, 0.0, 6.881432e-06, 8.874863e-07, 0.0008125403, 0.0, 0.0,
    -8.157389e-07, 0.0, 0.0, 0.0, 0.0, -2.030665e-08, 0.0, -0.4576356, 4.978671e-05, 0.0,
    -6.019724e-07, 0.03342489, 5.13665, 0.0, 0.0, -1.411446e-06, 0.1523486, 3.119774, 0.0, 0.0, 0.0,
    0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -0.0144881, 0.0, 0.0, 0.0,
    0.0, -0.04194386, 0.0, 0.0, 0.0, 0.0, -0.04230067, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
    -0.0005339964, 0.0, 0.0, 0.0, 0.0, 0.0001258977, 0.0, 0.0, 0.0, 0.0, 6.811099e-06, 0.0, 0.0,
    0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 3.550162, 0.0, 0.0, 0.0, 0.0, -1.296991e-06, 0.0, 0.0, 0.0,
    0.0, -1.571244e-06,
];

#[rustfmt::skip]
const G_THETA: [f32; 24] = [
    69.3662, -8.322632, 110.2807, 130.0149, 215.1508, 265.8946, -57.05947, -296.9583, 110.9652,
    56.52233, 50.12977, -96.95312, -33.86047, 209.5917, 67.72094, -13.24587, 17.11096, 25.92115,
    0.0, 0.0, 0.0, 109.6887, 47.68629, -72.94285,
];

/// A huge value beside a tiny one: the interpolated value stays between them, even if the weight of
/// the tiny one is almost 1 (it once cancelled to a variance of zero).
#[test]
fn interpolation_never_leaves_the_range_of_its_neighbours() {
    let shape = WarpShape {
        rows: 1,
        canvas: (2, 2),
        image: (9, 9),
    };
    // softplus(100) squared is 1e4; the other cells are at the floor, 1e-4.
    let raw = [100.0, -100.0, -100.0, -100.0];
    let maps = [MapConstraint::Variance { floor: 0.01 }];
    for shift in [0.0, 0.3, 0.49999, 0.5, 0.50001, 0.9] {
        let theta = [1.0, 0.0, shift, 0.0, 1.0, shift];
        let (mut constrained, mut out) = ([0.0; 4], [0.0; 81]);
        for isa in Isa::supported() {
            isa.run(|| warp(&shape, &maps, &raw, &theta, &mut constrained, &mut out));
            for value in out {
                assert!((0.99e-4..1.01e4).contains(&value), "{isa:?}: {value}");
            }
        }
    }
}
