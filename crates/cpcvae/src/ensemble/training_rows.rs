//! The training data of ensemble members, and the fitted members.

use super::{NETWORK_PRIOR, NETWORK_PRIOR_OF_VALUES, OF_PIXELS, SPREADING, class_priors};
use crate::pseudo_label::{Classifier, ComparedFeatures, Logistic, Members, Spread};
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
    /// Members fitted to it, and those that are fitted already.
    pub(super) fn fitted(&self, spread: Option<Spread>, of_pixels: Option<Logistic>) -> Fitted {
        let (rows, columns) = (&self.rows.values, self.rows.columns);
        match &self.targets {
            Targets::Classes { labels, classes } => Fitted::Classes(Classifiers {
                members: Members::fit(rows, columns, labels, *classes),
                spread,
                of_pixels,
            }),
            Targets::Values { values, outputs } => {
                Fitted::Values(Regressors::fit(rows, columns, values, *outputs))
            }
        }
    }
}

/// Fitted members.
#[derive(Clone, Debug)]
pub(crate) enum Fitted {
    Classes(Classifiers),
    Values(Regressors),
}

/// Fitted classifiers, in the order of their predictions.
#[derive(Clone, Debug)]
pub(crate) struct Classifiers {
    /// Of the labelled rows alone.
    pub(crate) members: Members,
    /// Label propagation, which is missing in runs of earlier versions.
    pub(crate) spread: Option<Spread>,
    /// Logistic regression on the pixels of images, which is missing there, too.
    pub(crate) of_pixels: Option<Logistic>,
}

impl Classifiers {
    fn count(&self) -> usize {
        let others = [self.spread.is_some(), self.of_pixels.is_some()];
        Members::NAMES.len() + others.into_iter().filter(|is_there| *is_there).count()
    }
}

impl Fitted {
    /// In the order of their predictions.
    pub(super) fn names(&self) -> Vec<&'static str> {
        match self {
            Self::Classes(classifiers) => {
                let names = Members::NAMES.into_iter().chain([SPREADING, OF_PIXELS]);
                names.take(classifiers.count()).collect()
            }
            Self::Values(_) => Regressors::NAMES.to_vec(),
        }
    }

    /// Prior weights of the network and of each member.
    pub(super) fn priors(&self) -> Vec<f64> {
        let (network, members) = match self {
            Self::Classes(classifiers) => (NETWORK_PRIOR, class_priors(classifiers.count())),
            Self::Values(_) => (NETWORK_PRIOR_OF_VALUES, Regressors::PRIORS.to_vec()),
        };
        std::iter::once(network).chain(members).collect()
    }

    /// Predictions of each for prepared rows and what is compared of them, `[rows, columns]` both:
    /// `[rows, outputs]`.
    pub(super) fn predictions(&self, prepared: &[f32], compared: &[f32]) -> Vec<Vec<f32>> {
        match self {
            Self::Classes(classifiers) => {
                let Classifiers {
                    members,
                    spread,
                    of_pixels,
                } = classifiers;
                let mut predictions = members.class_probs(compared);
                predictions.extend(spread.as_ref().map(|spread| spread.class_probs(compared)));
                predictions.extend(
                    of_pixels
                        .as_ref()
                        .map(|fitted| fitted.class_probs(prepared)),
                );
                predictions
            }
            Self::Values(regressors) => regressors.predict(compared),
        }
    }
}
