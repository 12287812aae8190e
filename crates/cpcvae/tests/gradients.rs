//! Gradients of every objective compared with finite differences.

mod finite_differences;
mod toy;

use cpcvae::distribution::Family;
use cpcvae::method::{Cpc, DataKind, LabelFacts, Method, MethodSettings, NAMES, ObjectiveOptions};
use cpcvae::model::{Model, ModelKind, Shape, TransformPlan};
use cpcvae::noise::{Noise, NoisePurpose};
use cpcvae::objective::{
    ClassifierObjective, Examples, GradientPath, Objective, Prediction, Progress, StackedObjective,
    VaeObjective,
};
use cpcvae::objective::{PseudoLabelSource, PseudoLabels};
use cpcvae::pseudo_label::ComparedFeatures;
use cpcvae::train::Parameters;
use finite_differences::{check, check_against, loss, noise};

fn facts() -> LabelFacts {
    LabelFacts {
        class_shares: vec![0.5, 0.3, 0.2],
        rows: 9,
        labelled_rows: 4,
    }
}

#[test]
fn every_stage_of_every_method() {
    for name in NAMES {
        let method = match Method::named(name, DataKind::Table).expect("listed") {
            // With the gradient path open, the derivative is that of the whole computation.
            Method::Cpc(cpc) => Method::Cpc(Cpc {
                gradient_path: GradientPath::Open,
                ..cpc
            }),
            other => other,
        };
        let recipe = method.recipe(&facts()).expect("valid settings");
        for stage in &recipe.stages {
            let stops = matches!(
                stage.objective,
                Objective::Vae(VaeObjective::PredictorOnly(_))
                    | Objective::Classifier(ClassifierObjective::VirtualAdversarial(_))
            );
            if stops || (name, stage.name) == ("m1-m2", "m2") {
                continue; // their gradients are stopped on purpose: see the next tests
            }
            let label = format!("{name}/{}", stage.name);
            check(
                &label,
                &stage.objective,
                &toy::shape(recipe.kind),
                &toy::examples(4, 5),
            );
        }
    }
}

/// Through statistics of batches, of rows and of rows and classes. Rectifiers are not suited to
/// finite differences in f32; their operation has tests of its own, in double precision
/// (`batch_norm.rs` of the kernels) and against its twin (`fused_image_ops.rs`).
#[test]
fn dense_layers_with_batch_normalisation() {
    for name in ["adgm", "sdgm", "pc"] {
        let method = Method::named(name, DataKind::Table).expect("listed");
        let recipe = method.recipe(&facts()).expect("valid settings");
        let shape = Shape {
            batch_norm: true,
            ..toy::shape(recipe.kind)
        };
        let objective = &recipe.stages[0].objective;
        check(name, objective, &shape, &toy::examples(4, 5));
    }
}

/// The second stage of `vae-then-mlp` trains only the predictor, that of `m1-m2` only M2.
#[test]
fn the_second_stage_leaves_the_first_model_alone() {
    for (method, moving) in [
        ("vae-then-mlp", "predictor"),
        ("m1", "predictor"),
        ("m1-m2", ".labels."),
    ] {
        let method = Method::named(method, DataKind::Table).expect("listed");
        only_part_moves(&method, moving);
    }
}

fn only_part_moves(method: &Method, moving: &str) {
    let recipe = method.recipe(&facts()).expect("valid settings");
    let model = Model::new(&toy::shape(recipe.kind), 1, &toy::compute());
    let loss = loss(&recipe.stages[1].objective, &model, &toy::examples(4, 5));
    let mut gradients = Some(loss.backward());
    let before = Parameters::of(&model);
    let mut adam = cpcvae::train::Adam::default();
    let gradients = gradients.take().expect("made above");
    let after = Parameters::of(&adam.step(model, gradients, 0.1, None, &toy::compute()));
    for (name, values) in &before.0 {
        let changed = after.0[name] != *values;
        assert_eq!(changed, name.contains(moving), "{name}");
    }
}

/// In the second stage of `m1-m2` codes are drawn from a frozen model: the gradient is M2's on
/// these codes.
#[test]
fn codes_of_the_lower_model_are_held_fast() {
    let method = Method::named("m1-m2", DataKind::Table).expect("listed");
    let recipe = method.recipe(&facts()).expect("valid settings");
    let objective = &recipe.stages[1].objective;
    let Objective::StackedVae(StackedObjective::Labels(m2)) = objective else {
        panic!("the second stage is M2's")
    };
    let m2 = Objective::LabelVae(m2.clone());
    let shape = toy::shape(recipe.kind);
    let batch = toy::examples(4, 5);
    let Model::StackedVae(model) = Model::new(&shape, 1, &toy::compute()) else {
        panic!("m1-m2 trains a StackedVae")
    };
    let code_noise = noise().normal(NoisePurpose::Auxiliary, [9, model.features().code()]);
    let posterior = model.features().encode(batch.features.clone());
    let codes = Examples {
        features: posterior.sample_kl(code_noise).0.detach(),
        ..batch.clone()
    };
    check_against("m1-m2", objective, &shape, &batch, |model| match model {
        Model::StackedVae(model) => loss(&m2, &Model::LabelVae(model.labels().clone()), &codes),
        _ => panic!("m1-m2 trains a StackedVae"),
    });
}

/// In `vat`, neither the worst perturbation nor the target prediction has a gradient: the gradient
/// is that of the divergence with both fixed.
#[test]
fn the_worst_change_is_held_fast() {
    for batch_norm in [false, true] {
        worst_change_is_held_fast(batch_norm);
    }
}

fn worst_change_is_held_fast(batch_norm: bool) {
    let method = Method::named("vat", DataKind::Table).expect("listed");
    let recipe = method.recipe(&facts()).expect("valid settings");
    let objective = &recipe.stages[0].objective;
    let Objective::Classifier(ClassifierObjective::VirtualAdversarial(vat)) = objective else {
        panic!("vat has an objective of its own")
    };
    let shape = Shape {
        batch_norm,
        ..toy::shape(recipe.kind)
    };
    let batch = toy::examples(4, 5);
    let predict = |model: &Model, x| match model {
        Model::Classifier(network) => Prediction::new(network.predict(x), true),
        _ => panic!("vat trains a classifier"),
    };
    let model = Model::new(&shape, 1, &toy::compute());
    let x = batch.features.clone();
    let kept = predict(&model, x.clone()).detach();
    let change = match &model {
        Model::Classifier(network) => vat.search.find(network, x.clone(), &kept, &noise()),
        _ => panic!("vat trains a classifier"),
    };
    check_against("vat", objective, &shape, &batch, |model| {
        let prediction = predict(model, x.clone());
        let loss = prediction.rows(0..4).loss(batch.labels.clone());
        let divergence = predict(model, x.clone() + change.clone()).divergence_from(&kept);
        let entropy = prediction.loss(prediction.as_target());
        loss.sum().div_scalar(9.0)
            + divergence.mean().mul_scalar(vat.adversarial)
            + entropy.mean().mul_scalar(vat.entropy)
    });
}

/// Images with transforms and each likelihood: the gradient of the evidence, including the warp.
#[test]
fn images_with_transforms() {
    for family in [Family::Normal, Family::Bernoulli, Family::NoiseNormal] {
        let shape = Shape {
            features: 16,
            image: Some([4, 4, 1]),
            code: 8,
            likelihood: family,
            transform: Some(TransformPlan {
                ranges: Default::default(),
                canvas: 1.5,
            }),
            ..toy::shape(ModelKind::Vae)
        };
        let pixels = Noise::new(9, 0, &toy::device())
            .normal(NoisePurpose::Features, [6, 16])
            .tanh();
        let pixels = match family {
            Family::Bernoulli => pixels.mul_scalar(0.5).add_scalar(0.5),
            _ => pixels,
        };
        let batch = Examples {
            features: pixels,
            ..toy::examples(3, 3)
        };
        let method = Method::named("pc", DataKind::Images).expect("listed");
        let recipe = method.recipe(&facts()).expect("valid settings");
        check(
            &format!("{family:?}"),
            &recipe.stages[0].objective,
            &shape,
            &batch,
        );
    }
}

/// Continuous labels: squared error for prediction and consistency.
#[test]
fn continuous_labels() {
    let shape = Shape {
        target: cpcvae::model::Target::Values(vec!["u".into(), "v".into()]),
        ..toy::shape(ModelKind::Vae)
    };
    let batch = Examples {
        labels: toy::tensor(vec![0.3, -1.0, 2.0, 0.1, 0.0, 1.0], [3, 2]),
        classes: false,
        pseudo_labels: None,
        ..toy::examples(3, 4)
    };
    let cpc = Method::Cpc(Cpc {
        gradient_path: GradientPath::Open,
        ..Cpc::default_for(DataKind::Table)
    });
    let facts = LabelFacts {
        class_shares: vec![],
        rows: 7,
        labelled_rows: 4,
    };
    let recipe = cpc.recipe(&facts).expect("valid settings");
    check("regression", &recipe.stages[0].objective, &shape, &batch);
}

/// Pseudo-labels of rows without a label, and mixup, with input noise.
#[test]
fn pseudo_labels_and_mixup() {
    let pseudo_labels = vec![0.7, 0.2, 0.1, 0.1, 0.8, 0.1, 0.0, 0.1, 0.9];
    let batch = Examples {
        pseudo_labels: Some(toy::tensor(pseudo_labels, [3, 3])),
        ..toy::examples(4, 3)
    };
    let cpc = Method::Cpc(Cpc {
        gradient_path: GradientPath::Open,
        input_noise: 0.5,
        ..Cpc::default_for(DataKind::Table)
    });
    let options = ObjectiveOptions {
        pseudo_labels: Some(PseudoLabels {
            weight: 20.0,
            decay: 0.25,
            source: PseudoLabelSource::Ensemble,
            neighbours: 30,
            features: ComparedFeatures::Values,
            refreshes: 0,
            mixup: 2.0,
        }),
        ..ObjectiveOptions::default()
    };
    let recipe = cpc.recipe(&facts()).expect("valid settings");
    let recipe = recipe.with_options(&options, &facts());
    let objective = &recipe.stages[0].objective;
    let model = Model::new(&toy::shape(ModelKind::Vae), 1, &toy::compute());
    let terms = objective
        .terms(&model, &batch, &noise(), Progress::DONE)
        .expect("its model");
    // lambda 5, of which a quarter is gone at the end.
    let weight = |name: &str| terms.get(name).map(|term| term.weight);
    assert_eq!(weight("pseudo_labels"), Some(75.0));
    assert_eq!(weight("mixup"), Some(150.0));
    check("mixup", objective, &toy::shape(ModelKind::Vae), &batch);
}
