//! Splits the rows of a run's data into measured and training ones.

use crate::error::{Error, Remedy, Result};
use crate::evenly::evenly;
use crate::run::Trained;
use cpcvae_data::{Dataset, Labels, Source, Split};
use serde::Serialize;

/// Which rows are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measured {
    /// Test rows, which were not used before.
    Test,
    /// Validation rows, which the model was selected by, if there are no test rows.
    Validation,
}

/// The rows of a run's data, unprepared.
#[derive(Clone, Debug)]
pub struct Parts {
    /// All rows that the split numbers.
    pub(super) rows: Dataset,
    /// The run's split.
    pub(super) split: Split,
    /// Rows that the model was not trained on, at most as many as requested.
    pub measured: Dataset,
    /// Which rows these are.
    pub kind: Measured,
    /// All of that kind: the classifier's accuracy is measured on them.
    pub(super) unseen: Dataset,
}

impl Parts {
    /// Splits the data that the model was trained on, with at most `most` rows to measure. Fails
    /// for data that does not fit the model or the run's split, and if all rows were used for
    /// training.
    pub fn new(source: Source, split: &Split, model: &Trained, most: usize) -> Result<Self> {
        let Source { rows, test, .. } = source;
        split.check(rows.len()).map_err(|error| {
            Error::Mismatch(format!(
                "`{}` is not the data that the run was trained on ({error})",
                rows.name
            ))
        })?;
        let (unseen, kind) = match test {
            Some(test) if !test.is_empty() => (test, Measured::Test),
            _ if !split.test.is_empty() => (rows.select(&split.test), Measured::Test),
            _ if !split.validation.is_empty() => {
                (rows.select(&split.validation), Measured::Validation)
            }
            _ => {
                return Err(Error::Mismatch(format!(
                    "the run was trained on all rows of `{}`, so none are left for measuring; \
                     train it again with test rows (`data.test`)",
                    rows.name
                ))
                .with_remedy(Remedy::HoldOutRows));
            }
        };
        let all: Vec<u32> = (0..unseen.len() as u32).collect();
        let measured = unseen.select(&evenly(&all, most.max(1)));
        model.card.preprocess.apply(measured.clone())?;
        Ok(Self {
            measured,
            unseen,
            kind,
            rows,
            split: split.clone(),
        })
    }

    /// Whether rows have classes for a classifier.
    pub fn has_classes(&self) -> bool {
        self.rows.class_names().len() > 1 && !self.known().is_empty()
    }

    /// Rows with a known class that are not measured: training rows, and validation rows unless
    /// these are measured.
    pub(super) fn known(&self) -> Vec<u32> {
        let Split {
            labelled,
            unlabelled,
            validation,
            ..
        } = &self.split;
        let validation = match self.kind {
            Measured::Test => validation.as_slice(),
            Measured::Validation => &[],
        };
        let mut rows = [labelled.as_slice(), unlabelled, validation].concat();
        rows.retain(|row| self.rows.labels.class_of(*row).is_some());
        rows.sort_unstable();
        rows
    }

    /// The share of each class among the measured rows whose class is known, otherwise among the
    /// classifier's training rows.
    pub(super) fn class_shares(&self) -> Vec<f64> {
        let classes = self.rows.class_names().len();
        let count = |labels: &Labels, rows: &mut dyn Iterator<Item = u32>| {
            let mut counts = vec![0.0; classes];
            for class in rows.filter_map(|row| labels.class_of(row)) {
                if let Some(count) = counts.get_mut(class as usize) {
                    *count += 1.0;
                }
            }
            counts
        };
        let mut counts = count(&self.unseen.labels, &mut (0..self.unseen.len() as u32));
        if counts.iter().sum::<f64>() == 0.0 {
            counts = count(&self.rows.labels, &mut self.known().into_iter());
        }
        let total: f64 = counts.iter().sum();
        counts.iter().map(|count| count / total.max(1.0)).collect()
    }
}
