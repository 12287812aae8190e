//! The worst perturbation of a row: its length, its effect, and where it is known, its direction.

mod toy;

use burn::tensor::Tensor;
use cpcvae::model::{Classifier, Model, ModelKind, Shape};
use cpcvae::noise::Noise;
use cpcvae::objective::{Prediction, WorstChange};
use cpcvae::train::Parameters;

const ROWS: usize = 40;

fn search(iterations: usize) -> WorstChange {
    WorstChange {
        radius: 0.2,
        probe: 0.05,
        iterations,
    }
}

fn noise() -> Noise {
    Noise::new(5, 1, &toy::device())
}

/// A network with these hidden layers, its weights `times` as large as initially.
fn classifier(hidden: &[usize], times: f32) -> (Model, Parameters) {
    let shape = Shape {
        hidden: hidden.to_vec(),
        ..toy::shape(ModelKind::Classifier)
    };
    let model = Model::new(&shape, 2, &toy::compute());
    let mut parameters = Parameters::of(&model);
    for (_, values) in parameters.0.values_mut() {
        values.iter_mut().for_each(|value| *value *= times);
    }
    let model = parameters.apply(model).expect("the same shapes");
    (model, parameters)
}

fn network(model: &Model) -> &Classifier {
    match model {
        Model::Classifier(network) => network,
        _ => panic!("a classifier was asked for"),
    }
}

fn prediction(model: &Model, x: Tensor<2>) -> Prediction {
    Prediction::new(network(model).predict(x), true)
}

fn change(model: &Model, iterations: usize) -> Tensor<2> {
    let x = toy::features(ROWS);
    let kept = prediction(model, x.clone()).detach();
    search(iterations).find(network(model), x, &kept, &noise())
}

#[test]
fn every_change_has_the_given_length() {
    let length = (0.2 * (toy::FEATURES as f64).sqrt()) as f32;
    // Weights a thousand times as large: predictions saturate, so that gradients vanish.
    for times in [1.0, 1000.0] {
        let (model, _) = classifier(&[7, 5], times);
        for iterations in [0, 1, 4] {
            let change = toy::values(change(&model, iterations));
            for row in change.chunks_exact(toy::FEATURES) {
                let found = row.iter().map(|v| v * v).sum::<f32>().sqrt();
                assert!((found - length).abs() < 1e-5, "{found} is not {length}");
            }
        }
    }
}

#[test]
fn it_changes_predictions_more_than_a_random_change() {
    let (model, _) = classifier(&[7, 5], 3.0);
    let x = toy::features(ROWS);
    let kept = prediction(&model, x.clone()).detach();
    let divergence = |iterations| {
        let changed = prediction(&model, x.clone() + change(&model, iterations));
        toy::values(changed.divergence_from(&kept))
    };
    let (random, once, often) = (divergence(0), divergence(1), divergence(20));
    let mean = |values: &[f32]| values.iter().sum::<f32>() / ROWS as f32;
    assert!(mean(&once) > 1.2 * mean(&random));
    assert!(mean(&often) >= mean(&once));
    assert!(random.iter().all(|divergence| *divergence > -1e-6));
}

/// Logits x W: the divergence grows by H = W (diag(p) - p p') W', whose first eigenvector the power
/// iteration must find.
#[test]
fn for_a_linear_network_it_is_the_first_eigenvector() {
    let (model, parameters) = classifier(&[], 2.0);
    let mut weights = parameters
        .0
        .iter()
        .filter(|(name, _)| name.ends_with("weight"));
    let (_, (_, weights)) = weights.next().expect("one layer");
    let weight = |feature: usize, class: usize| f64::from(weights[feature * toy::CLASSES + class]);
    let p = toy::values(prediction(&model, toy::features(ROWS)).as_target());
    let short = WorstChange {
        // Short enough for the quadratic approximation.
        radius: 0.1,
        probe: 0.05,
        iterations: 60,
    };
    let x = toy::features(ROWS);
    let kept = prediction(&model, x.clone()).detach();
    let found = toy::values(short.find(network(&model), x, &kept, &noise()));
    for (p, d) in p.chunks(toy::CLASSES).zip(found.chunks(toy::FEATURES)) {
        let hessian = |d: &[f64]| -> Vec<f64> {
            let slope = |class| {
                (0..toy::FEATURES)
                    .map(|f| weight(f, class) * d[f])
                    .sum::<f64>()
            };
            let slopes: Vec<f64> = (0..toy::CLASSES).map(slope).collect();
            let mean: f64 = slopes.iter().zip(p).map(|(s, p)| s * f64::from(*p)).sum();
            let back = |f| {
                let of_class = |k: usize| weight(f, k) * f64::from(p[k]) * (slopes[k] - mean);
                (0..toy::CLASSES).map(of_class).sum()
            };
            (0..toy::FEATURES).map(back).collect()
        };
        let norm = |d: &[f64]| d.iter().map(|v| v * v).sum::<f64>().sqrt();
        // The same iteration in f64 from the first feature, with H itself.
        let mut exact = vec![1.0, 0.3, -0.2, 0.1];
        for _ in 0..2000 {
            let next = hessian(&exact);
            let size = norm(&next);
            exact = next.iter().map(|v| v / size).collect();
        }
        let found: Vec<f64> = d.iter().map(|v| f64::from(*v)).collect();
        let cosine = found.iter().zip(&exact).map(|(a, b)| a * b).sum::<f64>() / norm(&found);
        assert!(cosine.abs() > 0.99, "{cosine}");
    }
}

/// A missing cell cannot be perturbed, and does not affect the others.
#[test]
fn missing_cells_are_left_out() {
    let shape = Shape {
        row: Some(cpcvae::distribution::RowLayout {
            numbers: toy::FEATURES,
            can_be_missing: vec![0],
            ..Default::default()
        }),
        ..toy::shape(ModelKind::Classifier)
    };
    let model = Model::new(&shape, 2, &toy::compute());
    let mut x = toy::values(toy::features(3));
    x[0] = f32::NAN;
    let x = toy::tensor(x, [3, toy::FEATURES]);
    let kept = prediction(&model, x.clone()).detach();
    let change = search(1).find(network(&model), x.clone(), &kept, &noise());
    let values = toy::values(change.clone());
    assert!(values.iter().all(|value| value.is_finite()), "{values:?}");
    assert!(values[0].abs() < 1e-5, "{values:?}");
    let divergence = prediction(&model, x + change).divergence_from(&kept);
    assert!(toy::values(divergence).iter().all(|d| d.is_finite()));
}

/// Continuous labels have a divergence too: that of unit normals.
#[test]
fn the_divergence_of_values_is_half_the_squared_distance() {
    let of = |values: Vec<f32>| Prediction::new(toy::tensor(values, [2, 2]), false);
    let divergence = of(vec![1.0, 2.0, 0.0, 0.0]).divergence_from(&of(vec![0.0, 0.0, 0.0, 3.0]));
    assert_eq!(toy::values(divergence), [2.5, 4.5]);
    let classes = prediction(&classifier(&[7], 1.0).0, toy::features(ROWS));
    let to_itself = toy::values(classes.divergence_from(&classes));
    assert!(to_itself.iter().all(|d| d.abs() < 1e-6));
}
