//! Each training and each model has its own precision, packed weights and buffers, unaffected by
//! others in the process.

mod toy;

use burn::tensor::Device;
use cpcvae::config::{RunConfig, parse_settings};
use cpcvae::infer::Inference;
use cpcvae::method::DataKind;
use cpcvae::model::{Model, ModelKind, Shape};
use cpcvae::op::{Compute, Precision};
use cpcvae::run::{RunFolder, Trained, run};
use cpcvae::train::Silent;
use cpcvae_data::{HalfMoon, Matrix, Source};
use std::path::Path;

/// Layers that are large enough to be rounded.
fn wide() -> Shape {
    Shape {
        hidden: vec![300, 300],
        ..toy::shape(ModelKind::Vae)
    }
}

fn answers(precision: Precision) -> Vec<f32> {
    let compute = Compute::new(&Device::flex(), precision);
    let model = Model::new(&wide(), 1, &compute);
    let inference = Inference::new(&model, &wide(), &Device::flex(), 1);
    let values = (0..500 * toy::FEATURES).map(|i| (i as f32 * 0.7).sin());
    let rows = Matrix {
        rows: 500,
        columns: toy::FEATURES,
        values: values.collect(),
    };
    inference.predict(&rows, 0).expect("it has classes").values
}

#[test]
fn models_of_two_precisions_answer_beside_each_other_as_alone() {
    let [f32, bf16] = [Precision::F32, Precision::Bf16].map(answers);
    assert_ne!(f32, bf16);
    std::thread::scope(|scope| {
        let both = [Precision::F32, Precision::Bf16].repeat(3);
        let both: Vec<_> = both
            .into_iter()
            .map(|precision| scope.spawn(move || answers(precision)))
            .collect();
        for (place, thread) in both.into_iter().enumerate() {
            let found = thread.join().expect("no panic");
            assert_eq!(found, if place % 2 == 0 { &*f32 } else { &*bf16 });
        }
    });
}

fn half_moon() -> Source {
    HalfMoon::default().generate().expect("valid")
}

fn train(seed: u64, precision: &str, folder: &Path) {
    let settings = [
        "model.hidden=[300, 300]".to_string(),
        "train.labelled_per_batch=20".to_string(),
        "train.unlabelled_per_batch=30".to_string(),
        "train.steps=12".to_string(),
        format!("train.precision={precision}"),
        format!("seed={seed}"),
    ];
    let config = RunConfig::defaults("cpc", DataKind::Table, "half-moon")
        .expect("listed")
        .overlaid(&parse_settings(&settings).expect("well formed"), "test")
        .expect("known keys");
    let folder = RunFolder::at(folder);
    run(
        &config,
        half_moon(),
        Some(&folder),
        &Device::flex(),
        &mut Silent,
    )
    .expect("trains");
}

#[test]
fn trainings_beside_each_other_make_the_same_models_as_alone() {
    let all = [(1, "bf16"), (2, "bf16"), (1, "f32")];
    let place = tempfile::tempdir().expect("a temporary folder");
    let folder = |how: &str, (seed, precision): (u64, &str)| {
        place.path().join(format!("{how}-{precision}-{seed}"))
    };
    for one in all {
        train(one.0, one.1, &folder("alone", one));
    }
    std::thread::scope(|scope| {
        for one in all {
            let folder = folder("beside", one);
            scope.spawn(move || train(one.0, one.1, &folder));
        }
    });
    let read = |how: &str, one| {
        let file = folder(how, one).join("model/model.safetensors");
        std::fs::read(file).expect("a finished run")
    };
    for one in all {
        assert!(read("alone", one) == read("beside", one), "{one:?}");
    }
    let tensors = |one| Trained::open(&RunFolder::at(folder("alone", one)), &Device::flex(), 0);
    let [rounded, exact] = [(1, "bf16"), (1, "f32")].map(|one| tensors(one).expect("finished"));
    assert_eq!(rounded.card.precision, Some(Precision::Bf16));
    assert_eq!(exact.card.precision, Some(Precision::F32));
}

/// By default it predicts with the precision of its training, otherwise with the given one.
#[test]
fn a_model_answers_in_the_precision_of_its_card() {
    let place = tempfile::tempdir().expect("a temporary folder");
    train(1, "bf16", place.path());
    let answers = |precision: Option<Precision>| {
        let folder = RunFolder::at(place.path());
        let trained = Trained::open_with(&folder, &Device::flex(), precision, 0).expect("finished");
        let rows = trained
            .card
            .preprocess
            .apply(half_moon().rows)
            .expect("same columns");
        trained
            .inference
            .predict(&rows.features, 0)
            .expect("it has classes")
            .values
    };
    let [of_card, bf16, f32] = [None, Some(Precision::Bf16), Some(Precision::F32)].map(answers);
    assert_eq!(of_card, bf16);
    assert_ne!(of_card, f32);
}
