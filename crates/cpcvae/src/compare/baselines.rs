//! Held-out predictions fold by fold, and baselines on the same folds.

use super::{Comparison, MethodScores, ScoreKind, Workplace};
use crate::calibration::{accuracies, negative_errors};
use crate::config::{EnsembleMembers, RunConfig};
use crate::crossfit::{CrossFit, Folding, HeldOut, PredictValues, Spread};
use crate::ensemble::Voter;
use crate::error::Result;
use crate::method::{DataKind, LabelsOnly, Method, MethodSettings, VaeThenMlp};
use crate::pseudo_label::{Members, Propagation, forest, knn, logistic, propagate};
use crate::regressors::{Regressors, baseline};
use cpcvae_data::{Dataset, Labels, Split};

/// Baselines that are not trained by gradients, for classes.
const UNTRAINED: [(&str, Spread); 4] = [
    ("neighbours", knn),
    ("extra-trees", forest),
    ("logistic-regression", logistic),
    ("label-spreading", |features, width, labels, classes| {
        propagate(features, width, labels, classes, &Propagation::default())
    }),
];

/// The same for continuous labels.
const OF_VALUES: [(&str, PredictValues); 4] = [
    ("neighbours", baseline::neighbours),
    ("ridge", baseline::ridge),
    ("random-forest", baseline::random_forest),
    ("median", baseline::median),
];

/// The name of the ensemble of a network and its members.
const ENSEMBLE: &str = "ensemble";

/// Baselines that are networks, with the run's own shape and number of steps.
const TRAINED: [&str; 2] = [LabelsOnly::INFO.name, VaeThenMlp::INFO.name];

/// The most steps of the network that is trained on the labels alone, which it fits long before.
const LABELS_ONLY_STEPS: u64 = 500;

/// Cross-fits the method of some settings: a run's own, or a baseline's. `None` when a stop was asked
/// for.
pub fn hold_out_labels(
    fit: &CrossFit<'_>,
    config: &RunConfig,
    folding: &Folding,
    place: &Workplace<'_>,
) -> Result<Option<HeldOut>> {
    let name = config.method.name();
    let folder = place.folder_of(folding, name);
    place.hold_out(fit, config, name, folder.as_deref())
}

/// Whether a method of that name learns from the labelled rows alone.
pub(super) fn is_of_labels_alone(name: &str) -> bool {
    let baselines = [LabelsOnly::INFO.name, "neighbours", "ridge", "median"];
    let all = baselines
        .iter()
        .chain(&Members::NAMES)
        .chain(&Regressors::NAMES);
    all.into_iter().any(|known| *known == name)
}

/// How many trainings the baselines need in addition to a cross-fit.
pub fn baseline_trainings(config: &RunConfig, fit: &CrossFit<'_>) -> usize {
    trained_baselines(config) * fit.parts()
}

/// How many baselines are trained.
pub fn trained_baselines(config: &RunConfig) -> usize {
    names_of_baselines(config).count()
}

/// The comparison of a method on held-out rows, without baselines so far. `class_weights` are the
/// estimated frequencies of classes among rows without a label, relative to labels.
pub fn comparison(
    (data, split): (&Dataset, &Split),
    config: &RunConfig,
    (fit, folding): (&CrossFit<'_>, &Folding),
    ours: &HeldOut,
    class_weights: &[f64],
) -> Comparison {
    Comparison {
        measure: match &data.labels {
            Labels::Values { .. } => ScoreKind::Error,
            _ => ScoreKind::Accuracy,
        },
        folds: folding.folds,
        never_held_out: fit.kept.len(),
        unlabelled: Some(split.unlabelled.len()),
        ours: scores(data, config.method.name(), ours),
        labels_only: None,
        others: Vec::new(),
        classes: labels_of_classes(data, split),
        class_weights: class_weights.to_vec(),
    }
}

/// Predictions of ensemble members for held-out rows, in the order of the parts: one [`HeldOut`] a
/// member.
pub fn members_held_out(fit: &CrossFit<'_>, config: &RunConfig) -> Result<Vec<HeldOut>> {
    let mut all: Vec<HeldOut> = Vec::new();
    for part in 0..fit.parts() {
        for (member, member_rows) in fit.members(part, config)?.into_iter().enumerate() {
            match all.get_mut(member) {
                Some(before) => before.extend(member_rows),
                None => all.push(member_rows),
            }
        }
    }
    Ok(all)
}

/// The comparison of an ensemble, with its voters as baselines: the network, then the members.
pub fn with_voters(
    mut comparison: Comparison,
    data: &Dataset,
    voters: &[Voter],
    network: &HeldOut,
    members: &[HeldOut],
) -> Comparison {
    comparison.ours.name = ENSEMBLE.into();
    let held_out = std::iter::once(network).chain(members);
    let voters = voters.iter().zip(held_out);
    let others = voters.map(|(voter, held_out)| scores(data, &voter.name, held_out));
    comparison.others.extend(others);
    comparison
}

/// Adds baselines on the same folds. `None` when a stop was asked for.
pub fn with_baselines(
    mut comparison: Comparison,
    data: &Dataset,
    config: &RunConfig,
    (fit, folding): (&CrossFit<'_>, &Folding),
    place: &Workplace<'_>,
) -> Result<Option<Comparison>> {
    for baseline in baselines(config, DataKind::of(&data.layout))? {
        let Some(theirs) = hold_out_labels(fit, &baseline, folding, place)? else {
            return Ok(None);
        };
        let scores = scores(data, baseline.method.name(), &theirs);
        match baseline.method {
            Method::LabelsOnly(_) => comparison.labels_only = Some(scores),
            _ => comparison.others.push(scores),
        }
    }
    if comparison.measure == ScoreKind::Accuracy {
        for (name, spread) in UNTRAINED {
            // Members of the ensemble were measured already.
            if comparison.others.iter().any(|other| other.name == name) {
                continue;
            }
            let mut theirs = HeldOut::empty(data.class_names().len());
            for part in 0..fit.parts() {
                theirs.extend(fit.spread(part, config, spread)?);
            }
            comparison.others.push(scores(data, name, &theirs));
        }
    }
    if comparison.measure == ScoreKind::Error {
        for (name, predict) in OF_VALUES {
            if comparison.others.iter().any(|other| other.name == name) {
                continue;
            }
            let mut theirs = HeldOut::empty(data.labels.dimensions());
            for part in 0..fit.parts() {
                theirs.extend(fit.values(part, config, predict)?);
            }
            comparison.others.push(scores(data, name, &theirs));
        }
    }
    Ok(Some(comparison))
}

fn scores(data: &Dataset, name: &str, held_out: &HeldOut) -> MethodScores {
    MethodScores {
        name: name.into(),
        scores: match &data.labels {
            Labels::Values { .. } => negative_errors(data, held_out),
            _ => accuracies(data, held_out),
        },
    }
}

/// The settings of all baselines that are trained.
pub(crate) fn baselines(config: &RunConfig, kind: DataKind) -> Result<Vec<RunConfig>> {
    let names = names_of_baselines(config);
    names.map(|name| baseline_of(config, name, kind)).collect()
}

/// Trained baselines: those that differ from the run's own method.
fn names_of_baselines(config: &RunConfig) -> impl Iterator<Item = &'static str> {
    let ours = config.method.name();
    // With ensemble members, which are baselines without training, labels-only suffices.
    let most = match config.ensemble.members {
        EnsembleMembers::None => TRAINED.len(),
        EnsembleMembers::All => 1,
    };
    TRAINED
        .into_iter()
        .filter(move |name| *name != ours)
        .take(most)
}

/// A baseline with the run's own network, batches and number of steps.
fn baseline_of(config: &RunConfig, name: &str, kind: DataKind) -> Result<RunConfig> {
    let usual = RunConfig::defaults(name, kind, &config.data.source)?;
    let mut baseline = RunConfig {
        method: Method::named(name, kind)?,
        constraint: usual.constraint,
        pseudo_labels: usual.pseudo_labels,
        ensemble: usual.ensemble,
        ..config.clone()
    };
    if matches!(baseline.method, Method::LabelsOnly(_)) {
        baseline.train.steps = baseline.train.steps.min(LABELS_ONLY_STEPS);
    }
    if matches!(baseline.method, Method::VaeThenMlp(_)) && baseline.model.predictor.is_empty() {
        baseline.model.predictor = baseline.model.hidden.iter().take(1).copied().collect();
    }
    Ok(baseline)
}

fn labels_of_classes(data: &Dataset, split: &Split) -> Vec<(String, usize)> {
    let names = data.class_names().iter();
    let mut classes: Vec<(String, usize)> = names.map(|name| (name.clone(), 0)).collect();
    let labelled = split.labelled.iter();
    for class in labelled.filter_map(|row| data.labels.class_of(*row)) {
        classes[class as usize].1 += 1;
    }
    classes
}
