//! Accuracy against the number of labels, measured on held-out ones.

use super::{CurvePoint, Workplace};
use crate::calibration::accuracies;
use crate::config::RunConfig;
use crate::crossfit::{CrossFit, Folding};
use crate::error::{Error, Result};
use crate::infer::quality::share;
use cpcvae_data::{Dataset, Labels, Split};
use std::path::{Path, PathBuf};

/// How many numbers of labels are tried by default.
const POINTS: u32 = 4;

/// A measured curve.
#[derive(Clone, Debug, PartialEq)]
pub struct LearningCurve {
    /// Its points, by increasing numbers of labels.
    pub points: Vec<CurvePoint>,
    /// Rows that each point was measured on.
    pub rows: usize,
}

/// Trains on increasing numbers of labels. `counts` are these numbers; a few are chosen if it is
/// empty. `None` when a stop was asked for; with a folder the same call resumes.
pub fn learning_curve(
    data: &Dataset,
    split: &Split,
    config: &RunConfig,
    folding: &Folding,
    counts: &[usize],
    place: &Workplace<'_>,
) -> Result<Option<LearningCurve>> {
    let (mut points, mut rows) = (Vec::new(), 0);
    for labels in label_counts(counts, data, split, config, folding)? {
        let folding = with_labels(folding, labels);
        let fit = CrossFit::new(data, split, &folding)?;
        let folder = place.folder.as_ref();
        let folder = folder.map(|folder| point_folder(folder, &folding, labels));
        let name = point_name(labels);
        let Some(held_out) = place.hold_out(&fit, config, &name, folder.as_deref())? else {
            return Ok(None);
        };
        let right = accuracies(data, &held_out);
        rows = right.len();
        let mean = right.iter().sum::<f64>() / right.len().max(1) as f64;
        let Some(accuracy) = share(mean, right.len()) else {
            return Err(Error::Mismatch("no labels could be held out".into()));
        };
        points.push(CurvePoint {
            labels,
            accuracy: accuracy.value,
            low: accuracy.low,
            high: accuracy.high,
        });
    }
    Ok(Some(LearningCurve { points, rows }))
}

/// The folds of a point: of the labels outside a fold, training uses this many.
pub(crate) fn with_labels(folding: &Folding, labels: usize) -> Folding {
    Folding {
        labels: Some(labels),
        ..*folding
    }
}

/// The name of a point's trainings.
pub(crate) fn point_name(labels: usize) -> String {
    format!("{labels} labels")
}

/// The folder of a point's runs.
pub(crate) fn point_folder(curve: &Path, folding: &Folding, labels: usize) -> PathBuf {
    let folder = curve.join(format!("{}-folds", folding.folds));
    folder.join(format!("{labels}-labels"))
}

/// The numbers of labels: those asked for, or four in geometric progression up to all that are not
/// held out.
pub(crate) fn label_counts(
    asked: &[usize],
    data: &Dataset,
    split: &Split,
    config: &RunConfig,
    folding: &Folding,
) -> Result<Vec<usize>> {
    if !matches!(data.labels, Labels::Classes { .. }) || !config.method.uses_labels() {
        return Err(Error::Mismatch(
            "a learning curve is of accuracies, so it needs classes and a method that uses labels"
                .into(),
        ));
    }
    let labels = split.labelled.len();
    // The labels outside of the largest fold.
    let most = labels - labels.div_ceil(folding.folds.min(labels).max(1));
    let least = data.class_names().len();
    if most <= least {
        return Err(Error::Mismatch(format!(
            "{labels} labels of {least} classes are too few for a curve: there must be some to hold \
             out and more than one a class to learn from"
        )));
    }
    let mut counts: Vec<usize> = match asked.is_empty() {
        false => asked.to_vec(),
        true => {
            let first = (most / 8).max(2 * least).min(most) as f64;
            let factor = (most as f64 / first).powf(1.0 / f64::from(POINTS - 1));
            let places = 0..POINTS as i32;
            places
                .map(|i| (first * factor.powi(i)).round() as usize)
                .collect()
        }
    };
    counts.sort_unstable();
    counts.dedup();
    match counts.iter().find(|count| !(least..=most).contains(count)) {
        None => Ok(counts),
        Some(bad) => Err(Error::Mismatch(format!(
            "{bad} labels cannot be learnt from: there must be one for each of the {least} classes, \
             and {most} are left when a fold is held out"
        ))),
    }
}
