//! Every fused operation compared with its composed twin: values and gradients.

use burn::tensor::{Device, Tensor, TensorData};
use cpcvae::op::constrain::{self, MapConstraint};
use cpcvae::op::linear::{self, Activation};
use cpcvae::op::log_prob::{self, Density};
use cpcvae::op::{Compute, class_rows, gaussian, noise_normal, shown, softmax, warp};
use cpcvae_kernels::random::{self, Stream};

fn device() -> Device {
    Device::flex().autodiff()
}

/// Standard normal numbers, different for each `purpose`.
fn normal<const D: usize>(shape: [usize; D], purpose: u32) -> Tensor<D> {
    let mut values = vec![0.0; shape.iter().product()];
    let stream = Stream {
        seed: 7,
        step: 0,
        purpose,
    };
    random::normal(stream, &mut values);
    Tensor::from_data(TensorData::new(values, shape), &device())
}

/// The largest difference relative to the largest value.
fn difference<const D: usize>(a: Tensor<D>, b: Tensor<D>) -> f32 {
    let scale = b.clone().abs().max().into_scalar::<f32>().max(1e-6);
    (a - b).abs().max().into_scalar::<f32>() / scale
}

/// Gradients of the weighted sum of an output with respect to the inputs.
fn gradients<const A: usize, const B: usize>(
    a: &Tensor<A>,
    b: &Tensor<B>,
    output: Tensor<1>,
) -> (Option<Tensor<A>>, Option<Tensor<B>>) {
    let gradients = output.backward();
    (a.grad(&gradients), b.grad(&gradients))
}

/// A sum with different weights for each element, so that a permuted gradient is detected.
fn weighted<const D: usize>(x: Tensor<D>) -> Tensor<1> {
    let shape = x.dims();
    (x * normal(shape, 99)).sum()
}

#[test]
fn linear_layers() {
    let activations = [
        Activation::Identity,
        Activation::Softplus,
        Activation::LeakyRelu,
        Activation::Elu,
        Activation::Relu,
    ];
    for (rows, inputs, outputs) in [(1, 1, 1), (3, 5, 7), (17, 33, 16), (200, 31, 65)] {
        for act in activations {
            let x = normal([rows, inputs], 1).require_grad();
            let w = normal([inputs, outputs], 2).require_grad();
            let b = normal([outputs], 3).require_grad();
            let fused = linear::linear_activation(
                &Compute::default(),
                x.clone(),
                w.clone(),
                b.clone(),
                act,
            );
            let twin = linear::composed(x.clone(), w.clone(), b.clone(), act);
            assert!(difference(fused.clone(), twin.clone()) < 1e-5, "{act:?}");
            let [g, g2] = [fused, twin].map(|y| weighted(y).backward());
            let gx = [&g, &g2].map(|g| x.grad(g).expect("x has a gradient"));
            let gw = [&g, &g2].map(|g| w.grad(g).expect("w has a gradient"));
            let gb = [&g, &g2].map(|g| b.grad(g).expect("b has a gradient"));
            for [fused, twin] in [gx, gw] {
                assert!(difference(fused, twin) < 1e-5, "{act:?}");
            }
            let [fused, twin] = gb;
            assert!(difference(fused, twin) < 1e-5, "{act:?}");
        }
    }
}

const MAPS: [MapConstraint; 3] = [
    MapConstraint::Sigmoid,
    MapConstraint::Tanh,
    MapConstraint::Variance { floor: 0.01 },
];

#[test]
fn constraints() {
    let kinds = [
        MapConstraint::Identity,
        MapConstraint::Sigmoid,
        MapConstraint::Tanh,
        MapConstraint::Variance { floor: 0.01 },
    ];
    let raw = normal([3, 4, 17], 1).require_grad();
    let fused = constrain::constrain(&Compute::default(), raw.clone(), &kinds);
    let twin = constrain::composed(raw.clone(), &kinds);
    assert!(difference(fused.clone(), twin.clone()) < 1e-5);
    let (g, _) = gradients(&raw, &raw, weighted(fused));
    let (g2, _) = gradients(&raw, &raw, weighted(twin));
    assert!(difference(g.unwrap(), g2.unwrap()) < 1e-5);
}

#[test]
fn gaussian_sample_and_divergence() {
    for (rows, code) in [(1, 1), (5, 3), (64, 50)] {
        let raw = normal([rows, 2 * code], 1).require_grad();
        let noise = normal([rows, code], 2);
        let both = |(z, kl): (Tensor<2>, Tensor<1>)| weighted(z) + weighted(kl);
        let (z, kl) = gaussian::sample_kl(raw.clone(), noise.clone(), 1e-4);
        let (z2, kl2) = gaussian::composed(raw.clone(), noise.clone(), 1e-4);
        assert!(difference(z.clone(), z2.clone()) < 1e-5);
        assert!(difference(kl.clone(), kl2.clone()) < 1e-5);
        let (g, _) = gradients(&raw, &raw, both((z, kl)));
        let (g2, _) = gradients(&raw, &raw, both((z2, kl2)));
        assert!(difference(g.unwrap(), g2.unwrap()) < 1e-5);
    }
}

/// Plausible parameter maps: constrained from normal raw numbers.
fn maps(rows: usize, pixels: usize) -> Tensor<3> {
    constrain::composed(normal([rows, 3, pixels], 4), &MAPS).detach()
}

#[test]
fn densities() {
    for (density, kinds) in [
        (Density::Normal, &[MapConstraint::Identity, MAPS[2]][..]),
        (Density::Bernoulli, &[MapConstraint::Identity]),
        (Density::NoiseNormal, &MAPS),
    ] {
        // Each row of x is used for one row of parameters, then for four.
        for (rows, given, pixels) in [(5, 5, 33), (1, 1, 1), (12, 3, 300)] {
            let raw = normal([rows, kinds.len(), pixels], 4);
            let maps = constrain::composed(raw, kinds).detach().require_grad();
            let x = normal([given, pixels], 5).tanh();
            let fused = log_prob::log_prob(&Compute::default(), density, maps.clone(), x.clone());
            let twin = log_prob::composed(density, maps.clone(), x);
            assert!(
                difference(fused.clone(), twin.clone()) < 1e-5,
                "{density:?}"
            );
            let (g, _) = gradients(&maps, &maps, weighted(fused));
            let (g2, _) = gradients(&maps, &maps, weighted(twin));
            assert!(difference(g.unwrap(), g2.unwrap()) < 1e-4, "{density:?}");
        }
    }
}

#[test]
fn class_probabilities() {
    for (rows, classes) in [(1, 1), (5, 2), (200, 10)] {
        let logits = normal([rows, classes], 1).require_grad();
        let target = normal([rows, classes], 2).require_grad();
        let fused = softmax::log_softmax(logits.clone());
        let twin = softmax::composed::log_softmax(logits.clone());
        assert!(difference(fused.clone(), twin.clone()) < 1e-5);
        let fused = softmax::cross_entropy(target.clone(), fused);
        let twin = softmax::composed::cross_entropy(target.clone(), twin);
        assert!(difference(fused.clone(), twin.clone()) < 1e-5);
        let (g, t) = gradients(&logits, &target, weighted(fused));
        let (g2, t2) = gradients(&logits, &target, weighted(twin));
        assert!(difference(g.unwrap(), g2.unwrap()) < 1e-5);
        assert!(difference(t.unwrap(), t2.unwrap()) < 1e-5);
    }
}

#[test]
fn layers_for_every_class() {
    for act in [Activation::Identity, Activation::Softplus, Activation::Elu] {
        for (rows, given, classes, units) in [(1, 1, 1, 1), (5, 1, 3, 17), (9, 3, 3, 40)] {
            let x = normal([rows, given, units], 1).require_grad();
            let v = normal([classes, units], 2).require_grad();
            let fused = class_rows::class_rows(&Compute::default(), x.clone(), v.clone(), act);
            let twin = class_rows::composed(x.clone(), v.clone(), act);
            assert!(difference(fused.clone(), twin.clone()) < 1e-5, "{act:?}");
            let (gx, gv) = gradients(&x, &v, weighted(fused));
            let (gx2, gv2) = gradients(&x, &v, weighted(twin));
            assert!(difference(gx.unwrap(), gx2.unwrap()) < 1e-5, "{act:?}");
            assert!(difference(gv.unwrap(), gv2.unwrap()) < 1e-5, "{act:?}");
        }
    }
}

#[test]
fn noise_normal_sampling() {
    let maps = maps(5, 33).require_grad();
    let mut uniforms = vec![0.0; 5 * 33];
    let stream = Stream {
        seed: 7,
        step: 0,
        purpose: 6,
    };
    random::uniform(stream, &mut uniforms);
    let u = Tensor::from_data(TensorData::new(uniforms, [5, 33]), &device());
    let fused = noise_normal::sample(&Compute::default(), maps.clone(), u.clone());
    let twin = noise_normal::composed::sample(maps.clone(), u);
    assert!(difference(fused.clone(), twin.clone()) < 1e-4);
    let (g, _) = gradients(&maps, &maps, weighted(fused));
    let (g2, _) = gradients(&maps, &maps, weighted(twin));
    assert!(difference(g.unwrap(), g2.unwrap()) < 1e-3);
}

#[test]
fn warp_of_parameter_maps() {
    for (canvas, image) in [((6, 6), (4, 4)), ((5, 9), (3, 7)), ((42, 42), (28, 28))] {
        let raw = normal([3, 3, canvas.0 * canvas.1], 1).require_grad();
        // Near the identity, with positions beyond the border too.
        let identity = Tensor::<2>::from_floats([[0.7, 0.0, 0.0, 0.0, 0.7, 0.0]], &device());
        let theta = (normal([3, 6], 2) * 0.3 + identity).require_grad();
        let fused = warp::constrain_warp(
            &Compute::default(),
            raw.clone(),
            theta.clone(),
            &MAPS,
            canvas,
            image,
        );
        let twin = warp::composed(raw.clone(), theta.clone(), &MAPS, canvas, image);
        assert!(difference(fused.clone(), twin.clone()) < 1e-4);
        let (gr, gt) = gradients(&raw, &theta, weighted(fused));
        let (gr2, gt2) = gradients(&raw, &theta, weighted(twin));
        assert!(difference(gr.unwrap(), gr2.unwrap()) < 1e-3);
        assert!(difference(gt.unwrap(), gt2.unwrap()) < 2e-3);
    }
}

#[test]
fn gradients_of_what_an_image_shows() {
    for (rows, maps, canvas) in [(1, 1, (1, 1)), (5, 3, (6, 4)), (30, 2, (9, 9))] {
        let raw = normal([rows, maps, canvas.0 * canvas.1], 1).require_grad();
        let theta = normal([rows, 6], 2).require_grad();
        let fused = shown::shown_only(raw.clone(), theta.clone(), canvas);
        let twin = shown::composed(raw.clone(), theta.clone().detach(), canvas);
        for made in [&fused, &twin] {
            assert_eq!(difference(made.clone(), raw.clone()), 0.0);
        }
        let [(fused, of_theta), (twin, _)] =
            [fused, twin].map(|made| gradients(&raw, &theta, weighted(made)));
        let (fused, twin) = (fused.expect("a gradient"), twin.expect("a gradient"));
        assert_eq!(difference(fused, twin), 0.0, "{canvas:?}");
        assert!(of_theta.is_none(), "what is shown does not learn");
    }
}
