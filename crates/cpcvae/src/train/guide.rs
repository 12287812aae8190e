//! What the labels of neighbours suggest for unlabelled rows.

use super::{Parameters, TrainingData};
use crate::error::Result;
use crate::graph::propagate;
use crate::infer::{Inference, largest};
use crate::objective::{Constrained, Objective};
use cpcvae_data::{BatchPlan, Matrix};

/// A search among more rows would take longer than it saves; the others get no suggestion.
const MOST_ROWS: usize = 60_000;
/// Its name in a checkpoint.
const NAME: &str = "suggested";

/// For each row of the data: how sure its neighbours are, for the class they suggest.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Guide {
    classes: usize,
    /// `[rows, classes]`: at most one class of a row is not zero.
    suggested: Vec<f32>,
}

impl Guide {
    /// How often labels have been spread once `share` of the run is behind us; 0 for an objective
    /// that does not ask.
    pub(super) fn due(objective: &Objective, share: f64) -> u64 {
        match asking(objective) {
            Some(Constrained { refreshes, .. }) => 1 + (share * (refreshes + 1) as f64) as u64,
            None => 0,
        }
    }

    /// Spreads the labels: over neighbours among the features at first, among codes afterwards.
    pub(super) fn spread(
        objective: &Objective,
        data: &TrainingData,
        classes: usize,
        seed: u64,
        coder: Option<&Inference>,
    ) -> Result<Option<Self>> {
        let Some(objective) = asking(objective) else {
            return Ok(None);
        };
        let labelled = &data.split.labelled;
        let some = data.split.unlabelled.len().min(MOST_ROWS);
        let plan = BatchPlan::new(Vec::new(), data.split.unlabelled.clone(), 0, some, seed)?;
        let rows = [labelled.clone(), plan.rows_of_step(0).unlabelled].concat();
        let mut features = data.rows.features.select(&rows);
        if let Some(coder) = coder {
            features = coder.content(&features)?;
        }
        let labels: Vec<(u32, u32)> = (0..)
            .zip(labelled)
            .filter_map(|(place, row)| Some((place, data.rows.labels.class_of(*row)?)))
            .collect();
        let beliefs = propagate(
            &features.values,
            features.columns,
            &labels,
            classes,
            &objective.propagation,
        );
        let mut suggested = vec![0.0; data.rows.len() * classes];
        for (place, class, sure) in ranked(&beliefs, classes) {
            suggested[rows[place] as usize * classes + class] = sure;
        }
        if std::env::var("GUIDE_DEBUG").is_ok() {
            let mut sums = [0.0f32; 4];
            for r in &data.split.unlabelled {
                let s = &suggested[*r as usize * classes..][..classes];
                let b = largest(s);
                let ok = data.rows.labels.class_of(*r) == Some(b as u32);
                sums[0] += 1.0;
                sums[1] += f32::from(ok);
                sums[2] += s[b];
                sums[3] += s[b] * f32::from(ok);
            }
            eprintln!(
                "guide {:?} acc {:.4} weighted {:.4}",
                coder.is_some(),
                sums[1] / sums[0],
                sums[3] / sums[2]
            );
        }
        Ok(Some(Self { classes, suggested }))
    }

    /// `[rows, classes]` for the rows of a batch.
    pub(super) fn of(&self, rows: &[u32]) -> Vec<f32> {
        let row = |row: &u32| &self.suggested[*row as usize * self.classes..][..self.classes];
        rows.iter().flat_map(row).copied().collect()
    }

    pub(super) fn into_parameters(self, parameters: &mut Parameters) {
        let shape = vec![self.suggested.len() / self.classes.max(1), self.classes];
        parameters.0.insert(NAME.into(), (shape, self.suggested));
    }

    pub(super) fn from_parameters(parameters: &Parameters) -> Option<Self> {
        let (shape, suggested) = parameters.0.get(NAME)?;
        Some(Self {
            classes: *shape.last()?,
            suggested: suggested.clone(),
        })
    }
}

fn asking(objective: &Objective) -> Option<&Constrained> {
    match objective {
        Objective::Constrained(objective) if objective.weights.neighbours != 0.0 => Some(objective),
        _ => None,
    }
}

/// (row, suggested class, how sure), where the least sure row of a class has 0 and the surest 1:
/// the probabilities themselves say little, since a label that had to go far arrives faint.
fn ranked(beliefs: &[f32], classes: usize) -> Vec<(usize, usize, f32)> {
    let mut of_class: Vec<Vec<(f32, usize)>> = vec![Vec::new(); classes];
    for (row, beliefs) in beliefs.chunks_exact(classes).enumerate() {
        let best = largest(beliefs);
        of_class[best].push((beliefs[best], row));
    }
    let mut all = Vec::with_capacity(beliefs.len() / classes.max(1));
    for (class, mut rows) in of_class.into_iter().enumerate() {
        rows.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let last = rows.len().saturating_sub(1).max(1) as f32;
        let ranks = rows.into_iter().enumerate();
        all.extend(ranks.map(|(rank, (_, row))| (row, class, rank as f32 / last)));
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
