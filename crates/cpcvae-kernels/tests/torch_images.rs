//! Convolutions and batch normalisation compared with PyTorch. The constants were printed by
//! `tests/reference/images.py` with PyTorch 2.

use cpcvae_kernels::batch_norm::{self, NormShape, Rescale};
use cpcvae_kernels::conv::{self, ConvShape};
use cpcvae_kernels::isa::Isa;
use cpcvae_kernels::{Precision, Workspace};

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod amx_emulator;

const CONV: [f32; 24] = [
    0.01168, 0.208716, 0.0999823, -0.0360581, -0.0210749, 0.0247831, -0.199279, -0.201566,
    0.0914416, 0.0891264, 0.0394729, -0.0680084, 0.00882748, -0.0915694, -0.0578168, -0.169195,
    -0.0181317, 0.159494, 0.0423754, 0.133415, 0.0290013, 0.0739944, -0.169698, -0.164782,
];
const CONV_X: [f32; 48] = [
    1.36151, -0.75373, -1.24883, 2.61289, -1.15438, 0.204781, -1.30613, 0.332034, 2.23217,
    -3.01919, 0.756228, 0.392786, 0.725774, 0.383457, -2.76142, 2.60597, -0.157925, -0.898126,
    1.18925, -1.50272, 1.30818, 0.827751, -1.42782, 1.30699, -0.440224, 1.24048, -2.25648,
    0.695098, 0.953912, -1.34485, 1.22839, -1.65505, 1.60786, 0.736566, -1.57561, 1.50082,
    -1.28459, 1.1912, -0.102919, -1.72362, 1.36881, -0.809006, 0.578309, 0.410415, -2.56394,
    2.22107, 0.044269, -0.991011,
];
const CONV_W: [f32; 54] = [
    -0.632305, -0.583637, -0.0932846, -0.0288301, -0.721461, -0.868105, 0.866472, -1.35795,
    -2.5547, 1.55219, -0.372927, -2.01582, 0.675635, 0.380607, -0.202457, 0.409913, 0.881205,
    0.685619, -0.370286, -0.36186, -0.0795856, -0.402045, -0.0226606, 0.373872, -0.0662233,
    0.95174, 1.24944, 0.410207, 1.09347, 0.949221, 0.406612, 0.247845, -0.0984867, 0.239488,
    -0.191182, -0.477169, 0.34231, -0.166378, -0.549155, 0.112164, -0.455009, -0.67784, -0.591037,
    -0.961151, -0.603885, -0.715174, -0.379953, 0.242808, -0.102604, 0.393608, 0.591945, 0.184887,
    0.626873, 0.594454,
];
const TRANSPOSED: [f32; 48] = [
    1.36151, -0.75373, -1.24883, 2.61289, -1.15438, 0.204781, -1.30613, 0.332034, 2.23217,
    -3.01919, 0.756228, 0.392786, 0.725774, 0.383457, -2.76142, 2.60597, -0.157925, -0.898126,
    1.18925, -1.50272, 1.30818, 0.827751, -1.42782, 1.30699, -0.440224, 1.24048, -2.25648,
    0.695098, 0.953912, -1.34485, 1.22839, -1.65505, 1.60786, 0.736566, -1.57561, 1.50082,
    -1.28459, 1.1912, -0.102919, -1.72362, 1.36881, -0.809006, 0.578309, 0.410415, -2.56394,
    2.22107, 0.044269, -0.991011,
];
const NORM: [f32; 24] = [
    0.00635898,
    -0.0274332,
    2.20425,
    -0.0433407,
    0.753496,
    0.448433,
    -0.193755,
    0.907276,
    -0.140158,
    0.181412,
    1.47166,
    -0.0524177,
    1.91241,
    -0.00381667,
    -0.0811014,
    0.832634,
    -0.217754,
    0.642638,
    0.0813498,
    -0.0292748,
    2.21575,
    -0.0420723,
    0.682416,
    0.471161,
];
const NORM_X: [f32; 24] = [
    0.0502404, -0.0166641, 2.34783, -0.0248541, -0.894043, 0.905001, -0.233178, 0.280916, 0.146812,
    -0.566748, 1.05313, 0.019999, -2.02868, 0.146132, 0.0110387, -0.306713, 0.140837, -0.0517007,
    -0.999137, 0.107777, -1.49848, 0.00524283, 1.90364, -0.498388,
];
const NORM_SCALE: [f32; 2] = [-0.46111, -1.76783];
const NORM_SHIFT: [f32; 2] = [-0.345208, 2.07661];

const SHAPE: ConvShape = ConvShape {
    rows: 2,
    height: 4,
    width: 3,
    inputs: 2,
    outputs: 3,
    kernel: 3,
    stride: 2,
};

/// The script's `waves`.
fn waves(count: usize, step: f64) -> Vec<f32> {
    (0..count).map(|i| (step * i as f64).sin() as f32).collect()
}

fn assert_within(tolerance: f32, found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        let apart = (found - expected).abs();
        assert!(
            apart < tolerance * (1.0 + expected.abs()),
            "{found} is not {expected}"
        );
    }
}

fn assert_near(found: &[f32], expected: &[f32]) {
    assert_within(1e-5, found, expected);
}

/// A convolution, its gradients, and a transposed convolution, which is an input gradient.
fn assert_convolutions(precision: Precision, tolerance: f32) {
    let workspace = Workspace::new(precision);
    let (x, w) = (waves(48, 0.7), waves(54, 1.3));
    let mut y = [0.0; 24];
    conv::forward(&workspace, &SHAPE, &x, &w, None, &mut y);
    assert_within(tolerance, &y, &CONV);
    let gy = waves(24, 0.9);
    let (mut gx, mut gw) = ([0.0; 48], [0.0; 54]);
    conv::input_gradient(&workspace, &SHAPE, &gy, &w, None, &mut gx);
    conv::weight_gradient(&workspace, &SHAPE, &x, &gy, &mut gw);
    assert_within(tolerance, &gx, &CONV_X);
    assert_within(tolerance, &gw, &CONV_W);
    let mut up = [0.0; 48];
    conv::input_gradient(&workspace, &SHAPE, &gy, &w, None, &mut up);
    assert_within(tolerance, &up, &TRANSPOSED);
}

#[test]
fn convolutions() {
    for (precision, tolerance) in [(Precision::F32, 1e-5), (Precision::Bf16, 1e-2)] {
        for isa in Isa::supported() {
            isa.run(|| assert_convolutions(precision, tolerance));
        }
        #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
        if Isa::Avx512.is_supported() && !Isa::Amx.is_supported() {
            amx_emulator::install();
            // SAFETY: the instructions of AMX's tiles are emulated, and the others are there.
            unsafe { Isa::Amx.run_unchecked_support(|| assert_convolutions(precision, tolerance)) };
            assert!(amx_emulator::tiles_are_released());
        }
    }
}

#[test]
fn a_normalisation_and_its_gradients() {
    let shape = NormShape {
        rows: 12,
        channels: 2,
    };
    for isa in Isa::supported() {
        isa.run(|| {
            let (x, gy) = (waves(24, 0.7), waves(24, 0.9));
            let (scale, shift) = ([1.5, -0.5], [0.25, 0.125]);
            let used = batch_norm::statistics(&shape, &x);
            let rescale = Rescale {
                scale: &scale,
                shift: &shift,
                leak: 0.1,
            };
            let (mut y, mut gx) = ([0.0; 24], [0.0; 24]);
            let (mut g_scale, mut g_shift) = ([0.0; 2], [0.0; 2]);
            batch_norm::forward(&shape, &used, rescale, &x, &mut y);
            let gradients = [&mut gx[..], &mut g_scale, &mut g_shift];
            batch_norm::backward(&shape, (&used, true), rescale, &x, &gy, None, gradients);
            assert_near(&y, &NORM);
            assert_near(&gx, &NORM_X);
            assert_near(&g_scale, &NORM_SCALE);
            assert_near(&g_shift, &NORM_SHIFT);
        });
    }
}
