//! Convolutions and their gradients compared with plain loops, on every instruction set; AMX is
//! emulated where the processor lacks it.

use cpcvae_kernels::bf16::round_to_bf16;
use cpcvae_kernels::conv::{ConvShape, forward, input_gradient, weight_gradient};
use cpcvae_kernels::isa::Isa;
use cpcvae_kernels::random::{self, Stream};
use cpcvae_kernels::{Precision, Workspace};

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod amx_emulator;

fn normals(purpose: u32, count: usize) -> Vec<f32> {
    let mut out = vec![0.0; count];
    let stream = Stream {
        seed: 5,
        step: 0,
        purpose,
    };
    random::normal(stream, &mut out);
    out
}

/// Those of this machine, and AMX, which requires AVX-512 and emulated tiles.
fn instruction_sets() -> Vec<Isa> {
    let mut all = Isa::supported();
    let emulates = cfg!(all(target_arch = "x86_64", target_os = "linux"));
    if emulates && Isa::Avx512.is_supported() && !Isa::Amx.is_supported() {
        all.push(Isa::Amx);
    }
    all
}

fn run_on<R>(isa: Isa, work: impl FnOnce() -> R) -> R {
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    if !isa.is_supported() {
        amx_emulator::install();
        // SAFETY: only AMX is not supported, and its instructions are emulated on all threads.
        let result = unsafe { isa.run_unchecked_support(work) };
        assert!(amx_emulator::tiles_are_released());
        return result;
    }
    isa.run(work)
}

/// Calls `visit` with the indices into input, output and weights of every product of the sum.
fn each_product(shape: &ConvShape, mut visit: impl FnMut(usize, usize, usize)) {
    let [out_height, out_width] = shape.output_size();
    let border = shape.kernel / 2;
    for n in 0..shape.rows {
        for (oy, ox) in (0..out_height).flat_map(|y| (0..out_width).map(move |x| (y, x))) {
            for (ky, kx) in (0..shape.kernel).flat_map(|y| (0..shape.kernel).map(move |x| (y, x))) {
                let (y, x) = (oy * shape.stride + ky, ox * shape.stride + kx);
                let inside = |at: usize, size: usize| at >= border && at - border < size;
                if !inside(y, shape.height) || !inside(x, shape.width) {
                    continue;
                }
                let pixel = (n * shape.height + y - border) * shape.width + x - border;
                let out_pixel = (n * out_height + oy) * out_width + ox;
                for (i, o) in
                    (0..shape.inputs).flat_map(|i| (0..shape.outputs).map(move |o| (i, o)))
                {
                    let weight = ((ky * shape.kernel + kx) * shape.inputs + i) * shape.outputs + o;
                    visit(
                        pixel * shape.inputs + i,
                        out_pixel * shape.outputs + o,
                        weight,
                    );
                }
            }
        }
    }
}

/// Output, input gradient and weight gradient by plain loops, and by the kernels, of numbers that
/// are exact in bfloat16 if `of_bf16`.
fn both(precision: Precision, shape: &ConvShape, of_bf16: bool) -> [[Vec<f32>; 3]; 2] {
    let numbers = |purpose, count| {
        let mut numbers = normals(purpose, count);
        if of_bf16 {
            round_to_bf16(&numbers.clone(), &mut numbers);
        }
        numbers
    };
    let (x, w) = (
        numbers(1, shape.input_length()),
        numbers(2, shape.weight_length()),
    );
    let gy = numbers(3, shape.output_length());
    let zeros = || [vec![0.0; gy.len()], vec![0.0; x.len()], vec![0.0; w.len()]];
    let mut plain = zeros();
    each_product(shape, |input, output, weight| {
        plain[0][output] += x[input] * w[weight];
        plain[1][input] += gy[output] * w[weight];
        plain[2][weight] += x[input] * gy[output];
    });
    let workspace = Workspace::new(precision);
    let mut kernels = zeros().map(|zeros| vec![f32::NAN; zeros.len()]);
    forward(&workspace, shape, &x, &w, None, &mut kernels[0]);
    input_gradient(&workspace, shape, &gy, &w, None, &mut kernels[1]);
    weight_gradient(&workspace, shape, &x, &gy, &mut kernels[2]);
    // With an added image, the result is exactly the sum.
    let mut sums = [gy.clone(), x.clone()];
    forward(&workspace, shape, &x, &w, Some(&gy), &mut sums[0]);
    input_gradient(&workspace, shape, &gy, &w, Some(&x), &mut sums[1]);
    for ((sums, kernel), added) in sums.iter().zip(&kernels).zip([&gy, &x]) {
        let expected = kernel
            .iter()
            .zip(added)
            .map(|(kernel, added)| kernel + added);
        assert!(expected.eq(sums.iter().copied()), "{shape:?}");
    }
    [plain, kernels]
}

fn shapes() -> Vec<ConvShape> {
    let mut shapes = Vec::new();
    for (rows, height, width) in [(1, 1, 1), (2, 8, 8), (9, 5, 7), (3, 11, 2), (1, 12, 21)] {
        for (inputs, outputs) in [(1, 16), (3, 1), (16, 32), (7, 40), (33, 3)] {
            for (kernel, stride) in [(3, 1), (3, 2), (1, 1), (1, 2), (5, 3)] {
                shapes.push(ConvShape {
                    rows,
                    height,
                    width,
                    inputs,
                    outputs,
                    kernel,
                    stride,
                });
            }
        }
    }
    shapes
}

/// Shapes that use `conv/winograd.rs` on most machines: tiles that fill the images and tiles that
/// do not, an odd number of them side by side, more of them than are processed at once, channels
/// that fill the blocks and those that do not.
fn shapes_of_few_products() -> Vec<ConvShape> {
    let sizes = [(1, 4, 4), (3, 7, 7), (2, 5, 12), (1, 28, 28), (2, 9, 30)];
    let channels = [(16, 16), (16, 48), (32, 32), (64, 96)];
    let all = sizes.iter().flat_map(|size| channels.map(|c| (*size, c)));
    let all = all.chain([((70, 8, 8), (16, 16)), ((2, 8, 8), (48, 16))]);
    all.map(|((rows, height, width), (inputs, outputs))| ConvShape {
        rows,
        height,
        width,
        inputs,
        outputs,
        kernel: 3,
        stride: 1,
    })
    .collect()
}

/// The largest difference, relative to the size of the numbers.
fn difference(expected: &[f32], found: &[f32]) -> f32 {
    assert_eq!(expected.len(), found.len());
    let scale = expected.iter().fold(1.0f32, |most, v| most.max(v.abs()));
    let differences = expected.iter().zip(found).map(|(a, b)| (a - b).abs());
    // A NaN must not pass for a small difference.
    differences.fold(0.0, |most, d| if d > most || d.is_nan() { d } else { most }) / scale
}

/// Small shapes of all kinds, around the sides of tiles.
fn random_shapes() -> Vec<ConvShape> {
    let mut draws = normals(4, 1000)
        .into_iter()
        .map(|v| (v.abs() * 1e6) as usize);
    let mut below = |most: usize| draws.next().expect("there are enough") % most;
    let channels = [1, 2, 3, 15, 16, 17, 31, 32, 33, 40, 63, 64, 65];
    (0..60)
        .map(|_| ConvShape {
            rows: 1 + below(3),
            height: 1 + below(9),
            width: 1 + below(9),
            inputs: channels[below(channels.len())],
            outputs: channels[below(channels.len())],
            kernel: [1, 3, 3][below(3)],
            stride: 1 + below(2),
        })
        .collect()
}

/// Whether a convolution uses `conv/winograd.rs` with factors rounded to bfloat16, so that even
/// numbers that are exact in bfloat16 are rounded.
fn rounds_points(isa: Isa, shape: &ConvShape) -> bool {
    let of_vectors = matches!(isa, Isa::Avx512Bf16 | Isa::Avx512);
    let channels = [shape.inputs, shape.outputs];
    let fits = (shape.kernel, shape.stride) == (3, 1) && channels.iter().all(|c| c % 16 == 0);
    of_vectors && fits && has_bf16_vectors()
}

/// Whether the machine has the instructions, even if they are not worth using.
#[cfg(target_arch = "x86_64")]
fn has_bf16_vectors() -> bool {
    is_x86_feature_detected!("avx512bf16")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_bf16_vectors() -> bool {
    false
}

fn check(precision: Precision, of_bf16: bool, shapes: &[ConvShape], tolerance: f32) {
    for isa in instruction_sets() {
        for shape in shapes {
            if of_bf16 && rounds_points(isa, shape) {
                continue;
            }
            let [plain, kernels] = run_on(isa, || both(precision, shape, of_bf16));
            for (what, (plain, kernel)) in ["y", "gx", "gw"].iter().zip(plain.iter().zip(&kernels))
            {
                let difference = difference(plain, kernel);
                assert!(
                    difference < tolerance,
                    "{isa:?} {shape:?} {what}: {difference}"
                );
            }
        }
    }
}

#[test]
fn f32_is_what_plain_loops_give() {
    check(Precision::F32, false, &shapes(), 1e-5);
    check(Precision::F32, false, &random_shapes(), 1e-5);
    check(Precision::F32, false, &shapes_of_few_products(), 1e-5);
}

#[test]
fn bf16_is_near() {
    let is_plain = |shape: &ConvShape| !rounds_points(Isa::Avx512Bf16, shape);
    let (plain, points): (Vec<_>, Vec<_>) = random_shapes().into_iter().partition(is_plain);
    check(Precision::Bf16, false, &plain, 2e-2);
    check(Precision::Bf16, false, &points, 6e-2);
    check(Precision::Bf16, false, &shapes_of_few_products(), 6e-2);
}

/// The root of the mean square of the errors over that of the numbers.
fn error(exact: &[f64], found: &[f32]) -> f64 {
    let errors = exact.iter().zip(found).map(|(a, b)| a - f64::from(*b));
    let numbers: f64 = exact.iter().map(|a| a * a).sum();
    (errors.map(|e| e * e).sum::<f64>() / numbers).sqrt()
}

/// Fewer products have larger errors, as stated in docs/adr/0010.
#[test]
fn errors_of_few_products_are_as_documented() {
    let shape = ConvShape {
        rows: 4,
        height: 8,
        width: 8,
        inputs: 32,
        outputs: 32,
        kernel: 3,
        stride: 1,
    };
    let (x, w) = (
        normals(1, shape.input_length()),
        normals(2, shape.weight_length()),
    );
    let gy = normals(3, shape.output_length());
    let mut exact = [vec![0.0; gy.len()], vec![0.0; x.len()], vec![0.0; w.len()]];
    each_product(&shape, |input, output, weight| {
        let [x, w, gy] = [x[input], w[weight], gy[output]].map(f64::from);
        exact[0][output] += x * w;
        exact[1][input] += gy * w;
        exact[2][weight] += x * gy;
    });
    for (precision, most) in [(Precision::F32, 2e-6), (Precision::Bf16, 1.5e-2)] {
        for isa in instruction_sets() {
            let [plain, kernels] = run_on(isa, || both(precision, &shape, false));
            for ((exact, plain), kernel) in exact.iter().zip(&plain).zip(&kernels) {
                let found = error(exact, kernel);
                assert!(found < most, "{isa:?} {precision:?}: {found}");
                if precision == Precision::F32 {
                    let plain = error(exact, plain);
                    assert!(found < 3.0 * plain, "{isa:?}: {found}, plain {plain}");
                }
                println!(
                    "{isa:?} {precision:?}: {found:.2e}, plain {:.2e}",
                    error(exact, plain)
                );
            }
        }
    }
}

#[test]
fn bf16_is_what_plain_loops_give_for_numbers_that_it_can_hold() {
    check(Precision::Bf16, true, &shapes(), 1e-5);
    check(Precision::Bf16, true, &random_shapes(), 1e-5);
}

/// With numbers that are exact in bfloat16, products are exact and only sums are rounded.
#[test]
fn bf16_multiplies_what_it_can_hold_exactly() {
    let shape = ConvShape {
        rows: 3,
        height: 6,
        width: 5,
        inputs: 5,
        outputs: 34,
        kernel: 3,
        stride: 2,
    };
    let whole = |length: usize, factor: usize| -> Vec<f32> {
        (0..length)
            .map(|i| ((i * factor) % 13) as f32 - 6.0)
            .collect()
    };
    let (x, w) = (
        whole(shape.input_length(), 7),
        whole(shape.weight_length(), 5),
    );
    let gy = whole(shape.output_length(), 3);
    let all = |precision: Precision| {
        let workspace = Workspace::new(precision);
        let (mut y, mut gx) = (vec![0.0; gy.len()], vec![0.0; x.len()]);
        let mut gw = vec![0.0; w.len()];
        forward(&workspace, &shape, &x, &w, None, &mut y);
        input_gradient(&workspace, &shape, &gy, &w, None, &mut gx);
        weight_gradient(&workspace, &shape, &x, &gy, &mut gw);
        [y, gx, gw]
    };
    for isa in instruction_sets() {
        let exact = run_on(isa, || all(Precision::F32));
        let rounded = run_on(isa, || all(Precision::Bf16));
        assert_eq!(exact, rounded, "{isa:?}");
    }
}

#[test]
fn threads_do_not_matter() {
    let of_stride = |stride, rows, inputs| ConvShape {
        rows,
        height: 12,
        width: 10,
        inputs,
        outputs: 48,
        kernel: 3,
        stride,
    };
    let precisions = [Precision::F32, Precision::Bf16];
    let all = instruction_sets()
        .into_iter()
        .flat_map(|isa| precisions.map(|p| (isa, p)))
        .flat_map(|(isa, p)| {
            [of_stride(2, 13, 20), of_stride(1, 7, 32)].map(|shape| (isa, p, shape))
        });
    for (isa, precision, shape) in all {
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            pool.expect("threads start")
                .install(|| run_on(isa, || both(precision, &shape, false)))
        };
        let one = with(1);
        for threads in [2, 3, 7] {
            assert_eq!(one, with(threads), "{isa:?}, {threads} threads");
        }
    }
}
