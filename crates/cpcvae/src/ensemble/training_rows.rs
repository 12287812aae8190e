//! The training data of ensemble members, and the fitted members.

use super::{NETWORK_PRIOR, NETWORK_PRIOR_OF_VALUES, SPREADING, class_priors};
use crate::pseudo_label::{ComparedFeatures, Members, Spread};
use crate::regressors::Regressors;
use cpcvae_data::{Labels, Matrix};

/// The labelled rows that members are fitted to.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TrainingRows {
    pub(super) compared: ComparedFeatures,
    /// The features of the rows, `[labels, columns]`.
    pub(super) rows: Matrix,
    pub(super) targets: Targets,
}

/// Their labels.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Targets {
    /// (index of the row, class)
    Classes {
        labels: Vec<(u32, u32)>,
        classes: usize,
    },
    /// Standardised like the network's labels, `[labels, outputs]`.
    Values { values: Vec<f32>, outputs: usize },
}

impl Targets {
    /// The labels of prepared rows, all of which have one.
    pub(super) fn of(labels: &Labels) -> Self {
        match labels {
            Labels::Values { of_row, .. } => Self::Values {
                values: of_row.iter().flatten().flatten().copied().collect(),
                outputs: labels.dimensions(),
            },
            _ => {
                let classes = labels.class_names().len();
                let rows = match labels {
                    Labels::Classes { of_row, .. } => of_row.len() as u32,
                    _ => 0,
                };
                let known = (0..rows).filter_map(|row| Some((row, labels.class_of(row)?)));
                Self::Classes {
                    labels: known.collect(),
                    classes,
                }
            }
        }
    }

    /// Number of classes, or of values in a label.
    pub(super) fn outputs(&self) -> usize {
        match self {
            Self::Classes { classes, .. } => *classes,
            Self::Values { outputs, .. } => *outputs,
        }
    }
}

impl TrainingRows {
    /// Members fitted to it.
    pub(super) fn fitted(&self, spread: Option<Spread>) -> Fitted {
        let (rows, columns) = (&self.rows.values, self.rows.columns);
        match &self.targets {
            Targets::Classes { labels, classes } => {
                Fitted::Classes(Members::fit(rows, columns, labels, *classes), spread)
            }
            Targets::Values { values, outputs } => {
                Fitted::Values(Regressors::fit(rows, columns, values, *outputs))
            }
        }
    }
}

/// Fitted members.
#[derive(Clone, Debug)]
pub(crate) enum Fitted {
    /// Classifiers and label propagation, which is missing in runs of earlier versions.
    Classes(Members, Option<Spread>),
    Values(Regressors),
}

impl Fitted {
    /// In the order of their predictions.
    pub(super) fn names(&self) -> Vec<&'static str> {
        match self {
            Self::Classes(_, spread) => {
                let names = Members::NAMES.into_iter();
                names.chain(spread.is_some().then_some(SPREADING)).collect()
            }
            Self::Values(_) => Regressors::NAMES.to_vec(),
        }
    }

    /// Prior weights of the network and of each member.
    pub(super) fn priors(&self) -> Vec<f64> {
        let (network, members) = match self {
            Self::Classes(_, spread) => (NETWORK_PRIOR, class_priors(spread.is_some())),
            Self::Values(_) => (NETWORK_PRIOR_OF_VALUES, Regressors::PRIORS.to_vec()),
        };
        std::iter::once(network).chain(members).collect()
    }

    /// Predictions of each for rows `[rows, columns]`: `[rows, outputs]`.
    pub(super) fn predictions(&self, rows: &[f32]) -> Vec<Vec<f32>> {
        match self {
            Self::Classes(members, spread) => {
                let mut predictions = members.class_probs(rows);
                predictions.extend(spread.as_ref().map(|spread| spread.class_probs(rows)));
                predictions
            }
            Self::Values(regressors) => regressors.predict(rows),
        }
    }
}
