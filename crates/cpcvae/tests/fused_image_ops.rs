//! The fused operations of convolutional networks compared with their composed twins.

use burn::tensor::{Device, Tensor, TensorData};
use cpcvae::op::Compute;
use cpcvae::op::batch_norm;
use cpcvae::op::conv::{self, Way};
use cpcvae::op::residual::{self, BlockHalf};
use cpcvae_kernels::random::{self, Stream};

/// Standard normal numbers, different for each `purpose`.
fn normal<const D: usize>(shape: [usize; D], purpose: u32) -> Tensor<D> {
    let mut values = vec![0.0; shape.iter().product()];
    let stream = Stream {
        seed: 7,
        step: 0,
        purpose,
    };
    random::normal(stream, &mut values);
    let device = Device::flex().autodiff();
    Tensor::from_data(TensorData::new(values, shape), &device)
}

/// The largest difference relative to the largest value.
fn difference<const D: usize>(a: Tensor<D>, b: Tensor<D>) -> f32 {
    assert_eq!(a.dims(), b.dims());
    let scale = b.clone().abs().max().into_scalar::<f32>().max(1e-6);
    (a - b).abs().max().into_scalar::<f32>() / scale
}

/// A sum with different weights for each element, so that a permuted gradient is detected.
fn weighted<const D: usize>(x: Tensor<D>) -> Tensor<1> {
    let shape = x.dims();
    (x * normal(shape, 99)).sum()
}

fn compare(x: Tensor<4>, weight: Tensor<4>, stride: usize, way: Way) {
    let (x, weight) = (x.require_grad(), weight.require_grad());
    let fused = match way {
        Way::Down => conv::convolve(&Compute::default(), x.clone(), weight.clone(), stride),
        Way::Up(size) => {
            conv::convolve_up(&Compute::default(), x.clone(), weight.clone(), stride, size)
        }
    };
    let twin = conv::composed(x.clone(), weight.clone(), stride, way);
    assert!(difference(fused.clone(), twin.clone()) < 1e-5, "{way:?}");
    let [g, g2] = [fused, twin].map(|y| weighted(y).backward());
    let of = |t: &Tensor<4>| [&g, &g2].map(|g| t.grad(g).expect("it has a gradient"));
    for [fused, twin] in [of(&x), of(&weight)] {
        assert!(difference(fused, twin) < 1e-5, "{way:?} stride {stride}");
    }
}

#[test]
fn convolutions() {
    for (rows, height, width) in [(1, 1, 1), (2, 8, 6), (3, 7, 9)] {
        for (kernel, stride) in [(3, 1), (3, 2), (1, 1), (1, 2)] {
            for (inputs, outputs) in [(1, 16), (20, 33)] {
                let weight = normal([kernel, kernel, inputs, outputs], 2);
                let large = normal([rows, height, width, inputs], 1);
                compare(large, weight.clone(), stride, Way::Down);
                let (h, w) = (height.div_ceil(stride), width.div_ceil(stride));
                let small = normal([rows, h, w, outputs], 3);
                compare(small, weight, stride, Way::Up([height, width]));
            }
        }
    }
}

#[test]
fn batch_normalisation() {
    let cases = [[3, 2, 1, 3], [3, 4, 5, 17], [1, 6, 6, 32]];
    for (shape, leak) in cases.into_iter().zip([0.1, 0.0, 1.0]) {
        let channels = shape[3];
        let x = normal(shape, 1).require_grad();
        let scale = normal([channels], 2).require_grad();
        let shift = normal([channels], 3).require_grad();
        let given = normal([2, channels], 4).square().detach();
        for of_batch in [true, false] {
            let statistics = match of_batch {
                true => batch_norm::statistics(x.clone()),
                false => given.clone(),
            };
            let arguments = || {
                (
                    x.clone(),
                    statistics.clone(),
                    of_batch,
                    scale.clone(),
                    shift.clone(),
                )
            };
            let (a, b, c, d, e) = arguments();
            let fused = batch_norm::normalise(&Compute::default(), a, b, c, d, e, leak);
            let (a, b, c, d, e) = arguments();
            let twin = batch_norm::composed(a, b, c, d, e, leak);
            assert!(difference(fused.clone(), twin.clone()) < 1e-5);
            let [g, g2] = [fused, twin].map(|y| weighted(y).backward());
            let gx = [&g, &g2].map(|g| x.grad(g).expect("x has a gradient"));
            let g_scale = [&g, &g2].map(|g| scale.grad(g).expect("scale has a gradient"));
            let g_shift = [&g, &g2].map(|g| shift.grad(g).expect("shift has a gradient"));
            let [fused, twin] = gx;
            assert!(difference(fused, twin) < 1e-4);
            for [fused, twin] in [g_scale, g_shift] {
                assert!(difference(fused, twin) < 1e-5);
            }
        }
    }
}

/// A convolution and what is added to its output.
#[test]
fn convolutions_onto_a_skip_connection() {
    for way in [Way::Down, Way::Up([5, 6])] {
        let [x, skip] = [1, 2].map(|purpose| normal([2, 5, 6, 7], purpose).require_grad());
        let weight = normal([3, 3, 7, 7], 3).require_grad();
        let compute = Compute::default();
        let (a, b) = (x.clone(), weight.clone());
        let fused = conv::convolve_onto(&compute, a, b, 1, way, skip.clone());
        let twin = conv::composed(x.clone(), weight.clone(), 1, way) + skip.clone();
        assert!(difference(fused.clone(), twin.clone()) < 1e-5);
        let [g, g2] = [fused, twin].map(|y| weighted(y).backward());
        for tensor in [&x, &skip, &weight] {
            let [fused, twin] = [&g, &g2].map(|g| tensor.grad(g).expect("it has one"));
            assert!(difference(fused, twin) < 1e-5, "{way:?}");
        }
    }
}

/// A residual block as one operation, plain and transposed; its input has another use.
#[test]
fn residual_blocks() {
    let channels = 7;
    for way in [Way::Down, Way::Up([5, 6])] {
        let x = normal([2, 5, 6, channels], 1).require_grad();
        let half = |purpose: u32| BlockHalf {
            scale: normal([channels], purpose).require_grad(),
            shift: normal([channels], purpose + 1).require_grad(),
            weight: normal([3, 3, channels, channels], purpose + 2).require_grad(),
        };
        let halves = [half(10), half(20)];
        // Not a leaf of the tape, as in a network.
        let input = || x.clone().mul_scalar(1.5);
        let (fused_input, twin_input) = (input(), input());
        let compute = Compute::default();
        let (fused, statistics) =
            residual::residual(&compute, fused_input.clone(), halves.clone(), 0.1, way);
        let (twin, of_twin) = residual::composed(twin_input.clone(), halves.clone(), 0.1, way);
        assert!(difference(fused.clone(), twin.clone()) < 1e-5);
        for (fused, twin) in statistics.into_iter().zip(of_twin) {
            assert!(!fused.is_autodiff());
            assert!(difference(fused, twin) < 1e-5);
        }
        let g = (weighted(fused) + weighted(fused_input.square())).backward();
        let g2 = (weighted(twin) + weighted(twin_input.square())).backward();
        let of = |t: &Tensor<4>| [&g, &g2].map(|g| t.grad(g).expect("it has a gradient"));
        for [fused, twin] in [of(&x), of(&halves[0].weight), of(&halves[1].weight)] {
            assert!(difference(fused, twin) < 1e-4, "{way:?}");
        }
        for parameter in halves.iter().flat_map(|half| [&half.scale, &half.shift]) {
            let [fused, twin] = [&g, &g2].map(|g| parameter.grad(g).expect("it has one"));
            assert!(difference(fused, twin) < 1e-4, "{way:?}");
        }
    }
}
