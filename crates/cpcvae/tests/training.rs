//! Complete trainings on small data.

mod stop_at;

use burn::tensor::Device;
use cpcvae::Error;
use cpcvae::config::{RunConfig, parse_settings};
use cpcvae::method::DataKind;
use cpcvae::run::{RunFolder, RunReport, Trained, run};
use cpcvae::train::{EvaluationReport, Observer, Silent, StopReason};
use cpcvae_data::{Dataset, HalfMoon, HalfMoonLabels, Labels, Layout, Matrix, Source};
use stop_at::StopAt;
use tempfile::TempDir;

const SMALL: [&str; 4] = [
    "model.hidden=[16]",
    "train.labelled_per_batch=16",
    "train.unlabelled_per_batch=16",
    "train.log_every=1",
];

fn config(method: &str, settings: &[&str]) -> RunConfig {
    let all: Vec<String> = SMALL
        .iter()
        .chain(settings)
        .map(|s| s.to_string())
        .collect();
    RunConfig::defaults(method, DataKind::Table, "half-moon")
        .expect("listed")
        .overlaid(&parse_settings(&all).expect("well formed"), "test")
        .expect("known keys")
}

fn half_moon(labels: usize) -> Source {
    HalfMoon {
        labels,
        setting: HalfMoonLabels::EvenlySpaced,
        ..HalfMoon::default()
    }
    .generate()
    .expect("valid")
}

fn train(config: &RunConfig, source: Source, folder: &TempDir) -> cpcvae::Result<RunReport> {
    let folder = RunFolder::at(folder.path().join("run"));
    run(config, source, Some(&folder), &Device::flex(), &mut Silent).map(|run| run.report)
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn read(folder: &TempDir, name: &str) -> Vec<u8> {
    std::fs::read(folder.path().join("run").join(name)).expect(name)
}

#[test]
fn a_resumed_run_equals_an_uninterrupted_one() {
    let methods = [
        "cpc",
        "vae-then-mlp",
        "m2",
        "vat",
        "sdgm",
        "m1-m2",
        "blended-m2",
    ];
    for method in methods {
        let config = config(method, &["train.steps=60", "data.validation=0"]);
        let (whole, parts) = (folder(), folder());
        train(&config, half_moon(6), &whole).expect("trains");
        for stop in [7, 45, 1000] {
            let run_folder = RunFolder::at(parts.path().join("run"));
            let mut observer = StopAt::step(stop);
            let report = run(
                &config,
                half_moon(6),
                Some(&run_folder),
                &Device::flex(),
                &mut observer,
            )
            .expect("trains")
            .report;
            let expected = if stop < 60 {
                StopReason::Interrupted
            } else {
                StopReason::Complete
            };
            assert_eq!(report.fit.stop, expected, "{method}");
        }
        for file in ["metrics.jsonl", "model/model.safetensors"] {
            assert!(
                read(&whole, file) == read(&parts, file),
                "{method}: {file} differs"
            );
        }
    }
}

#[test]
fn a_run_does_not_go_on_with_other_settings() {
    let folder = folder();
    train(&config("pc", &["train.steps=5"]), half_moon(6), &folder).expect("trains");
    let error = train(
        &config("pc", &["train.steps=5", "method.beta=2"]),
        half_moon(6),
        &folder,
    )
    .expect_err("other settings");
    assert!(error.to_string().contains("beta = 2.0"), "{error}");
}

#[test]
fn a_saved_model_answers_as_the_report_says() {
    let folder = folder();
    let report = train(&config("cpc", &["train.steps=50"]), half_moon(6), &folder).expect("trains");
    let run_folder = RunFolder::at(folder.path().join("run"));
    let trained = Trained::open(&run_folder, &Device::flex(), 0).expect("finished run");
    let test = half_moon(6).test.expect("half-moon has a test set");
    let prepared = trained.card.preprocess.apply(test).expect("same columns");
    assert_eq!(Some(trained.inference.evaluate(&prepared)), report.test);
}

#[test]
fn dual_ascent_satisfies_a_feasible_constraint() {
    for (measure, target) in [("loss", "0.1"), ("accuracy", "0.99")] {
        let (measure, target) = (
            format!("constraint.measure={measure}"),
            format!("constraint.target={target}"),
        );
        let settings = [
            measure.as_str(),
            &target,
            "train.steps=1500",
            "method.prediction_weight=1",
            "model.hidden=[32,32]",
            "model.activation=relu",
            "train.learning_rate=3e-3",
        ];
        let report = train(&config("pc", &settings), half_moon(6), &folder()).expect("trains");
        let constraint = report.fit.constraint.expect("asked for");
        assert!(constraint.satisfied, "{constraint:?}");
    }
}

#[test]
fn a_sequence_of_lambdas_stops_at_the_first_that_satisfies() {
    let settings = [
        "constraint.measure=loss",
        "constraint.target=0.3",
        "constraint.solver=sequence",
        "method.prediction_weight=0.05",
        "constraint.factor=20",
        "model.hidden=[32,32]",
        "model.activation=relu",
        "train.steps=500",
        "train.learning_rate=3e-3",
    ];
    let report = train(&config("pc", &settings), half_moon(6), &folder()).expect("trains");
    let constraint = report.fit.constraint.expect("asked for");
    assert!(constraint.satisfied, "{constraint:?}");
    assert!(
        constraint.multiplier > 0.05 && report.fit.steps > 500,
        "{constraint:?}"
    );
}

/// Identical rows with different classes: no predictor has a loss below log 2.
fn contradictory() -> Source {
    let rows = 40;
    let values = (0..rows).flat_map(|row| [(row / 2) as f32 * 0.1, 1.0 - (row / 2) as f32 * 0.05]);
    let labels = Labels::Classes {
        names: vec!["no".into(), "yes".into()],
        of_row: (0..rows)
            .map(|row| (row < 20).then_some(row as u32 % 2))
            .collect(),
    };
    let layout = Layout::Columns(vec!["a".into(), "b".into()]);
    let features = Matrix::new(rows, 2, values.collect()).expect("right size");
    Dataset::new("contradictory", features, layout, labels)
        .expect("fits")
        .into()
}

#[test]
fn an_infeasible_constraint_is_reported() {
    let settings = [
        "constraint.measure=loss",
        "constraint.target=0.2",
        "train.steps=300",
    ];
    let report = train(&config("pc", &settings), contradictory(), &folder()).expect("trains");
    let constraint = report.fit.constraint.expect("asked for");
    assert!(!constraint.satisfied, "{constraint:?}");
    assert!(
        constraint.value > 0.2 && constraint.multiplier > 20.0,
        "{constraint:?}"
    );
}

#[test]
fn a_loss_that_is_not_finite_stops_with_the_last_good_checkpoint() {
    let folder = folder();
    let settings = [
        "train.steps=200",
        "train.learning_rate=1e30",
        "train.checkpoint_every=1",
    ];
    let error = train(&config("pc", &settings), half_moon(6), &folder).expect_err("diverges");
    let Error::NotFinite { term, .. } = &error else {
        panic!("{error}")
    };
    assert!(!term.is_empty());
    let last = folder.path().join("run/checkpoints/last.safetensors");
    if last.exists() {
        let file = cpcvae::train::TensorFile::load(&last).expect("a good checkpoint");
        assert_eq!(file.tensors.not_finite(), None);
    }
}

#[test]
fn early_stopping_ends_training_when_validation_stops_improving() {
    struct Evaluations(u64);
    impl Observer for Evaluations {
        fn on_evaluation(&mut self, _: &EvaluationReport<'_>) {
            self.0 += 1;
        }
    }
    let settings = [
        "data.validation=100",
        "data.labels=20",
        "train.steps=100000",
        "train.evaluate_every=5",
        "train.early_stop=3",
        "train.learning_rate=1e-2",
        "train.schedule=plateau",
    ];
    let config = config("labels-only", &settings);
    let moons = half_moon(6);
    let source = Source::from(moons.rows);
    let dir = folder();
    let mut observer = Evaluations(0);
    let run_folder = RunFolder::at(dir.path().join("run"));
    let report = run(
        &config,
        source,
        Some(&run_folder),
        &Device::flex(),
        &mut observer,
    )
    .expect("trains")
    .report;
    assert_eq!(report.fit.stop, StopReason::EarlyStop);
    assert_eq!(report.fit.kept_step + 15, report.fit.steps);
    assert_eq!(observer.0 * 5, report.fit.steps);
}

/// y = (sin 2a, a b), with 40 labels of 400.
fn curved() -> Source {
    let rows = 400;
    let place = |row: usize| {
        let (i, j) = (row % 20, row / 20);
        [i as f32 / 10.0 - 1.0, j as f32 / 10.0 - 1.0]
    };
    let values: Vec<f32> = (0..rows).flat_map(place).collect();
    let label = |row: usize| {
        let [a, b] = place(row);
        vec![10.0 + (2.0 * a).sin(), 100.0 * a * b]
    };
    let labels = Labels::Values {
        names: vec!["u".into(), "v".into()],
        of_row: (0..rows).map(|row| Some(label(row))).collect(),
        offsets: Vec::new(),
    };
    let layout = Layout::Columns(vec!["a".into(), "b".into()]);
    let features = Matrix::new(rows, 2, values).expect("right size");
    Dataset::new("curved", features, layout, labels)
        .expect("fits")
        .into()
}

#[test]
fn continuous_labels_of_several_dimensions_are_learnt() {
    for method in ["cpc", "pc", "vae-then-mlp"] {
        let settings = [
            "train.steps=1500",
            "train.learning_rate=5e-3",
            // With beta = 1, posterior collapse: evenly spread rows do not pay for a code.
            "method.beta=0.1",
            "data.labels=200",
            "data.test=100",
            "model.code=4",
            "model.predictor=[16]",
            "model.hidden=[32,32]",
            "model.activation=relu",
        ];
        let folder = folder();
        let report = train(&config(method, &settings), curved(), &folder).expect("trains");
        let r_squared = report
            .test
            .expect("a test set")
            .r_squared
            .expect("continuous");
        assert!(r_squared > 0.5, "{method}: {r_squared}");
    }
}

#[test]
fn methods_with_a_latent_class_refuse_continuous_labels() {
    for method in ["m2", "m1-m2", "adgm", "sdgm", "blended-m2"] {
        let error = train(&config(method, &["data.labels=40"]), curved(), &folder())
            .expect_err("no classes");
        assert!(error.to_string().contains("needs classes"), "{error}");
    }
}

/// With default settings, except for the size of the network and the number of steps.
#[test]
fn vat_follows_the_moons_from_six_labels() {
    let settings = ["model.hidden=[100,100]", "train.steps=1000"];
    let report = train(&config("vat", &settings), half_moon(6), &folder()).expect("trains");
    let accuracy = report.test.expect("a test set").accuracy.expect("classes");
    assert!(accuracy > 0.95, "{accuracy}");
}

#[test]
fn a_vae_needs_no_labels() {
    let mut source = Source::from(half_moon(6).rows);
    source.rows.labels = Labels::None;
    let folder = folder();
    train(&config("vae", &["train.steps=20"]), source.clone(), &folder).expect("trains");
    let run_folder = RunFolder::at(folder.path().join("run"));
    let trained = Trained::open(&run_folder, &Device::flex(), 0).expect("finished run");
    let error = trained
        .inference
        .predict(&source.rows.features, 0)
        .expect_err("no predictor");
    assert!(error.to_string().contains("does not predict"), "{error}");
    let other = tempfile::tempdir().expect("a temporary folder");
    let error = train(&config("cpc", &["train.steps=20"]), source, &other).expect_err("no labels");
    assert!(error.to_string().contains("label"), "{error}");
}

/// The paper's method on its toy data, in its setting, where there are more rows than labels.
#[test]
fn cpc_solves_half_moon_with_six_labels() {
    let settings = [
        "model.hidden=[100,100]",
        "train.steps=3000",
        "train.log_every=100",
        "train.labelled_per_batch=100",
        "train.unlabelled_per_batch=100",
    ];
    let report = train(&config("cpc", &settings), half_moon(6), &folder()).expect("trains");
    let accuracy = report.test.expect("a test set").accuracy.expect("classes");
    assert!(accuracy > 0.95, "{accuracy}");
}
