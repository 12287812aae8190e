//! Methods whose papers use black and white images, on grey ones with a normal likelihood.

use cpcvae::config::{RunConfig, parse_settings};
use cpcvae::device::device;
use cpcvae::distribution::Family;
use cpcvae::method::DataKind;
use cpcvae::run::{RunFolder, run};
use cpcvae::train::Silent;
use cpcvae_data::{Dataset, Labels, Layout, Matrix};

const SIDE: usize = 6;

/// Grey gradients, from left to right or from top to bottom, each of its own brightness.
fn slopes(rows: usize) -> Dataset {
    let pixel = |row: usize, i: usize| {
        let along = if row.is_multiple_of(2) {
            i % SIDE
        } else {
            i / SIDE
        };
        let light = 0.25 + 0.3 * (row as f32 * 0.618).fract();
        light + 0.4 * along as f32 / (SIDE - 1) as f32
    };
    let values = (0..rows).flat_map(|row| (0..SIDE * SIDE).map(move |i| pixel(row, i)));
    let layout = Layout::Image {
        height: SIDE,
        width: SIDE,
        channels: 1,
    };
    let labels = Labels::Classes {
        names: vec!["across".into(), "down".into()],
        of_row: (0..rows).map(|row| Some(row as u32 % 2)).collect(),
    };
    let features = Matrix::new(rows, SIDE * SIDE, values.collect()).expect("fits");
    Dataset::new("slopes", features, layout, labels).expect("fits")
}

#[test]
fn they_learn_what_would_be_lost_by_binarising() {
    let settings = [
        "model.hidden=[30]",
        "model.code=4",
        "train.steps=400",
        "train.shift=0",
        "train.learning_rate=3e-3",
        "train.labelled_per_batch=10",
        "train.unlabelled_per_batch=40",
        "data.labels=10",
        "data.test=100",
    ];
    let settings: Vec<String> = settings.iter().map(|s| s.to_string()).collect();
    let settings = parse_settings(&settings).expect("well formed");
    for method in ["m2", "m1-m2", "adgm", "sdgm", "blended-m2", "m1"] {
        let data = slopes(400);
        let config = RunConfig::defaults(method, DataKind::Images, "slopes")
            .expect("listed")
            .with_data_dependent_defaults(&data, false)
            .overlaid(&settings, "test")
            .expect("known keys");
        assert_eq!(config.model.likelihood, Family::Normal, "{method}");
        let folder = tempfile::tempdir().expect("a temporary folder");
        let folder = RunFolder::at(folder.path().join("run"));
        let cpu = device("cpu").expect("the CPU is always there");
        let report = run(&config, data.into(), Some(&folder), &cpu, &mut Silent)
            .expect("trains")
            .report;
        let test = report.test.expect("test rows");
        let accuracy = test.accuracy.expect("classes");
        assert!(accuracy > 0.9, "{method}: {accuracy}");
        // A normal with the pixels' own spread, about 0.35 on the scale from -1 to 1, has -0.4 nats
        // a pixel, or -13 an image. An ELBO above 0 requires modelling the gradient.
        let elbo = test.elbo.expect("a generative model");
        assert!(elbo.is_finite() && elbo > 0.0, "{method}: {elbo}");
    }
}
