//! Methods reduce to each other, and M2's bound equals its sum over classes.

mod toy;

use cpcvae::method::{
    BlendedM2, Cpc, DataKind, LabelFacts, LabelsOnly, M2, Method, MethodSettings, ObjectiveOptions,
    Pc, PlainVae, Recipe, SupervisedVae, Vat,
};
use cpcvae::model::Model;
use cpcvae::noise::{Noise, NoisePurpose};
use cpcvae::objective::{LabelledEvidence, Progress, labelled_bound, unlabelled_bound};
use cpcvae::train::Parameters;

fn recipe(method: &Method) -> Recipe {
    let facts = LabelFacts {
        class_shares: vec![0.5, 0.3, 0.2],
        rows: 9,
        labelled_rows: 4,
    };
    method.recipe(&facts).expect("valid settings")
}

/// The loss of a method's only stage on the toy batch.
fn loss(method: Method) -> f32 {
    let kind = recipe(&method).kind;
    loss_of(&Model::new(&toy::shape(kind), 1, &toy::compute()), method)
}

fn loss_of(model: &Model, method: Method) -> f32 {
    let recipe = recipe(&method);
    let noise = Noise::new(3, 11, &toy::device());
    let terms = recipe.stages[0]
        .objective
        .terms(model, &toy::examples(4, 5), &noise, Progress::DONE)
        .expect("its model");
    terms.loss().expect("some weight").into_scalar()
}

fn cpc(consistency: f64) -> Cpc {
    Cpc {
        consistency_weight: consistency,
        aggregate_weight: 0.0,
        entropy_weight: 0.0,
        ..Cpc::default_for(DataKind::Table)
    }
}

#[test]
fn pc_with_lambda_zero_is_the_vae() {
    let pc = Method::Pc(Pc {
        prediction_weight: 0.0,
        beta: 1.3,
        predictor_norm: 0.0,
    });
    assert_eq!(loss(pc), loss(Method::Vae(PlainVae { beta: 1.3 })));
}

#[test]
fn cpc_with_gamma_zero_is_pc() {
    let pc = Method::Pc(Pc::default_for(DataKind::Table));
    assert_eq!(loss(Method::Cpc(cpc(0.0))), loss(pc.clone()));
    assert_ne!(loss(Method::Cpc(cpc(1.0))), loss(pc));
}

#[test]
fn the_supervised_vae_is_pc_with_lambda_one() {
    let pc = Method::Pc(Pc {
        prediction_weight: 1.0,
        ..Pc::default_for(DataKind::Table)
    });
    let supervised = Method::SupervisedVae(SupervisedVae::default_for(DataKind::Table));
    assert_eq!(loss(supervised), loss(pc));
}

/// In a batch of four labelled and five unlabelled rows with evidence weighted as in the data,
/// where a tenth of the rows is labelled, the sum over rows is that of the paper: five unlabelled
/// rows have 5/9 of a labelled one. If batch and data have the same share, nothing changes.
#[test]
fn evidence_of_labelled_rows_counts_as_in_the_data() {
    let model = Model::new(
        &toy::shape(cpcvae::model::ModelKind::Vae),
        1,
        &toy::compute(),
    );
    let evidence = |labelled_evidence, labelled_rows, labelled: usize, unlabelled: usize| {
        let facts = LabelFacts {
            class_shares: vec![0.5, 0.3, 0.2],
            rows: 90,
            labelled_rows,
        };
        let options = ObjectiveOptions {
            labelled_evidence,
            ..ObjectiveOptions::default()
        };
        let recipe = Method::Pc(Pc::default_for(DataKind::Table))
            .recipe(&facts)
            .expect("valid settings")
            .with_options(&options, &facts);
        let noise = Noise::new(3, 11, &toy::device());
        let batch = toy::examples(labelled, unlabelled);
        let objective = &recipe.stages[0].objective;
        let terms = objective
            .terms(&model, &batch, &noise, Progress::DONE)
            .expect("its model");
        ["reconstruction", "kl"].map(|name| {
            let term = terms.get(name).expect("evidence");
            term.value.clone().into_scalar::<f32>()
        })
    };
    let all = evidence(LabelledEvidence::Batch, 9, 4, 5);
    assert_eq!(all, evidence(LabelledEvidence::Data, 40, 4, 5));
    // The same rows and noise: the first four alone, and the resulting value for the others.
    let first = evidence(LabelledEvidence::Batch, 9, 4, 0);
    let weighted = evidence(LabelledEvidence::Data, 9, 4, 5);
    for ((all, first), weighted) in all.into_iter().zip(first).zip(weighted) {
        let others = (9.0 * all - 4.0 * first) / 5.0;
        let expected = (5.0 / 9.0 * first + 5.0 * others) / 9.0;
        assert!((weighted - expected).abs() < 1e-5, "{weighted}, {expected}");
    }
}

/// Up to the scale: the mean is over all rows of the batch, of which four in nine have labels.
#[test]
fn vat_without_its_own_terms_is_labels_only() {
    let vat = Vat {
        adversarial_weight: 0.0,
        entropy_weight: 0.0,
        ..Vat::default_for(DataKind::Table)
    };
    let labels_only = loss(Method::LabelsOnly(LabelsOnly {}));
    assert!((loss(Method::Vat(vat.clone())) - labels_only * 4.0 / 9.0).abs() < 1e-6);
    for change in [
        |v: &mut Vat| v.adversarial_weight = 1.0,
        |v: &mut Vat| v.entropy_weight = 1.0,
    ] {
        let mut changed = vat.clone();
        change(&mut changed);
        assert!(loss(Method::Vat(changed)) > loss(Method::Vat(vat.clone())));
    }
}

fn blended(blend: f64, classification_weight: f64) -> Method {
    Method::BlendedM2(BlendedM2 {
        blend,
        classification_weight,
        ..BlendedM2::default_for(DataKind::Table)
    })
}

/// Blended M2 whose predictor differs from q(y|x), and the squared distance.
fn moved_apart() -> (Model, f64) {
    let kind = recipe(&blended(1.0, 1.0)).kind;
    let model = Model::new(&toy::shape(kind), 1, &toy::compute());
    let mut parameters = Parameters::of(&model);
    let mut squares = 0.0;
    for (name, (_, values)) in &mut parameters.0 {
        if name.contains("discriminative") {
            values.iter_mut().for_each(|value| *value += 0.25);
            squares += values.len() as f64 / 16.0;
        }
    }
    assert!(squares > 0.0);
    (parameters.apply(model).expect("the same shapes"), squares)
}

#[test]
fn with_blend_zero_blended_m2_is_m2() {
    let m2 = Method::M2(M2 {
        classification_weight: 0.7,
        ..M2::default()
    });
    assert_eq!(recipe(&blended(0.0, 0.7)), recipe(&m2));
    // For any other blend too if the two classifiers are the same, as at the start.
    assert_eq!(loss(blended(0.4, 0.7)), loss(m2));
}

/// M2 without the log-loss of labels, and a network on labelled rows.
#[test]
fn with_blend_one_blended_m2_is_two_separate_models() {
    let (model, _) = moved_apart();
    let Model::LabelVae(both) = &model else {
        panic!("blended M2 is an M2")
    };
    let batch = toy::examples(4, 5);
    let own = both.predict(batch.labelled_features());
    let log_loss: f32 = own.cross_entropy(batch.labels).sum().into_scalar();
    let m2 = loss(blended(1.0, 0.0));
    let together = loss_of(&model, blended(1.0, 0.7));
    assert!((together - (m2 + 0.7 * log_loss / 9.0)).abs() < 1e-5);
}

/// -log N(difference; 0, sigma^2 I) up to a constant, shared by the nine rows.
#[test]
fn in_between_the_prior_ties_the_classifiers() {
    let (model, squares) = moved_apart();
    for blend in [0.3, 0.5, 0.8f64] {
        let sigma = (blend / (1.0 - blend)).powi(2);
        let expected = squares / (2.0 * sigma * sigma * 9.0);
        let free = f64::from(loss_of(&model, blended(1.0, 0.1)));
        let tied = f64::from(loss_of(&model, blended(blend, 0.1)));
        let scale = expected.max(1.0);
        assert!(((tied - free) - expected).abs() / scale < 1e-4, "{blend}");
    }
}

#[test]
fn every_weight_of_cpc_counts() {
    let base = loss(Method::Cpc(cpc(1.0)));
    let changes: [fn(&mut Cpc); 6] = [
        |c| c.prediction_weight *= 2.0,
        |c| c.consistency_weight *= 2.0,
        |c| c.aggregate_weight = 1.0,
        |c| c.entropy_weight = 1.0,
        |c| c.beta = 2.0,
        |c| c.predictor_norm = 5.0,
    ];
    for (i, change) in changes.iter().enumerate() {
        let mut changed = cpc(1.0);
        change(&mut changed);
        assert_ne!(loss(Method::Cpc(changed)), base, "change {i}");
    }
}

/// L^U = sum_y q(y|x) (L^S(x, y) - log q(y|x)), the sum written out class by class.
#[test]
fn the_unlabelled_bound_of_m2_is_the_explicit_sum_over_labels() {
    let Model::LabelVae(model) = toy::label_vae() else {
        panic!("m2 trains a LabelVae")
    };
    let (rows, classes) = (6, toy::CLASSES);
    let x = toy::features(rows);
    let noise =
        Noise::new(5, 2, &toy::device()).normal(NoisePurpose::Code, [rows * classes, model.code()]);
    let fast = toy::values(unlabelled_bound(&model, x.clone(), noise.clone()));

    let q = toy::values(model.classify(x.clone()).probs());
    let mut explicit = vec![0.0f64; rows];
    for class in 0..classes {
        // Row i * classes + k of the noise belongs to row i and class k.
        let of_class: Vec<i32> = (0..rows).map(|i| (i * classes + class) as i32).collect();
        let of_class = burn::tensor::Tensor::from_data(
            burn::tensor::TensorData::new(of_class, [rows]),
            &toy::device(),
        );
        let noise = noise.clone().select(0, of_class);
        let bound = labelled_bound(&model, x.clone(), toy::one_hot(&vec![class; rows]), noise);
        for (row, bound) in toy::values(bound).into_iter().enumerate() {
            let q = f64::from(q[row * classes + class]);
            explicit[row] += q * (f64::from(bound) - q.ln());
        }
    }
    for (fast, explicit) in fast.iter().zip(&explicit) {
        assert!(
            (f64::from(*fast) - explicit).abs() < 1e-4,
            "{fast} {explicit}"
        );
    }
}

/// Style dimensions reach the decoder but not the predictor.
#[test]
fn the_predictor_does_not_see_style_dimensions() {
    let shape = cpcvae::model::Shape {
        code: 5,
        style: 2,
        ..toy::shape(cpcvae::model::ModelKind::Vae)
    };
    let model = cpcvae::model::Vae::new(&shape, 1, &toy::compute());
    let z = Noise::new(1, 1, &toy::device()).normal(NoisePurpose::Code, [4, 5]);
    let mut moved = toy::values(z.clone());
    moved.chunks_exact_mut(5).for_each(|row| row[4] += 1.0);
    let moved = toy::tensor(moved, [4, 5]);
    assert_eq!(
        toy::values(model.predict(z.clone())),
        toy::values(model.predict(moved.clone()))
    );
    assert_ne!(
        toy::values(model.decode(z).mean()),
        toy::values(model.decode(moved).mean())
    );
}
