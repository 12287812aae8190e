//! Calibration and coverage on real rows; skipped with a message if CPCVAE_DATA does not have them.

mod sandbox;

use flate2::read::GzDecoder;
use sandbox::Sandbox;
use std::io::Read;
use std::path::PathBuf;

/// Of the first 2,000 digits every tenth has a label; the rest of 3,000 are predicted.
const TRAINING: usize = 2000;
const LABELLED_EVERY: usize = 10;
const ALL: usize = 3000;

fn optdigits() -> Option<String> {
    let folder = std::env::var_os("CPCVAE_DATA").map(PathBuf::from)?;
    let file = std::fs::File::open(folder.join("tabular/optdigits.csv.gz")).ok()?;
    let mut text = String::new();
    GzDecoder::new(file).read_to_string(&mut text).ok()?;
    Some(text)
}

#[test]
fn digits_are_covered_and_calibrated_as_stated() {
    let Some(text) = optdigits() else {
        eprintln!("skipped: CPCVAE_DATA has no tabular/optdigits.csv.gz");
        return;
    };
    let mut lines = text.lines();
    let header = lines.next().expect("a header");
    let rows: Vec<(&str, &str)> = lines
        .take(ALL)
        .map(|line| line.rsplit_once(',').expect("a class at the end"))
        .collect();
    let sandbox = Sandbox::new();
    let (mut train, mut test) = (format!("{header}\n"), format!("{header}\n"));
    for (place, (features, class)) in rows.iter().enumerate() {
        match place < TRAINING {
            true if place % LABELLED_EVERY == 0 => train += &format!("{features},{class}\n"),
            true => train += &format!("{features},\n"),
            false => test += &format!("{features},\n"),
        }
    }
    sandbox.write("train.csv", train);
    sandbox.write("test.csv", test);
    let quick = "--no-compare --folds 3 --max-steps 150 --set model.hidden=[100]";
    let fit = "fit train.csv --label class --out run ".to_string() + quick;
    sandbox.ok(&fit.split(' ').collect::<Vec<_>>());
    let truth: Vec<&str> = rows[TRAINING..].iter().map(|(_, class)| *class).collect();

    for coverage in [0.8, 0.9, 0.95] {
        let asked = coverage.to_string();
        let answers = sandbox.ok(&[
            "predict",
            "run",
            "test.csv",
            "--no-density",
            "--coverage",
            &asked,
        ]);
        let answers: Vec<Vec<&str>> = answers.lines().skip(1).map(cells).collect();
        let is_covered =
            |(line, class): &(&Vec<&str>, &&str)| line[12].split('|').any(|name| name == **class);
        let covered = answers.iter().zip(&truth).filter(is_covered).count();
        let covered = covered as f64 / truth.len() as f64;
        // Three standard deviations of the sampling error with 200 held-out labels.
        let off = 3.0 * (coverage * (1.0 - coverage) / 200.0f64).sqrt();
        assert!((covered - coverage).abs() < off, "{covered} of {coverage}");
    }

    let figures = String::from_utf8(sandbox.read("run/model/answers.json")).expect("text");
    let figures: serde_json::Value = serde_json::from_str(&figures).expect("JSON");
    let temperature = figures["temperature"].as_f64().expect("a number");
    let answers = sandbox.ok(&["predict", "run", "test.csv", "--no-density"]);
    let log_loss = |power: f64| {
        let mut sum = 0.0;
        for (line, class) in answers.lines().skip(1).map(cells).zip(&truth) {
            let p: Vec<f64> = line[2..12]
                .iter()
                .map(|cell| cell.parse::<f64>().expect("a number").powf(power))
                .collect();
            let class: usize = class.parse().expect("a digit");
            sum -= (p[class] / p.iter().sum::<f64>()).max(1e-12).ln();
        }
        sum / truth.len() as f64
    };
    // Calibrated: both halving and doubling all log-odds is worse.
    let (calibrated, less, more) = (log_loss(1.0), log_loss(0.5), log_loss(2.0));
    assert!(calibrated < less.min(more), "{calibrated}; {less}, {more}");
    // To the power T, probabilities are the uncalibrated ones. T was fitted on 200 labels: if it is
    // near 1, its side is chance, and costs a hundredth of the loss at most.
    let stated = log_loss(temperature);
    assert!(calibrated <= 1.01 * stated, "{calibrated} against {stated}");
}

fn cells(line: &str) -> Vec<&str> {
    line.split(',').collect()
}
