//! Scores compared with log p(x) computed by numerical integration: with a code of one dimension,
//! over a fine grid.

mod toy;

use burn::tensor::Tensor;
use cpcvae::infer::Inference;
use cpcvae::model::{AuxiliaryShape, Model, ModelKind, Shape};
use cpcvae::train::Parameters;
use cpcvae_data::Matrix;

const ROWS: usize = 5;

fn one_dimensional(kind: ModelKind, spread: f32) -> (Shape, Model) {
    let shape = Shape {
        code: 1,
        ..toy::shape(kind)
    };
    let model = Model::new(&shape, 1, &toy::compute());
    // Encoders wider than the prior, so that importance weights have a finite variance; and in a
    // stack smaller weights, since two random decoders in sequence give extreme densities.
    let shrink = if kind == ModelKind::StackedVae {
        0.5
    } else {
        1.0
    };
    let mut parameters = Parameters::of(&model);
    for (name, (_, values)) in &mut parameters.0 {
        values.iter_mut().for_each(|value| *value *= shrink);
        let infers = name.contains("encoder") || name.contains(".auxiliary.");
        if infers && name.ends_with("bias") && values.len() == 2 {
            values[1] = spread;
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

/// Grid points of the code and their share of the prior.
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

/// log of the prior's mean of p(x|z) over the grid, given log p(x|z) at its points.
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
    let (shape, model) = one_dimensional(ModelKind::Vae, 1.2);
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
    let (shape, model) = one_dimensional(ModelKind::LabelVae, 1.2);
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

/// Grid points of two variables, and for each the share of the second one's standard normal prior.
fn plane() -> (Tensor<2>, Tensor<2>, Vec<f64>) {
    const SIDE: usize = 160;
    const STEP: f32 = 0.1;
    let place = |i: usize| STEP * (i as f32 + 0.5 - SIDE as f32 / 2.0);
    let density = |z: f64| (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let (mut first, mut second, mut shares) = (Vec::new(), Vec::new(), Vec::new());
    for i in 0..SIDE * SIDE {
        first.push(place(i / SIDE));
        second.push(place(i % SIDE));
        shares.push(f64::from(STEP * STEP) * density(f64::from(second[i])));
    }
    let count = first.len();
    let column = |values| toy::tensor(values, [count, 1]);
    (column(first), column(second), shares)
}

/// The same row repeated for every grid point.
fn everywhere(x: &Tensor<2>, row: usize, places: usize) -> Tensor<2> {
    let row = x.clone().slice([row..row + 1, 0..toy::FEATURES]);
    row.repeat_dim(0, places)
}

fn sum(a: Tensor<1>, b: Tensor<1>) -> Vec<f32> {
    toy::values(a + b)
}

/// log of the sum over classes, with the uniform p(y), of integrals.
fn over_classes(log_probs: impl Fn(Tensor<2>) -> Vec<f32>, shares: &[f64]) -> f64 {
    let of_class = |class: usize| {
        let y = toy::one_hot(&vec![class; shares.len()]);
        log_integral(&log_probs(y), shares).exp() / toy::CLASSES as f64
    };
    (0..toy::CLASSES).map(of_class).sum::<f64>().ln()
}

#[test]
fn the_scores_of_adgm_and_sdgm_sum_over_the_auxiliary_variable_too() {
    for skip in [false, true] {
        let auxiliary = AuxiliaryShape {
            dimensions: 1,
            skip,
        };
        let (shape, model) = one_dimensional(ModelKind::AuxiliaryVae(auxiliary), 2.5);
        let Model::AuxiliaryVae(network) = &model else {
            panic!("an AuxiliaryVae was asked for")
        };
        let (features, x) = rows();
        let (a, z, shares) = plane();
        let exact: Vec<f64> = (0..ROWS)
            .map(|row| {
                let x = everywhere(&x, row, shares.len());
                let log_probs = |y: Tensor<2>| {
                    let of_a = network.decode_auxiliary(z.clone(), x.clone(), y.clone());
                    let of_x = network.decode(z.clone(), a.clone(), y);
                    sum(of_x.log_prob(x.clone()), of_a.log_density(a.clone()))
                };
                over_classes(log_probs, &shares)
            })
            .collect();
        let inference = Inference::new(&model, &shape, &toy::device(), 3);
        check(&exact, &inference, &features);
    }
}

#[test]
fn the_score_of_a_stack_sums_over_both_codes() {
    let (shape, model) = one_dimensional(ModelKind::StackedVae, 1.2);
    let Model::StackedVae(stack) = &model else {
        panic!("a StackedVae was asked for")
    };
    let (features, x) = rows();
    let (z1, z2, shares) = plane();
    let exact: Vec<f64> = (0..ROWS)
        .map(|row| {
            let x = everywhere(&x, row, shares.len());
            let of_x = stack.features().decode(z1.clone()).log_prob(x);
            let log_probs = |y: Tensor<2>| {
                let of_z1 = stack.labels().decode(z2.clone(), y);
                sum(of_x.clone(), of_z1.log_prob(z1.clone()))
            };
            over_classes(log_probs, &shares)
        })
        .collect();
    let inference = Inference::new(&model, &shape, &toy::device(), 3);
    check(&exact, &inference, &features);
}
