//! Pseudo-labels of unlabelled rows during training.

use super::{Parameters, TrainingData};
use crate::error::Result;
use crate::infer::{Inference, largest};
use crate::objective::{Objective, PseudoLabels};
use crate::pseudo_label::propagate;
use cpcvae_data::{BatchPlan, Matrix};

/// With more labelled or more unlabelled rows, the neighbour search would take too long; the others
/// get no pseudo-label.
const MOST_ROWS: usize = 60_000;
/// Of data with more values than this, only as many rows are used as fit ...
const LARGE: usize = 1 << 30;
/// ... into this many values, so that memory does not grow with the data.
const MOST_VALUES: usize = 50_000_000;
/// Names in a checkpoint.
const ROWS: &str = "guide.rows";
const SUGGESTED: &str = "guide.suggested";
const BY_FEATURES: &str = "guide.by_features";

/// The pseudo-labels of rows: the weight of each, at its class.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct AssignedLabels {
    classes: usize,
    /// The rows, in order.
    rows: Vec<u32>,
    /// `[rows, classes]`: at most one class of a row is not zero.
    suggested: Vec<f32>,
    /// Class probabilities by the features, `[rows, classes]`, which are computed once.
    by_features: Vec<f32>,
}

impl AssignedLabels {
    /// How often pseudo-labels must have been assigned by `share` of the stage; 0 for an objective
    /// without them.
    pub(super) fn due(objective: &Objective, share: f64) -> u64 {
        match asking(objective) {
            Some(PseudoLabels { refreshes, .. }) => 1 + (share * (refreshes + 1) as f64) as u64,
            None => 0,
        }
    }

    /// Assigns them by the features and, once codes are informative, by label propagation over
    /// codes too; both probabilities are averaged.
    pub(super) fn assign(
        objective: &Objective,
        data: &TrainingData,
        classes: usize,
        seed: u64,
        later: Option<(&Self, &Inference)>,
    ) -> Result<Option<Self>> {
        let Some(wanted) = asking(objective) else {
            return Ok(None);
        };
        if data.split.unlabelled.is_empty() {
            // All classes are known: no pseudo-labels are needed.
            return Ok(Some(Self {
                classes,
                rows: Vec::new(),
                suggested: Vec::new(),
                by_features: Vec::new(),
            }));
        }
        let most = most_rows(data.rows.len(), data.rows.width());
        let labelled = &some_of(&data.split.labelled, most, seed)?;
        let unlabelled = some_of(&data.split.unlabelled, most, seed)?;
        let rows = [labelled.as_slice(), &unlabelled].concat();
        // Read on demand and not kept: they may be most of the memory.
        let features = || data.rows.features.gather(&rows);
        let class_of = |row: &u32| data.rows.labels.class_of(*row);
        let labels: Vec<(u32, u32)> = (0..)
            .zip(labelled)
            .filter_map(|(place, row)| Some((place, class_of(row)?)))
            .collect();
        let propagated = |rows: &Matrix| {
            let (values, width) = (&rows.values, rows.columns);
            propagate(values, width, &labels, classes, &wanted.propagation())
        };
        let by_features = match later {
            Some((earlier, _)) => earlier.by_features.clone(),
            None => wanted.by_features(features(), &data.rows.layout, &labels, classes),
        };
        let mut class_probs = by_features.clone();
        if let Some((_, coder)) = later {
            let of_codes = propagated(&coder.content(&features())?);
            for (row_probs, of_code) in class_probs.iter_mut().zip(of_codes) {
                *row_probs = 0.5 * (*row_probs + of_code);
            }
        }
        let mut ordered = rows.clone();
        ordered.sort_unstable();
        let mut suggested = vec![0.0; rows.len() * classes];
        for (place, class, sure) in ranked(&class_probs, classes) {
            let place = ordered.partition_point(|row| *row < rows[place]);
            suggested[place * classes + class] = sure;
        }
        Ok(Some(Self {
            classes,
            rows: ordered,
            suggested,
            by_features,
        }))
    }

    /// `[rows, classes]` for the rows of a batch; zeros for rows without one.
    pub(super) fn of(&self, rows: &[u32]) -> Vec<f32> {
        let mut suggested = vec![0.0; rows.len() * self.classes];
        for (row, out) in rows.iter().zip(suggested.chunks_exact_mut(self.classes)) {
            if let Ok(place) = self.rows.binary_search(row) {
                out.copy_from_slice(&self.suggested[place * self.classes..][..self.classes]);
            }
        }
        suggested
    }

    /// Adds them to the tensors of a checkpoint.
    pub(super) fn store(&self, parameters: &mut Parameters) {
        for (name, values) in [
            (SUGGESTED, &self.suggested),
            (BY_FEATURES, &self.by_features),
        ] {
            let shape = vec![values.len() / self.classes.max(1), self.classes];
            parameters.0.insert(name.into(), (shape, values.clone()));
        }
        // Row numbers have more digits than the f32 of a checkpoint, so they are stored as two
        // halves.
        let halves = |row: &u32| [(row >> 16) as f32, (row & 0xffff) as f32];
        let halves: Vec<f32> = self.rows.iter().flat_map(halves).collect();
        let shape = vec![self.rows.len(), 2];
        parameters.0.insert(ROWS.into(), (shape, halves));
    }

    /// Reads them from a checkpoint that has them.
    pub(super) fn restore(parameters: &Parameters) -> Option<Self> {
        let (shape, suggested) = parameters.0.get(SUGGESTED)?;
        let (_, by_features) = parameters.0.get(BY_FEATURES)?;
        let row = |halves: &[f32]| (halves[0] as u32) << 16 | halves[1] as u32;
        Some(Self {
            classes: *shape.last()?,
            rows: match parameters.0.get(ROWS) {
                Some((_, halves)) => halves.chunks_exact(2).map(row).collect(),
                // Checkpoints of earlier versions have a pseudo-label for every row of the data.
                None => (0..*shape.first()? as u32).collect(),
            },
            suggested: suggested.clone(),
            by_features: by_features.clone(),
        })
    }
}

fn asking(objective: &Objective) -> Option<&PseudoLabels> {
    objective.constrained()?.pseudo_labels.as_ref()
}

/// The most rows that get pseudo-labels, for data with that many rows and columns.
fn most_rows(rows: usize, columns: usize) -> usize {
    match rows.saturating_mul(columns) > LARGE {
        true => (MOST_VALUES / columns.max(1)).clamp(1, MOST_ROWS),
        false => MOST_ROWS,
    }
}

/// All of the rows, or a random choice of them.
fn some_of(rows: &[u32], most: usize, seed: u64) -> Result<Vec<u32>> {
    if rows.len() <= most {
        return Ok(rows.to_vec());
    }
    let plan = BatchPlan::new(Vec::new(), rows.to_vec(), 0, most, seed)?;
    Ok(plan.rows_of_step(0).unlabelled)
}

/// (row, pseudo-label, its weight): the square root of the row's rank of confidence within its
/// class, from 0 (least confident) to 1. The probabilities themselves are not comparable, since
/// labels that are propagated far give nearly uniform ones.
fn ranked(class_probs: &[f32], classes: usize) -> Vec<(usize, usize, f32)> {
    let mut of_class: Vec<Vec<(f32, usize)>> = vec![Vec::new(); classes];
    for (row, class_probs) in class_probs.chunks_exact(classes).enumerate() {
        let best = largest(class_probs);
        of_class[best].push((class_probs[best], row));
    }
    let mut all = Vec::with_capacity(class_probs.len() / classes.max(1));
    for (class, mut rows) in of_class.into_iter().enumerate() {
        rows.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let last = rows.len().saturating_sub(1).max(1) as f32;
        let ranks = rows.into_iter().enumerate();
        all.extend(ranks.map(|(rank, (_, row))| (row, class, (rank as f32 / last).sqrt())));
    }
    all
}

impl Inference {
    /// Means of the codes without their transform dimensions.
    fn content(&self, features: &Matrix) -> Result<Matrix> {
        let codes = self.encode(features)?.mean;
        let skipped = match &self.shape().transform {
            Some(_) => crate::net::spatial_transformer::DIMENSIONS,
            None => 0,
        };
        let columns = codes.columns - skipped;
        let rows = codes.values.chunks_exact(codes.columns);
        let values = rows.flat_map(|row| &row[skipped..]).copied().collect();
        Ok(Matrix {
            rows: codes.rows,
            columns,
            values,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_surest_row_of_each_class_counts_fully_and_the_least_sure_not_at_all() {
        let class_probs = [0.9, 0.1, 0.6, 0.4, 0.7, 0.3, 0.2, 0.8];
        let mut found = ranked(&class_probs, 2);
        found.sort_by_key(|(row, ..)| *row);
        let root = 0.5f32.sqrt();
        assert_eq!(found, [(0, 0, 1.0), (1, 0, 0.0), (2, 0, root), (3, 1, 0.0)]);
    }

    #[test]
    fn rows_that_nobody_was_asked_about_have_no_pseudo_label_also_from_a_checkpoint() {
        let assigned = AssignedLabels {
            classes: 2,
            rows: vec![3, 70_000, u32::MAX],
            suggested: vec![0.5, 0.0, 0.0, 0.7, 0.1, 0.0],
            by_features: vec![0.5; 6],
        };
        let mut stored = Parameters(Default::default());
        assigned.store(&mut stored);
        let restored = AssignedLabels::restore(&stored).expect("it was stored");
        assert_eq!(restored, assigned);
        assert_eq!(restored.of(&[70_000, 4, 3]), [0.0, 0.7, 0.0, 0.0, 0.5, 0.0]);
        // As older versions stored it.
        stored.0.remove(ROWS);
        let restored = AssignedLabels::restore(&stored).expect("it was stored");
        assert_eq!(restored.of(&[1]), [0.0, 0.7]);
    }

    #[test]
    fn fewer_rows_are_asked_about_where_they_would_not_fit() {
        assert_eq!(most_rows(60_000, 784), MOST_ROWS);
        assert_eq!(most_rows(100_000, 64 * 64 * 3), 4069);
        assert_eq!(most_rows(4_000_000, 300), MOST_ROWS);
        assert_eq!(some_of(&[5, 7, 9], 3, 0).expect("some"), [5, 7, 9]);
        assert_eq!(some_of(&[5, 7, 9], 2, 0).expect("some").len(), 2);
    }
}
