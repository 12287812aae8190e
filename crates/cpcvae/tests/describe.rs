//! Quality measurements of small models on small data.

use burn::tensor::Device;
use cpcvae::config::{RunConfig, parse_settings};
use cpcvae::describe::{
    Description, Drawn, Effort, Judge, Measured, Parts, Way, check_comparable, check_generative,
    describe, train_classifier, train_plain_vae,
};
use cpcvae::method::DataKind;
use cpcvae::run::{RunFolder, Trained, run};
use cpcvae::train::{Observer, Silent, StepReport};
use cpcvae_data::{HalfMoon, HalfMoonLabels, Labels, Source, Split, glyphs};
use tempfile::TempDir;

const EFFORT: Effort = Effort {
    draws: 5,
    samples: 20,
    threshold: 0.6,
    most_codes: 2000,
    noisy: false,
};

/// A finished run in a folder of its own.
struct Run {
    _place: TempDir,
    folder: RunFolder,
    config: RunConfig,
    source: Source,
    trained: Trained,
}

impl Run {
    fn new(method: &str, kind: DataKind, source: Source, settings: &[&str]) -> Self {
        let place = tempfile::tempdir().expect("a temporary folder");
        let folder = RunFolder::at(place.path().join("run"));
        let settings: Vec<String> = settings.iter().map(|text| text.to_string()).collect();
        let settings = parse_settings(&settings).expect("well formed");
        let config = RunConfig::defaults(method, kind, "half-moon")
            .and_then(|config| config.overlaid(&settings, "test"))
            .expect("known keys");
        run(
            &config,
            source.clone(),
            Some(&folder),
            &Device::flex(),
            &mut Silent,
        )
        .expect("trains");
        let trained = Trained::open(&folder, &Device::flex(), 0).expect("finished");
        Self {
            _place: place,
            folder,
            config,
            source,
            trained,
        }
    }

    fn parts(&self, most: usize) -> cpcvae::Result<Parts> {
        let split = Split::load(self.folder.path().join("split.json"))?;
        Parts::new(self.source.clone(), &split, &self.trained, most)
    }

    fn judge(&self, parts: &Parts, observer: &mut dyn Observer) -> Option<Judge> {
        let device = Device::flex();
        train_classifier(parts, &self.config, Some(&self.folder), &device, observer)
            .expect("trains")
    }

    fn plain(&self, parts: &Parts, observer: &mut dyn Observer) -> Option<Trained> {
        let device = Device::flex();
        train_plain_vae(parts, &self.config, Some(&self.folder), &device, observer).expect("trains")
    }

    fn description(&self, effort: Effort) -> (Description, Vec<Drawn>) {
        let parts = self.parts(200).expect("fits");
        let judge = self.judge(&parts, &mut Silent);
        let plain = self.plain(&parts, &mut Silent);
        describe(
            &self.trained,
            &parts,
            plain.as_ref(),
            judge.as_ref(),
            effort,
        )
        .expect("measured")
    }
}

fn half_moon() -> Source {
    HalfMoon {
        labels: 20,
        setting: HalfMoonLabels::Random,
        ..HalfMoon::default()
    }
    .generate()
    .expect("valid")
}

const SMALL: [&str; 4] = [
    "model.hidden=[16]",
    "train.steps=300",
    "train.labelled_per_batch=20",
    "train.unlabelled_per_batch=80",
];

/// Counts logged steps, and stops at one.
struct Watch {
    steps_seen: u64,
    stop_at: u64,
}

impl Observer for Watch {
    fn on_step(&mut self, _: &StepReport<'_>) {
        self.steps_seen += 1;
    }
    fn wants_stop(&mut self) -> bool {
        self.steps_seen >= self.stop_at
    }
}

#[test]
fn half_moon_is_described() {
    let run = Run::new("cpc", DataKind::Table, half_moon(), &SMALL);
    let (found, drawn) = run.description(EFFORT);
    assert_eq!((found.rows, found.measured), (200, Measured::Test));
    assert_eq!(found.scale_floor, Some(run.config.model.scale_floor as f32));
    let beside = found.beside.expect("a plain VAE");
    let more = found.more_than_beside.expect("a plain VAE");
    let expected = 100.0 * (found.log_likelihood - beside) / beside.abs();
    assert!((more - expected).abs() < 1e-9);
    let error = found.reconstructed.squared_error.expect("numbers");
    assert!(error > 0.0 && error < 1.0, "{error}");
    assert_eq!(found.reconstructed.ink, None, "a table has no ink");
    // All 1000 labels of the training part, though the run used 20.
    assert_eq!(found.classifier_labels, Some(1000));
    assert!(found.classifier_accuracy.expect("labels") > 0.97);
    let ways: Vec<Way> = drawn.iter().map(|drawn| drawn.way).collect();
    assert_eq!(ways, [Way::Prior, Way::Fitted]);
    let real = found.frechet_of_real_rows.expect("rows");
    for way in &found.samples {
        assert_eq!(way.classes.len(), 2);
        assert!(way.frechet.expect("samples") >= 0.0 && real >= 0.0);
        for class in &way.classes {
            assert_eq!(class.too_rare, class.found < EFFORT.samples, "{class:?}");
            assert!((0.0..=1.0).contains(&class.acceptance));
            assert_eq!(class.taken.is_some(), class.found > 0);
        }
    }
}

#[test]
fn a_class_that_is_too_rare_is_reported_and_no_error() {
    let run = Run::new("cpc", DataKind::Table, half_moon(), &SMALL);
    let never = Effort {
        threshold: 1.0,
        most_codes: 50,
        ..EFFORT
    };
    let (found, _) = run.description(never);
    let class = &found.samples[0].classes[0];
    assert!(
        class.too_rare && class.found < 20 && class.drawn == 50,
        "{class:?}"
    );
}

#[test]
fn what_is_trained_beside_is_kept_and_goes_on() {
    let run = Run::new("pc", DataKind::Table, half_moon(), &SMALL);
    let parts = run.parts(50).expect("fits");
    let mut stopped = Watch {
        steps_seen: 0,
        stop_at: 5,
    };
    assert!(run.plain(&parts, &mut stopped).is_none());
    let whole = || Watch {
        steps_seen: 0,
        stop_at: u64::MAX,
    };
    let (mut first, mut second) = (whole(), whole());
    assert!(run.plain(&parts, &mut first).is_some());
    assert!(
        first.steps_seen > 0 && first.steps_seen < 30,
        "{} of 30",
        first.steps_seen
    );
    assert!(run.plain(&parts, &mut second).is_some());
    assert_eq!(
        second.steps_seen, 0,
        "a finished model is not trained again"
    );
    // Another length: another plain VAE.
    let mut longer = run.config.clone();
    longer.train.steps += 10;
    let mut third = whole();
    let device = Device::flex();
    train_plain_vae(&parts, &longer, Some(&run.folder), &device, &mut third).expect("trains");
    assert!(third.steps_seen > 0);
}

#[test]
fn m2_draws_of_a_class_directly() {
    let run = Run::new("m2", DataKind::Table, half_moon(), &SMALL);
    let (found, _) = run.description(EFFORT);
    assert_eq!(found.samples.len(), 1);
    assert_eq!(found.samples[0].way, Way::Direct);
    for class in &found.samples[0].classes {
        assert_eq!((class.found, class.acceptance), (20, 1.0));
    }
}

#[test]
fn a_plain_vae_has_samples_and_no_classes() {
    let run = Run::new("vae", DataKind::Table, half_moon(), &SMALL);
    let parts = run.parts(50).expect("fits");
    let judge = run.judge(&parts, &mut Silent);
    let (found, _) = describe(&run.trained, &parts, None, judge.as_ref(), EFFORT).expect("works");
    assert_eq!(found.beside, None);
    assert!(found.samples.iter().all(|way| way.classes.is_empty()));
    assert!(found.samples.iter().all(|way| way.frechet.is_some()));
}

#[test]
fn images_have_ink() {
    let all = glyphs(300, 1).expect("drawn");
    let source = Source {
        rows: all.select(&(0..250).collect::<Vec<_>>()),
        test: Some(all.select(&(250..300).collect::<Vec<_>>())),
        split: None,
    };
    let settings = [&SMALL[..2], &["data.labels=50", "train.steps=60"]].concat();
    let run = Run::new("cpc", DataKind::Images, source, &settings);
    let (found, drawn) = run.description(EFFORT);
    assert_eq!(found.rows, 50);
    assert!(found.reconstructed.ink.expect("images") >= 0.0);
    assert!(
        found.classifier_accuracy.expect("labels") > 0.8,
        "{found:?}"
    );
    let pixels = &drawn[0].groups[0].rows;
    assert_eq!(pixels.columns, all.width());
}

#[test]
fn what_makes_no_sense_is_refused() {
    let run = Run::new("labels-only", DataKind::Table, half_moon(), &SMALL);
    let problem = check_generative(&run.trained).expect_err("nothing to describe");
    assert!(
        problem.to_string().contains("no generative part"),
        "{problem}"
    );

    let run = Run::new("vae", DataKind::Table, half_moon(), &SMALL);
    let floor = [&SMALL[..], &["model.scale_floor=0.1"]].concat();
    let other = Run::new("vae", DataKind::Table, half_moon(), &floor);
    let problem = check_comparable(&run.trained, &other.trained).expect_err("floors differ");
    assert!(
        problem
            .to_string()
            .contains("`model.scale_floor` of the run is 0.01"),
        "{problem}"
    );

    // Fewer rows than in the split, other columns, and nothing held out.
    let mut fewer = run.source.clone();
    fewer.rows = fewer.rows.select(&[0, 1, 2]);
    let split = Split::load(run.folder.path().join("split.json")).expect("stored");
    let error = |source| Parts::new(source, &split, &run.trained, 10).expect_err("other data");
    assert!(error(fewer).to_string().contains("is not the data"));
    let unlike: Source = glyphs(1000, 1).expect("drawn").into();
    let unlike = Source {
        test: Some(unlike.rows.clone()),
        ..unlike
    };
    assert!(error(unlike).to_string().contains("does not fit the model"));
    let mut all_learnt = run.source.clone();
    all_learnt.test = None;
    assert!(
        error(all_learnt)
            .to_string()
            .contains("trained on all rows")
    );
}

#[test]
fn without_classes_there_is_no_judge() {
    let mut source = half_moon();
    for data in [Some(&mut source.rows), source.test.as_mut()] {
        data.expect("half-moon has test rows").labels = Labels::None;
    }
    let run = Run::new("vae", DataKind::Table, source, &SMALL);
    let parts = run.parts(50).expect("fits");
    assert!(!parts.has_classes());
    let (found, _) = describe(&run.trained, &parts, None, None, EFFORT).expect("works");
    assert_eq!(found.classifier_labels, None);
    assert!(found.log_likelihood.is_finite());
}
