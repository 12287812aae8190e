//! ADGM and SDGM compared with M2 and with their bounds computed class by class.

mod toy;

use burn::tensor::{Tensor, TensorData};
use cpcvae::method::{Auxiliary, DataKind, LabelFacts, Method};
use cpcvae::model::{AuxiliaryShape, AuxiliaryVae, LabelVae, Model, ModelKind};
use cpcvae::noise::{Noise, NoisePurpose};
use cpcvae::objective::{
    Progress, draw_auxiliary, labelled_bound, labelled_weight, unlabelled_bound, unlabelled_weight,
};
use cpcvae::train::Parameters;

const ROWS: usize = 6;

fn kind(skip: bool) -> ModelKind {
    ModelKind::AuxiliaryVae(AuxiliaryShape {
        dimensions: 3,
        skip,
    })
}

fn auxiliary(skip: bool) -> AuxiliaryVae {
    match Model::new(&toy::shape(kind(skip)), 1, &toy::compute()) {
        Model::AuxiliaryVae(model) => model,
        _ => panic!("an AuxiliaryVae was asked for"),
    }
}

fn noise() -> Noise {
    Noise::new(5, 2, &toy::device())
}

/// M2's parameters, and zero weights for the auxiliary variable: then q(a|x) and p(a|...) are the
/// same normal, and nothing else depends on a.
fn ignoring_a(skip: bool, m2: &LabelVae) -> AuxiliaryVae {
    let model = auxiliary(skip);
    let known = Parameters::of(m2);
    let mut parameters = Parameters::of(&model);
    for (name, (_, values)) in &mut parameters.0 {
        values.fill(0.0);
        let about_a = name.starts_with("auxiliary") || name.contains("context");
        if !about_a {
            // The inference networks take (x, a): M2's weights are those of the first rows.
            let (_, of_m2) = &known.0[name];
            values[..of_m2.len()].copy_from_slice(of_m2);
        }
    }
    parameters.apply(model).expect("the same shapes")
}

fn near(found: Tensor<1>, expected: Tensor<1>) {
    let (found, expected) = (toy::values(found), toy::values(expected));
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(&expected) {
        assert!((found - expected).abs() < 1e-4, "{found} is not {expected}");
    }
}

#[test]
fn with_its_auxiliary_variable_ignored_it_is_m2() {
    let Model::LabelVae(m2) = toy::label_vae() else {
        panic!("m2 trains a LabelVae")
    };
    let (x, y) = (toy::features(ROWS), toy::one_hot(&[0, 1, 2, 0, 1, 2]));
    let one = noise().normal(NoisePurpose::Code, [ROWS, m2.code()]);
    let each = noise().normal(NoisePurpose::Code, [ROWS * toy::CLASSES, m2.code()]);
    for skip in [false, true] {
        let model = ignoring_a(skip, &m2);
        let (a, log_q) = draw_auxiliary(&model.auxiliary(x.clone()), &noise());
        near(
            labelled_weight(&model, x.clone(), a.clone(), y.clone(), one.clone()) - log_q.clone(),
            labelled_bound(&m2, x.clone(), y.clone(), one.clone()),
        );
        let own = model.classify(x.clone(), a.clone());
        near(
            unlabelled_weight(&model, x.clone(), a, &own, each.clone()) - log_q,
            unlabelled_bound(&m2, x.clone(), each.clone()),
        );
        near(own.entropy(), m2.classify(x.clone()).entropy());
    }
}

/// sum_y q(y|a,x) (bound at y - log q(y|a,x)), the sum written out class by class.
#[test]
fn the_bound_of_unlabelled_rows_is_the_explicit_sum_over_labels() {
    for skip in [false, true] {
        let model = auxiliary(skip);
        let x = toy::features(ROWS);
        let (a, _) = draw_auxiliary(&model.auxiliary(x.clone()), &noise());
        let classes = toy::CLASSES;
        let each = noise().normal(NoisePurpose::Code, [ROWS * classes, model.code()]);
        let q = model.classify(x.clone(), a.clone());
        let fast = unlabelled_weight(&model, x.clone(), a.clone(), &q, each.clone());
        let q = toy::values(q.probs());
        let mut explicit = vec![0.0f32; ROWS];
        for class in 0..classes {
            let rows: Vec<i32> = (0..ROWS).map(|i| (i * classes + class) as i32).collect();
            let rows = Tensor::from_data(TensorData::new(rows, [ROWS]), &toy::device());
            let (y, one) = (toy::one_hot(&[class; ROWS]), each.clone().select(0, rows));
            let bound = labelled_weight(&model, x.clone(), a.clone(), y, one);
            for (row, bound) in toy::values(bound).into_iter().enumerate() {
                let q = q[row * classes + class];
                explicit[row] += q * (bound - q.ln());
            }
        }
        near(fast, toy::tensor(explicit, [ROWS]));
    }
}

/// The normal density of q(a|x) at its draw, from the noise alone.
#[test]
fn log_q_is_the_density_of_the_draw() {
    let posterior = auxiliary(true).auxiliary(toy::features(ROWS));
    let (a, log_q) = draw_auxiliary(&posterior, &noise());
    let drawn = noise().normal(NoisePurpose::Auxiliary, a.dims());
    let half_log_2pi = 0.5 * (2.0 * std::f32::consts::PI).ln();
    let each = drawn.square().mul_scalar(-0.5) - posterior.sigma().log() - half_log_2pi;
    near(log_q, each.sum_dim(1).reshape([ROWS]));
}

#[test]
fn several_samples_are_averaged() {
    let terms = |samples: usize, noise: &Noise| -> Vec<f32> {
        let method = match Method::named("sdgm", DataKind::Table).expect("listed") {
            Method::Sdgm(sdgm) => Method::Sdgm(Auxiliary { samples, ..sdgm }),
            _ => panic!("sdgm was asked for"),
        };
        let facts = LabelFacts {
            class_shares: vec![0.5, 0.3, 0.2],
            rows: 9,
            labelled_rows: 4,
        };
        let recipe = method.recipe(&facts).expect("valid settings");
        let model = Model::new(&toy::shape(recipe.kind), 1, &toy::compute());
        let objective = &recipe.stages[0].objective;
        let terms = objective
            .terms(&model, &toy::examples(4, 5), noise, Progress::DONE)
            .expect("its model");
        terms.values().into_iter().map(|(_, value)| value).collect()
    };
    let both = terms(2, &noise());
    let (first, second) = (terms(1, &noise()), terms(1, &noise().draw(1)));
    assert_eq!(both.len(), 3);
    assert_ne!(first, second);
    for ((both, first), second) in both.iter().zip(&first).zip(&second) {
        assert!((both - 0.5 * (first + second)).abs() < 1e-4);
    }
}
