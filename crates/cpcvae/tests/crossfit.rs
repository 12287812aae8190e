//! Cross-fitting: which labels a training sees, and which files are kept.

mod stop_at;

use burn::tensor::Device;
use cpcvae::calibration::{Calibration, accuracies};
use cpcvae::config::{RunConfig, parse_settings};
use cpcvae::crossfit::{CrossFit, Folding, HeldOut, Spread};
use cpcvae::method::DataKind;
use cpcvae::pseudo_label::{Propagation, knn, propagate};
use cpcvae::run::RunFolder;
use cpcvae::train::{Observer, Silent};
use cpcvae_data::{Dataset, HalfMoon, HalfMoonLabels, Matrix, Split};
use std::path::Path;
use stop_at::StopAt;

fn config(steps: u64) -> RunConfig {
    let settings = [format!("train.steps={steps}"), "model.hidden=[8]".into()];
    RunConfig::defaults("cpc", DataKind::Table, "half-moon")
        .expect("listed")
        .overlaid(&parse_settings(&settings).expect("well formed"), "test")
        .expect("known keys")
}

/// Half-moon with 12 labels, and its split.
fn half_moon() -> (Dataset, Split) {
    let source = HalfMoon {
        rows: 200,
        labels: 12,
        setting: HalfMoonLabels::EvenlySpaced,
        ..HalfMoon::default()
    };
    let source = source.generate().expect("valid");
    (source.rows, source.split.expect("half-moon has one"))
}

const FOLDING: Folding = Folding {
    folds: 3,
    repeats: 2,
    labels: None,
    seed: 5,
};

#[test]
fn each_training_leaves_out_the_rows_it_is_measured_on() {
    let (data, split) = half_moon();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let fit = CrossFit::new(&data, &split, &FOLDING).expect("labels");
    assert_eq!((fit.parts(), fit.kept.len()), (6, 0));
    let mut all = HeldOut::empty(2);
    for part in 0..fit.parts() {
        let train = |observer: &mut dyn Observer| {
            let device = Device::flex();
            fit.train(part, &config(5), Some(folder.path()), &device, observer)
                .expect("trains")
        };
        assert_eq!(train(&mut StopAt::step(0)), None, "stopped, to be resumed");
        let first = train(&mut Silent).expect("runs to its end");
        // Finished: it predicts without a step, which would be stopped.
        assert_eq!(train(&mut StopAt::step(0)).as_ref(), Some(&first));
        let run = folder.path().join(fit.name(part));
        let used = Split::load(run.join("split.json")).expect("stored");
        assert!(first.rows.iter().all(|row| !used.labelled.contains(row)));
        // Not even as unlabelled rows.
        assert!(first.rows.iter().all(|row| !used.unlabelled.contains(row)));
        assert_eq!(used.labelled.len() + first.rows.len(), 12);
        assert!(!run.join("checkpoints").exists(), "only the model is kept");
        all.extend(first);
    }
    let mut rows = all.rows.clone();
    rows.sort_unstable();
    let twice: Vec<u32> = split.labelled.iter().flat_map(|row| [*row; 2]).collect();
    assert_eq!(rows, twice, "every label once a repeat");

    let sure_of_the_first = Matrix {
        rows: 60,
        columns: 2,
        values: [1.0, 0.0].repeat(60),
    };
    let answers = Calibration::unknown().with_held_out(&data, &all, &sure_of_the_first);
    let weights = &answers.class_weights;
    assert!(weights[0] > 1.5 && weights[1] < 0.5, "{weights:?}");
    let figures = answers.held_out.clone().expect("held out");
    assert_eq!(figures.rows, 12, "repeats are not more rows");
    let right = accuracies(&data, &all);
    let accuracy = figures.accuracy.expect("classes");
    assert!((accuracy.value - right.iter().sum::<f64>() / 12.0).abs() < 1e-9);
    assert!(accuracy.low < accuracy.value && accuracy.high - accuracy.low > 0.2);

    std::fs::create_dir_all(folder.path().join("model")).expect("writable");
    let run = RunFolder::at(folder.path());
    answers.save(&run).expect("writable");
    assert_eq!(Calibration::load(&run).expect("readable"), Some(answers));
    let nowhere = RunFolder::at(folder.path().join("nowhere"));
    assert_eq!(Calibration::load(&nowhere).expect("not there"), None);

    let other = fit.train(
        0,
        &config(6),
        Some(folder.path()),
        &Device::flex(),
        &mut Silent,
    );
    let message = other.expect_err("other settings").to_string();
    assert!(
        message.contains("fold-0") && message.contains("remove this folder"),
        "{message}"
    );
}

#[test]
fn fewer_labels_can_be_asked_for_and_all_are_measured_on_the_same_rows() {
    let (data, split) = half_moon();
    let few = Folding {
        labels: Some(4),
        repeats: 1,
        ..FOLDING
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let fit = CrossFit::new(&data, &split, &few).expect("labels");
    let held_out = fit
        .train(
            1,
            &config(2),
            Some(folder.path()),
            &Device::flex(),
            &mut Silent,
        )
        .expect("trains")
        .expect("runs to its end");
    let used = Split::load(Path::new(folder.path()).join("fold-1/split.json")).expect("stored");
    assert_eq!((used.labelled.len(), held_out.rows.len()), (4, 4));
    // The labels that it may not use are hidden; the held-out rows are left out.
    assert_eq!(used.labelled.len() + used.unlabelled.len(), 200 - 4);
}

#[test]
fn spreading_never_sees_the_labels_of_its_fold() {
    let (data, split) = half_moon();
    let fit = CrossFit::new(&data, &split, &FOLDING).expect("labels");
    // The number of labels passed must be 8 of the 12.
    fn counting(features: &[f32], width: usize, labels: &[(u32, u32)], classes: usize) -> Vec<f32> {
        assert_eq!((labels.len(), features.len() / width), (8, 200));
        vec![1.0 / classes as f32; features.len() / width * classes]
    }
    let even = fit.spread(0, &config(1), counting).expect("classes");
    assert_eq!(even.outputs, Matrix::new(4, 2, vec![0.5; 8]).expect("fits"));
    let spreading: Spread = |features, width, labels, classes| {
        propagate(features, width, labels, classes, &Propagation::default())
    };
    for spread in [knn, spreading] {
        let mut near = HeldOut::empty(2);
        for part in 0..3 {
            near.extend(fit.spread(part, &config(1), spread).expect("classes"));
        }
        let right: f64 = accuracies(&data, &near).iter().sum();
        assert!(right >= 8.0, "most of the 12 are told apart, {right}");
    }
}

#[test]
fn spreading_can_do_with_missing_cells() {
    let (mut data, split) = half_moon();
    let mut features = data.features.matrix();
    for row in (0..200).step_by(3) {
        features.values[2 * row + row % 2] = f32::NAN;
    }
    data.features = features.into();
    let fit = CrossFit::new(&data, &split, &FOLDING).expect("labels");
    let spreading: Spread = |features, width, labels, classes| {
        assert!(features.iter().any(|value| value.is_nan()));
        propagate(features, width, labels, classes, &Propagation::default())
    };
    for spread in [knn, spreading] {
        let found = fit.spread(0, &config(1), spread).expect("classes");
        assert!(found.outputs.values.iter().all(|share| share.is_finite()));
    }
}
