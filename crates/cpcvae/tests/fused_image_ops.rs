//! The fused operations of convolutional networks against their composed twins.

use burn::tensor::{Device, Tensor, TensorData};
use cpcvae::op::Compute;
use cpcvae::op::batch_norm;
use cpcvae::op::beside::Beside;
use cpcvae::op::conv::{self, Way};
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

/// A sum with different weights for each element, so that a mixed-up gradient shows.
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
            let fused = batch_norm::normalise(&Compute::default(), a, b, c, d, e, leak, None);
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

/// A residual block with its way past the convolution, plain and transposed.
#[test]
fn convolutions_onto_what_went_past_them() {
    let (shape, way_up) = ([2, 5, 6, 7], Way::Up([5, 6]));
    for (way, has_beside) in [
        (Way::Down, true),
        (Way::Down, false),
        (way_up, true),
        (way_up, false),
    ] {
        let x = normal(shape, 1).require_grad();
        let weight = normal([3, 3, 7, 7], 2).require_grad();
        let [scale, shift] = [3, 4].map(|purpose| normal([7], purpose).require_grad());
        let statistics = batch_norm::statistics(x.clone());
        let norm = (statistics, true, scale.clone(), shift.clone());
        let beside = Beside::default();
        let beside = has_beside.then_some(&beside);
        let (a, b, c, d) = norm.clone();
        let active = batch_norm::normalise(&Compute::default(), x.clone(), a, b, c, d, 0.1, beside);
        let fused = conv::convolve_onto(
            &Compute::default(),
            active,
            weight.clone(),
            1,
            way,
            x.clone(),
            beside,
        );
        let (a, b, c, d) = norm;
        let active = batch_norm::composed(x.clone(), a, b, c, d, 0.1);
        let twin = conv::composed(active, weight.clone(), 1, way) + x.clone();
        assert!(difference(fused.clone(), twin.clone()) < 1e-5);
        let [g, g2] = [fused, twin].map(|y| weighted(y).backward());
        let gradients = |t: &Tensor<4>| [&g, &g2].map(|g| t.grad(g).expect("it has one"));
        for [fused, twin] in [gradients(&x), gradients(&weight)] {
            assert!(difference(fused, twin) < 1e-4, "{way:?} {has_beside}");
        }
        let [fused, twin] = [&g, &g2].map(|g| scale.grad(g).expect("it has one"));
        assert!(difference(fused, twin) < 1e-5);
    }
}
