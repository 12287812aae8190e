//! Studies in their journals: several workers, killed workers, and files written by Optuna.

use cpcvae_search::{Limits, Outcome, Pruner, Sampler, Space, Study, TrialState};
use std::collections::BTreeMap;
use std::path::Path;

fn space() -> Space {
    let text = "x = { low = -5.0, high = 5.0 }\nn = { low = 1, high = 8 }";
    Space::from_toml("test", text, &|_| None).expect("a space")
}

fn limits(trials: usize) -> Limits {
    Limits {
        trials,
        until: None,
    }
}

/// Works until there are this many trials.
fn work(path: &Path, trials: usize) {
    let mut study = Study::open(path, "s").expect("opens");
    let ask = |study: &mut Study| {
        let next = study.ask(&space(), Sampler::Tpe, 1, &limits(trials), |_| None);
        next.expect("a trial")
    };
    while let Some(trial) = ask(&mut study) {
        let value = trial.params["x"].powi(2) + trial.params["n"];
        study
            .tell(trial.id, Outcome::Complete(value))
            .expect("told");
    }
}

#[test]
fn several_who_work_on_one_study_never_try_the_same_and_stop_together() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("study").join("journal.log");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| work(&path, 40));
        }
    });
    let study = Study::open(&path, "s").expect("opens");
    let trials = study.trials();
    assert_eq!(trials.len(), 40);
    assert!(trials.iter().all(|t| t.state == TrialState::Complete));
    let mut tried: Vec<u64> = trials.iter().map(|t| t.params["x"].to_bits()).collect();
    tried.sort_unstable();
    tried.dedup();
    assert_eq!(tried.len(), 40);
    assert!(study.best().expect("forty").value.expect("a value") < 3.0);
}

#[test]
fn a_study_goes_on_as_if_it_had_never_stopped() {
    let folder = tempfile::tempdir().expect("a folder");
    let values = |parts: &[usize]| -> Vec<Option<f64>> {
        let path = folder.path().join(format!("{}.log", parts.len()));
        parts.iter().for_each(|part| work(&path, *part));
        let study = Study::open(&path, "s").expect("opens");
        study.trials().iter().map(|trial| trial.value).collect()
    };
    assert_eq!(values(&[30]), values(&[7, 18, 30]));
}

#[test]
fn what_is_reported_and_told_is_there_for_whoever_opens_the_study() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("journal.log");
    let mut study = Study::open(&path, "s").expect("opens");
    study.set_attr("who", "me".into()).expect("kept");
    let given = |_| Some(BTreeMap::from([("x".to_string(), 1.5)]));
    let ask = |study: &mut Study| {
        let next = study.ask(&space(), Sampler::Random, 0, &limits(9), given);
        next.expect("asked").expect("a trial").id
    };
    let (first, second, third) = (ask(&mut study), ask(&mut study), ask(&mut study));
    assert!(!study.report(first, 15, 2.0, Pruner::ASHA).expect("kept"));
    study.tell(first, Outcome::Complete(1.25)).expect("told");
    assert!(study.report(second, 15, 3.0, Pruner::ASHA).expect("kept"));
    study.tell(second, Outcome::Pruned).expect("told");
    study
        .tell(third, Outcome::Complete(f64::NAN))
        .expect("told");
    // Too late, since it is finished.
    study.tell(third, Outcome::Complete(0.0)).expect("ignored");

    let again = Study::open(&path, "s").expect("opens");
    assert_eq!(again.attr("who"), Some(&"me".into()));
    let trials = again.trials();
    let states: Vec<&str> = trials.iter().map(|trial| trial.state.name()).collect();
    assert_eq!(states, ["complete", "pruned", "failed"]);
    assert_eq!((trials[0].value, trials[1].value), (Some(1.25), Some(3.0)));
    assert_eq!(trials[0].params["x"], 1.5);
    assert_eq!(trials[2].user_attrs["error"], "the value is NaN");
    assert_eq!(again.best().expect("one").number, 0);
    assert!(again.trial(7).is_err());
}

#[test]
fn a_journal_that_optuna_wrote_is_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("journal.log");
    // By `tests/reference/journal.py` (Optuna 5.0.0): a complete, a pruned and a failed trial, an
    // enqueued one, and a report of NaN.
    std::fs::write(&path, include_str!("reference/optuna-journal.log")).expect("writable");
    let study = Study::open(&path, "demo").expect("opens");
    let trials = study.trials();
    let states: Vec<&str> = trials.iter().map(|trial| trial.state.name()).collect();
    assert_eq!(states, ["complete", "pruned", "failed", "waiting"]);
    assert_eq!(trials[0].value, Some(0.25));
    assert_eq!(trials[0].reports, [(10, 0.5), (20, 0.25)].into());
    assert!(trials[1].reports[&10].is_nan());
    let shown = |name: &str| {
        let distribution = &trials[0].distributions[name];
        distribution.shown(trials[0].params[name])
    };
    assert_eq!((shown("kind"), shown("n")), ("b".into(), 3.into()));
    assert_eq!(study.attr("note"), Some(&"by hand".into()));
    let error = Study::open(&path, "upwards").expect_err("maximises");
    assert!(error.to_string().contains("makes values larger"), "{error}");
}
