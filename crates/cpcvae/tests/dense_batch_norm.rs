//! Batch normalisation in dense networks: which statistics are used, and which are saved with a
//! run.

mod stop_at;
mod toy;

use burn::tensor::Device;
use cpcvae::config::{NetName, RunConfig, parse_settings};
use cpcvae::infer::Inference;
use cpcvae::method::{DataKind, LabelFacts, Method};
use cpcvae::model::{Model, Shape};
use cpcvae::noise::Noise;
use cpcvae::objective::{Examples, Progress};
use cpcvae::run::{RunFolder, run};
use cpcvae::train::{Parameters, Silent};
use cpcvae_data::{Matrix, Source, glyphs};
use stop_at::StopAt;

/// The methods whose networks use it by default.
const METHODS: [&str; 3] = ["adgm", "sdgm", "vat"];

/// Shape and model of a method after a step on the batch that only updates the running averages.
fn after_a_step(method: &str, batch: &Examples) -> (Shape, Model) {
    let facts = LabelFacts {
        class_shares: vec![0.5, 0.3, 0.2],
        rows: 9,
        labelled_rows: 4,
    };
    let recipe = Method::named(method, DataKind::Table)
        .expect("listed")
        .recipe(&facts)
        .expect("valid settings");
    let shape = Shape {
        batch_norm: true,
        ..toy::shape(recipe.kind)
    };
    let mut model = Model::new(&shape, 1, &toy::compute());
    let noise = Noise::new(5, 1, &toy::device());
    let objective = &recipe.stages[0].objective;
    objective
        .terms(&model, batch, &noise, Progress::DONE)
        .expect("its model");
    model.update_running_statistics();
    (shape, model)
}

fn averages(model: &Model) -> Parameters {
    let mut parameters = Parameters::of(model);
    parameters.0.retain(|name, _| name.ends_with("running"));
    parameters
}

#[test]
fn every_hidden_layer_has_averages_and_a_step_fills_them() {
    // Two hidden layers in each of five networks, and in one.
    for (method, layers) in METHODS.into_iter().zip([10, 10, 2]) {
        let (shape, model) = after_a_step(method, &toy::examples(4, 5));
        let fresh = averages(&Model::new(&shape, 1, &toy::compute()));
        let filled = averages(&model);
        assert_eq!(filled.0.len(), layers, "{method}");
        for (name, values) in &filled.0 {
            assert_ne!(fresh.0[name], *values, "{method}: {name}");
        }
    }
}

/// Labelled rows pass through the predicting networks together with the others, so they affect the
/// averages. The pass with their labels comes after that of the other rows and is ignored.
#[test]
fn averages_are_of_all_rows_whatever_their_labels() {
    let batch = toy::examples(4, 5);
    let mut moved = toy::values(batch.features.clone());
    moved[0] += 1.0; // of the first row, which has a label
    let moved = Examples {
        features: toy::tensor(moved, [9, toy::FEATURES]),
        ..batch.clone()
    };
    let relabelled = Examples {
        labels: toy::one_hot(&[2, 2, 1, 1]),
        ..batch.clone()
    };
    for method in METHODS {
        let [before, moved, relabelled] =
            [&batch, &moved, &relabelled].map(|batch| averages(&after_a_step(method, batch).1));
        assert_eq!(before, relabelled, "{method}");
        for (name, values) in &before.0 {
            assert_ne!(moved.0[name], *values, "{method}: {name}");
        }
    }
}

#[test]
fn an_answer_does_not_depend_on_the_rows_beside_it() {
    for method in METHODS {
        let (shape, model) = after_a_step(method, &toy::examples(4, 5));
        let inference = Inference::new(&model, &shape, &Device::flex(), 0);
        let rows = 7;
        let values = toy::values(toy::features(rows));
        let all = Matrix::new(rows, shape.features, values).expect("fits");
        let together = inference.predict(&all, 0).expect("predicts");
        for row in 0..rows {
            let alone = Matrix::new(1, shape.features, all.row(row).to_vec()).expect("fits");
            let answer = inference.predict(&alone, 0).expect("predicts");
            for (a, b) in answer.values.iter().zip(together.row(row)) {
                assert!((a - b).abs() < 1e-5, "{method}, row {row}: {a} and {b}");
            }
        }
    }
}

fn config(method: &str) -> RunConfig {
    let settings = [
        "model.hidden=[20, 20]",
        "model.code=4",
        "train.labelled_per_batch=6",
        "train.unlabelled_per_batch=6",
        "train.steps=6",
        "train.log_every=1",
        "train.evaluate_every=4",
        "data.validation=10",
        "data.labels=10",
    ];
    let settings: Vec<String> = settings.iter().map(|s| s.to_string()).collect();
    RunConfig::defaults(method, DataKind::Images, "glyphs")
        .expect("listed")
        .overlaid(&parse_settings(&settings).expect("well formed"), "test")
        .expect("known keys")
}

#[test]
fn a_resumed_run_equals_an_uninterrupted_one() {
    let rows = || Source::from(glyphs(40, 3).expect("drawn"));
    for method in METHODS {
        let config = config(method);
        assert!(config.model.batch_norm, "{method}");
        let folders = [(); 2].map(|()| tempfile::tempdir().expect("a temporary folder"));
        let [whole, parts] = folders
            .each_ref()
            .map(|f| RunFolder::at(f.path().join("run")));
        let device = Device::flex();
        run(&config, rows(), Some(&whole), &device, &mut Silent).expect("trains");
        for stop in [3, 1000] {
            run(
                &config,
                rows(),
                Some(&parts),
                &device,
                &mut StopAt::step(stop),
            )
            .expect("trains");
        }
        for file in ["metrics.jsonl", "model/model.safetensors"] {
            let [a, b] = [&whole, &parts].map(|f| std::fs::read(f.path().join(file)).expect(file));
            assert!(a == b, "{method}: {file} differs");
        }
    }
}

#[test]
fn where_it_is_not_built_it_is_refused() {
    let problem = |config: RunConfig| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let folder = RunFolder::at(folder.path().join("run"));
        let rows = Source::from(glyphs(40, 3).expect("drawn"));
        let result = run(&config, rows, Some(&folder), &Device::flex(), &mut Silent);
        result.expect_err("refused").to_string()
    };
    for method in ["m2", "m1-m2", "blended-m2"] {
        let mut config = config(method);
        assert!(!config.model.batch_norm);
        config.model.batch_norm = true;
        let message = problem(config);
        assert!(message.contains("model.batch_norm"), "{message}");
    }
    let mut wide = config("vat").with_net(NetName::Wrn);
    assert!(!wide.model.batch_norm);
    wide.model.batch_norm = true;
    let message = problem(wide);
    assert!(message.contains("convolutions"), "{message}");
}
