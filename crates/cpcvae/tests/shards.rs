//! Batches in shards: the model does not depend on how many processes compute them.

mod ranks;
mod stop_at;

use cpcvae::config::RunConfig;
use cpcvae::estimator::Fit;
use cpcvae::prelude::*;
use cpcvae::run::{RunFolder, assist, dismiss, run_with};
use cpcvae::train::{Alone, Communicator, StopReason, TensorFile};
use ranks::on_ranks;
use std::collections::BTreeMap;
use std::path::Path;
use stop_at::StopAt;

/// Complete settings and the data.
fn asked(method: &str, data: &str, set: &[&str]) -> (RunConfig, Source) {
    let mut request = cpcvae::config::Request::new(Some(method));
    let set: Vec<String> = set.iter().map(ToString::to_string).collect();
    request.push(
        "test",
        cpcvae::config::parse_settings(&set).expect("well formed"),
    );
    let estimator = Estimator::from_request(request);
    let source = estimator.open(data, Path::new(".")).expect("built in");
    (estimator.settings(&source.rows).expect("settings"), source)
}

/// Trains on so many ranks; `stop` says after which step a rank asks for a stop.
fn train(
    size: usize,
    (config, source): &(RunConfig, Source),
    folder: &Path,
    stop: Option<(usize, u64)>,
) -> Vec<Result<Option<StopReason>>> {
    let cpu = cpcvae::device::device("cpu").expect("the CPU");
    on_ranks(size, |rank| {
        let mut observer: Box<dyn Observer> = match stop {
            Some((who, step)) if who == rank.rank() => Box::new(StopAt::step(step)),
            _ => Box::new(Silent),
        };
        let observer = observer.as_mut();
        if rank.rank() > 0 {
            let open = |_: &RunConfig| Ok(source.clone());
            return assist(rank.as_ref(), &cpu, open, observer).map(|()| None);
        }
        let folder = RunFolder::at(folder);
        let run = run_with(
            rank.as_ref(),
            config,
            source.clone(),
            Some(&folder),
            &cpu,
            observer,
        )?;
        dismiss(rank.as_ref())?;
        Ok(Some(run.report.fit.stop))
    })
}

fn ends_with(ended: Vec<Result<Option<StopReason>>>, reason: StopReason) {
    for (rank, ended) in ended.into_iter().enumerate() {
        let expected = (rank == 0).then_some(reason);
        assert_eq!(ended.expect("trains"), expected, "rank {rank}");
    }
}

/// What a run leaves that knows nothing of the clock.
fn bytes(folder: &Path) -> BTreeMap<&'static str, Vec<u8>> {
    let files = [
        "model/model.safetensors",
        "metrics.jsonl",
        "config.toml",
        "split.json",
    ];
    let read = |file| (file, std::fs::read(folder.join(file)).expect(file));
    files.into_iter().map(read).collect()
}

fn assert_same(a: &Path, b: &Path, what: &str) {
    for ((file, a), b) in bytes(a).iter().zip(bytes(b).values()) {
        assert!(a == b, "{what}: {file} differs");
    }
}

const TABLE: [&str; 9] = [
    "train.shards=4",
    "train.steps=30",
    "train.labelled_per_batch=6",
    "train.unlabelled_per_batch=50",
    "train.evaluate_every=7",
    "train.log_every=1",
    "data.validation=50",
    "model.hidden=[9]",
    "method.aggregate_weight=1.0",
];

#[test]
fn models_have_the_same_bytes_on_1_2_and_4_ranks() {
    let table = |more: &[&'static str]| [&TABLE, more].concat();
    let images = [
        "train.shards=4",
        "train.steps=4",
        "train.labelled_per_batch=6",
        "train.unlabelled_per_batch=9",
        "train.log_every=1",
        "train.shift=1",
        "train.stretch=0.1",
        "data.rows=300",
        "data.validation=50",
        "model.net=wrn",
        "model.depth=10",
        "model.width=1",
        "model.hidden=[20]",
        "model.code=10",
    ];
    let cases = [
        // Shards of unequal sizes, weights that count rows, an early stop.
        (
            "cpc",
            "half-moon",
            table(&["train.early_stop=2", "train.labelled_evidence=data"]),
        ),
        // Assigned by features and again by codes.
        (
            "cpc",
            "half-moon",
            table(&[
                "pseudo_labels.source=ensemble",
                "pseudo_labels.mixup=1.0",
                "train.clip_norm=1.0",
            ]),
        ),
        // lambda follows what the shards say; a plateau follows the validation rows.
        (
            "cpc",
            "half-moon",
            table(&[
                "constraint.measure=loss",
                "constraint.target=0.1",
                "train.schedule=plateau",
            ]),
        ),
        // Stages that train different parts.
        ("vae-then-mlp", "half-moon", table(&[])),
        // Batch normalisation, transforms, images that are moved.
        ("cpc", "glyphs", images.to_vec()),
        ("vat", "glyphs", images[..10].to_vec()),
    ];
    for (method, data, set) in cases {
        let set: Vec<&str> = match method {
            "vat" | "vae-then-mlp" => set
                .into_iter()
                .filter(|key| !key.starts_with("method."))
                .collect(),
            _ => set,
        };
        let case = asked(method, data, &set);
        let place = tempfile::tempdir().expect("a temporary folder");
        let folder = |size: usize| place.path().join(size.to_string());
        for size in [1, 2, 4] {
            ends_with(train(size, &case, &folder(size), None), reason(&case));
            assert_same(
                &folder(1),
                &folder(size),
                &format!("{method} {set:?}, {size} ranks"),
            );
        }
        // Without any ranks, as a user without MPI trains it.
        let cpu = cpcvae::device::device("cpu").expect("the CPU");
        let alone = RunFolder::at(folder(0));
        let (config, source) = case;
        run_with(&Alone, &config, source, Some(&alone), &cpu, &mut Silent).expect("trains");
        assert_same(&folder(1), &folder(0), &format!("{method} {set:?}, alone"));
    }
}

fn reason((config, _): &(RunConfig, Source)) -> StopReason {
    match config.train.early_stop {
        0 => StopReason::Complete,
        _ => StopReason::EarlyStop,
    }
}

#[test]
fn a_stopped_run_goes_on_with_another_number_of_ranks() {
    let case = asked(
        "cpc",
        "half-moon",
        &[
            &TABLE[..],
            &[
                "pseudo_labels.source=propagation",
                "pseudo_labels.alpha=0.9",
            ],
        ]
        .concat(),
    );
    let place = tempfile::tempdir().expect("a temporary folder");
    let (whole, parts) = (place.path().join("whole"), place.path().join("parts"));
    ends_with(train(1, &case, &whole, None), StopReason::Complete);
    // A stop is asked for on rank 0, then on another one.
    for (size, who, step) in [(2, 0, 5), (4, 3, 14), (1, 0, 20)] {
        let stopped = train(size, &case, &parts, Some((who, step)));
        ends_with(stopped, StopReason::Interrupted);
        assert!(!parts.join("model").exists(), "stopped before its end");
    }
    ends_with(train(4, &case, &parts, None), StopReason::Complete);
    assert_same(&whole, &parts, "stopped three times");
}

/// Of a loss that is a mean over rows, so also for shards of unequal sizes: Adam's first moment
/// after a step is a tenth of the gradient.
#[test]
fn the_mean_of_shards_is_the_gradient_of_the_batch() {
    let gradient = |shards: &str, rows: &str| {
        let case = asked(
            "labels-only",
            "half-moon",
            &[
                shards,
                rows,
                "train.steps=1",
                "model.hidden=[20,20]",
                "train.precision=f32",
            ],
        );
        let place = tempfile::tempdir().expect("a temporary folder");
        ends_with(train(1, &case, place.path(), None), StopReason::Complete);
        let last = TensorFile::load(&place.path().join("checkpoints/last.safetensors"));
        let tensors = last.expect("a checkpoint").tensors.0.into_iter();
        let first = tensors.filter(|(name, _)| name.starts_with("adam.first."));
        first
            .map(|(name, (_, values))| (name, values))
            .collect::<BTreeMap<_, _>>()
    };
    for rows in ["train.labelled_per_batch=64", "train.labelled_per_batch=45"] {
        let whole = gradient("train.shards=1", rows);
        let largest = whole
            .values()
            .flatten()
            .fold(0.0f32, |most, value| most.max(value.abs()));
        assert!(
            largest > 1e-4 && whole.len() >= 6,
            "{largest} {}",
            whole.len()
        );
        for shards in ["train.shards=2", "train.shards=8"] {
            let sum = gradient(shards, rows);
            assert!(whole.keys().eq(sum.keys()));
            for (name, values) in &whole {
                for (a, b) in values.iter().zip(&sum[name]) {
                    assert!(
                        (a - b).abs() < 1e-5 * largest,
                        "{shards}, {name}: {a} and {b}"
                    );
                }
            }
        }
    }
}

#[test]
fn what_cannot_be_is_said() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let first_error = |size: usize, set: &[&str]| {
        let case = asked("cpc", "half-moon", set);
        let folder = place.path().join(format!("{size}-{}", set.join("-")));
        let ended = train(size, &case, &folder, None);
        let errors = ended.into_iter().filter_map(Result::err);
        errors
            .map(|error| error.to_string())
            .next()
            .expect("an error")
    };
    let error = first_error(1, &["train.shards=3"]);
    assert!(
        error.contains("`train.shards`: is 3; it must be 1, 2, 4"),
        "{error}"
    );
    let error = first_error(1, &["train.shards=8", "train.labelled_per_batch=6"]);
    assert!(
        error.contains("a batch has only 6 labelled rows"),
        "{error}"
    );
    let error = first_error(4, &["train.shards=2"]);
    assert!(error.contains("is 2, and there are 4 processes"), "{error}");
    let error = first_error(3, &["train.shards=4"]);
    assert!(error.contains("is 4, and there are 3 processes"), "{error}");
}

#[test]
fn ranks_with_other_rows_are_refused() {
    let (config, source) = asked("cpc", "half-moon", &["train.shards=2", "train.steps=2"]);
    let (_, other) = asked("cpc", "half-moon", &["seed=1"]);
    let cpu = cpcvae::device::device("cpu").expect("the CPU");
    let errors = on_ranks(2, |rank| {
        let error = match rank.rank() {
            0 => run_with(
                rank.as_ref(),
                &config,
                source.clone(),
                None,
                &cpu,
                &mut Silent,
            )
            .err(),
            _ => assist(rank.as_ref(), &cpu, |_| Ok(other.clone()), &mut Silent).err(),
        };
        error.expect("rows differ").to_string()
    });
    for error in errors {
        assert!(error.contains("have different rows"), "{error}");
    }
}
