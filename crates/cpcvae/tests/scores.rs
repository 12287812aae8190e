//! Scores against log p(x) computed another way: with a code of one dimension, the integral over
//! the code is a sum over a fine grid.

mod toy;

use burn::tensor::Tensor;
use cpcvae::infer::Inference;
use cpcvae::model::{Kind, Model, Shape};
use cpcvae::train::Parameters;
use cpcvae_data::Matrix;

const ROWS: usize = 5;

fn one_dimensional(kind: Kind) -> (Shape, Model) {
    let shape = Shape {
        code: 1,
        ..toy::shape(kind)
    };
    let model = Model::new(&shape, 1, &toy::device());
    // An encoder wider than the prior, so that importance weights have a finite variance.
    let mut parameters = Parameters::of(&model);
    for (name, (_, values)) in &mut parameters.0 {
        if name.contains("encoder") && name.ends_with("bias") && values.len() == 2 {
            values[1] = 1.2;
        }
    }
    let model = parameters.apply(model).expect("the same shapes");
    (shape, model)
}

fn rows() -> (Matrix, Tensor<2>) {
    let x = toy::features(ROWS).mul_scalar(0.5);
    let matrix = Matrix::new(ROWS, toy::FEATURES, toy::values(x.clone())).expect("right size");
    (matrix, x)
}

/// Places of the code and their share of the prior.
fn grid() -> (Tensor<2>, Vec<f64>) {
    let places: Vec<f32> = (0..1600).map(|i| -8.0 + 0.01 * (i as f32 + 0.5)).collect();
    let density = |z: f64| (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let shares = places
        .iter()
        .map(|z| 0.01 * density(f64::from(*z)))
        .collect();
    let count = places.len();
    (toy::tensor(places, [count, 1]), shares)
}

/// log of the prior's mean of p(x|z) over the grid, given log p(x|z) at its places.
fn log_integral(log_probs: &[f32], shares: &[f64]) -> f64 {
    let terms = log_probs.iter().zip(shares);
    terms
        .map(|(l, share)| f64::from(*l).exp() * share)
        .sum::<f64>()
        .ln()
}

fn check(exact: &[f64], inference: &Inference, features: &Matrix) {
    let scores = inference
        .score(features, 20000)
        .expect("a generative model");
    for (row, exact) in exact.iter().enumerate() {
        let (bound, estimate) = (scores.elbo[row], scores.log_likelihood[row]);
        assert!(
            (f64::from(estimate) - exact).abs() < 0.03,
            "{estimate} is not {exact}"
        );
        assert!(
            f64::from(bound) < *exact,
            "the bound {bound} is above {exact}"
        );
    }
}

#[test]
fn a_vaes_importance_weighted_score_comes_to_the_likelihood() {
    let (shape, model) = one_dimensional(Kind::Vae);
    let Model::Vae(vae) = &model else {
        panic!("a Vae was asked for")
    };
    let (features, x) = rows();
    let (z, shares) = grid();
    let [places, _] = z.dims();
    let exact: Vec<f64> = (0..ROWS)
        .map(|row| {
            let x = x
                .clone()
                .slice([row..row + 1, 0..toy::FEATURES])
                .repeat_dim(0, places);
            let log_probs = toy::values(vae.decode(z.clone()).log_prob(x));
            log_integral(&log_probs, &shares)
        })
        .collect();
    check(
        &exact,
        &Inference::new(&model, &shape, &toy::device(), 3),
        &features,
    );
}

#[test]
fn the_score_of_m2_sums_over_classes_too() {
    let (shape, model) = one_dimensional(Kind::LabelVae);
    let Model::LabelVae(m2) = &model else {
        panic!("a LabelVae was asked for")
    };
    let (features, x) = rows();
    let (z, shares) = grid();
    let [places, _] = z.dims();
    let exact: Vec<f64> = (0..ROWS)
        .map(|row| {
            let x = x
                .clone()
                .slice([row..row + 1, 0..toy::FEATURES])
                .repeat_dim(0, places);
            let of_class = |class: usize| {
                let y = toy::one_hot(&vec![class; places]);
                let log_probs = toy::values(m2.decode(z.clone(), y).log_prob(x.clone()));
                log_integral(&log_probs, &shares).exp() / toy::CLASSES as f64
            };
            (0..toy::CLASSES).map(of_class).sum::<f64>().ln()
        })
        .collect();
    check(
        &exact,
        &Inference::new(&model, &shape, &toy::device(), 3),
        &features,
    );
}
