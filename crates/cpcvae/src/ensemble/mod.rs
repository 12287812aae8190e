//! Ensembles for a user's data: a network and classifiers, or regressors, of the labelled rows
//! alone.
//!
//! An extension of ours, not the paper's. Only the labelled rows of the members are stored, in
//! `model/members.safetensors`; the members are fitted again when a run is opened: that is fast,
//! and only rows and weights need to be validated.

mod file;
mod training_rows;

use crate::config::{EnsembleMembers, RunConfig};
use crate::error::{Error, Result};
use crate::evenly::evenly;
use crate::prepare::Preprocess;
use crate::pseudo_label::{
    Classifier, ComparedFeatures, LeaveOneOut, Members, PCA_LOGISTIC_PRIOR, PROPAGATION_PRIOR,
    PcaLogistic, Spread, Vote, log_mean,
};
use crate::regressors::{self, Regressors};
use cpcvae_data::{Dataset, Labels, Layout, Matrix, Split};
use serde::{Deserialize, Serialize};
pub(crate) use training_rows::{Classifiers, Fitted};
use training_rows::{Targets, TrainingRows};

/// The most labelled rows for the members, so that opening a run stays fast.
const MOST_LABELS: usize = 2000;
/// The most rows for label propagation,
const MOST_SPREAD: usize = 10_000;
/// and numbers in them.
const MOST_NUMBERS: usize = 2_000_000;
/// The member that uses unlabelled rows too.
const SPREADING: &str = "label-spreading";
/// The member that sees the pixels of images.
const OF_PIXELS: &str = "pca-logistic-regression";
/// The most images without a label whose principal components it uses.
const MOST_IMAGES: usize = 2000;
/// The prior weight of the network, relative to 1 for all classifiers of the labelled rows
/// together: it has seen the unlabelled rows too, and is the best single member on most tables.
const NETWORK_PRIOR: f64 = 1.0;
/// The same beside regressors.
const NETWORK_PRIOR_OF_VALUES: f64 = 1.0 / 3.0;

/// Members, and the weights of their votes and the network's.
#[derive(Clone, Debug)]
pub struct Ensemble {
    training_rows: TrainingRows,
    fitted: Fitted,
    /// Leave-one-out predictions of label propagation, if it was just fitted.
    leave_one_out: Option<LeaveOneOut>,
    /// Out-of-fold predictions of the logistic regression on pixels, if it was just fitted.
    of_pixels_left_out: Option<Vec<f32>>,
    /// The network's first, then one a member.
    votes: Vec<Vote>,
}

/// The parts of an ensemble, for export in another format.
pub(crate) struct EnsembleParts<'a> {
    pub(crate) compared: ComparedFeatures,
    pub(crate) fitted: &'a Fitted,
    /// The network's first.
    pub(crate) votes: &'a [Vote],
    /// Factor and offset of class probabilities after the vote.
    pub(crate) succession: (f64, f64),
}

/// The weight of a member or the network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Voter {
    /// Name of the method or the member.
    pub name: String,
    /// Its weight in the prediction.
    pub weight: f64,
}

/// Labels for scoring predictions.
#[derive(Clone, Debug, PartialEq)]
pub enum Truth {
    /// One class a row.
    Classes(Vec<u32>),
    /// Continuous labels `[rows, outputs]`.
    Values(Vec<f32>),
}

impl Truth {
    /// The labels of rows of `data`, all of which are known.
    pub fn of(data: &Dataset, rows: &[u32]) -> Self {
        match &data.labels {
            Labels::Values { .. } => {
                let values = rows.iter().filter_map(|row| data.labels.values_of(*row));
                Self::Values(values.flatten().copied().collect())
            }
            _ => {
                let classes = rows.iter().filter_map(|row| data.labels.class_of(*row));
                Self::Classes(classes.collect())
            }
        }
    }
}

impl Ensemble {
    /// Whether these settings and labels have members: at least two classes, or numbers.
    pub(crate) fn is_wanted(config: &RunConfig, labels: &Labels) -> bool {
        let fits = match labels {
            Labels::Classes { .. } => labels.class_names().len() > 1,
            Labels::Values { .. } => true,
            Labels::None => false,
        };
        fits && config.ensemble.members == EnsembleMembers::All
    }

    /// Fits members to the rows of `split`, prepared like the model's. `None` where settings want
    /// none, or labels are not at least two classes or numbers. Votes have prior weights until
    /// [`Ensemble::with_own_votes`] or [`Ensemble::with_votes`].
    pub fn fit(
        config: &RunConfig,
        preprocess: &Preprocess,
        data: &Dataset,
        split: &Split,
    ) -> Result<Option<Self>> {
        if !Self::is_wanted(config, &data.labels) || split.labelled.is_empty() {
            return Ok(None);
        }
        let chosen = evenly(&split.labelled, MOST_LABELS);
        let compared = config.pseudo_labels.features;
        let prepared = |rows: &[u32]| preprocess.apply(data.select(rows));
        let compared_of = |rows: Dataset| compared.of(rows.features.matrix(), &rows.layout);
        let labelled = prepared(&chosen)?;
        let targets = Targets::of(&labelled.labels);
        let of_pixels = match (&targets, &labelled.layout) {
            (Targets::Classes { labels, classes }, Layout::Image { .. }) => {
                let Matrix {
                    mut values,
                    columns,
                    ..
                } = labelled.features.matrix();
                let others = evenly(&split.unlabelled, MOST_IMAGES);
                values.extend(prepared(&others)?.features.matrix().values);
                PcaLogistic::fit(&values, columns, labels, *classes)
            }
            _ => None,
        };
        let rows = compared_of(labelled);
        let (spread, leave_one_out) = match &targets {
            Targets::Values { .. } => (None, None),
            Targets::Classes { labels, classes } => {
                let most = (MOST_NUMBERS / rows.columns.max(1)).min(MOST_SPREAD);
                let others = evenly(&split.unlabelled, most.saturating_sub(chosen.len()));
                let mut all = rows.values.clone();
                all.extend(compared_of(prepared(&others)?).values);
                let (spread, leave_one_out) = Spread::fit(all, rows.columns, labels, *classes);
                (Some(spread), Some(leave_one_out))
            }
        };
        let training_rows = TrainingRows {
            compared,
            rows,
            targets,
        };
        let (of_pixels, of_pixels_left_out) = of_pixels
            .map(|fitted| (fitted.of_pixels, fitted.left_out))
            .unzip();
        let fitted = training_rows.fitted(spread, of_pixels);
        let usual = as_shares(fitted.priors());
        Ok(Some(Self {
            votes: usual.into_iter().map(vote_of).collect(),
            fitted,
            training_rows,
            leave_one_out,
            of_pixels_left_out,
        }))
    }

    /// Sets the votes by the members' own cross-validation; the network, whose out-of-fold
    /// predictions are not known, keeps the share of its prior.
    pub fn with_own_votes(mut self) -> Self {
        let Some(own) = self.own_votes() else {
            return self;
        };
        let network = as_shares(self.fitted.priors())[0];
        let own = own.into_iter().map(|vote| Vote {
            weight: (1.0 - network) * vote.weight,
            ..vote
        });
        self.votes = std::iter::once(vote_of(network)).chain(own).collect();
        self
    }

    /// Votes of the members alone, by their own cross-validation.
    fn own_votes(&self) -> Option<Vec<Vote>> {
        let rows = &self.training_rows.rows;
        let priors = &self.fitted.priors()[1..];
        match (&self.training_rows.targets, &self.fitted) {
            (Targets::Classes { labels, classes }, Fitted::Classes(fitted)) => {
                let leave_one_out = self.leave_one_out.as_ref()?;
                let of_left_out = |predictions: Vec<f32>| -> Vec<f32> {
                    let row = |label: &usize| predictions[label * classes..][..*classes].to_vec();
                    leave_one_out.labels.iter().flat_map(row).collect()
                };
                let left_out = fitted.members.left_out(&rows.values, labels).into_iter();
                let mut left_out: Vec<Vec<f32>> = left_out.map(of_left_out).collect();
                left_out.push(leave_one_out.class_probs.clone());
                left_out.extend(self.of_pixels_left_out.clone().map(of_left_out));
                let known = leave_one_out.labels.iter().map(|label| labels[*label].1);
                let known: Vec<u32> = known.collect();
                Some(Vote::by_left_out(&left_out, priors, &known, *classes))
            }
            (Targets::Values { values, outputs }, _) => {
                let left_out = Regressors::left_out(&rows.values, rows.columns, values, *outputs);
                let shares = regressors::shares(&left_out, priors, values, *outputs);
                Some(shares.into_iter().map(vote_of).collect())
            }
            (Targets::Classes { .. }, Fitted::Values(_)) => None,
        }
    }

    /// Sets the votes by the out-of-fold predictions of the network and each member, `[labels,
    /// outputs]`.
    pub fn with_votes(mut self, left_out: &[Vec<f32>], truth: &Truth) -> Self {
        let priors = self.fitted.priors();
        let outputs = self.training_rows.targets.outputs();
        self.votes = match truth {
            Truth::Classes(classes) => Vote::by_left_out(left_out, &priors, classes, outputs),
            Truth::Values(values) => {
                let shares = regressors::shares(left_out, &priors, values, outputs);
                shares.into_iter().map(vote_of).collect()
            }
        };
        self
    }

    /// The mean prediction of the members, `[rows, outputs]`, without the network, with prior
    /// weights.
    pub(crate) fn members_mean(predictions: &[Vec<f32>], labels: &Labels) -> Vec<f32> {
        match labels {
            Labels::Values { .. } => {
                regressors::mean(&as_shares(Regressors::PRIORS.to_vec()), predictions)
            }
            _ => {
                let shares = as_shares(class_priors(predictions.len()));
                let votes: Vec<Vote> = shares.into_iter().map(vote_of).collect();
                log_mean(&votes, predictions, labels.class_names().len())
            }
        }
    }

    /// The weights of all voters; the network, with that name, comes first.
    pub fn voters(&self, network: &str) -> Vec<Voter> {
        let names = std::iter::once(network).chain(self.fitted.names());
        let voter = |(name, vote): (&str, &Vote)| Voter {
            name: name.into(),
            weight: vote.weight,
        };
        names.zip(&self.votes).map(voter).collect()
    }

    /// Its parts.
    pub(crate) fn parts(&self) -> EnsembleParts<'_> {
        EnsembleParts {
            compared: self.training_rows.compared,
            fitted: &self.fitted,
            votes: &self.votes,
            succession: self.succession(),
        }
    }

    /// Factor and offset that mix class probabilities with the uniform distribution by 1 / (n + 1)
    /// for n labels (after Laplace's rule of succession): however well n labels were predicted, the
    /// next one may be wrong.
    fn succession(&self) -> (f64, f64) {
        let share = 1.0 / (self.training_rows.rows.rows as f64 + 1.0);
        let classes = self.training_rows.targets.outputs() as f64;
        (1.0 - share, share / classes)
    }

    /// Predictions of each member for prepared rows of that layout, `[rows, outputs]`: class
    /// probabilities, or continuous labels in the network's units.
    pub fn predictions(&self, rows: Matrix, layout: &Layout) -> Result<Vec<Vec<f32>>> {
        if let Fitted::Classes(Classifiers {
            of_pixels: Some(of_pixels),
            ..
        }) = &self.fitted
            && of_pixels.columns() != rows.columns
        {
            return Err(Error::Mismatch(format!(
                "the ensemble was fitted to images of {} values, and these have {}; train again",
                of_pixels.columns(),
                rows.columns
            )));
        }
        let compared = self.training_rows.compared.of(rows.clone(), layout);
        if compared.columns != self.training_rows.rows.columns {
            return Err(Error::Mismatch(format!(
                "members of the ensemble know rows of {} columns, and these have {}; train again",
                self.training_rows.rows.columns, compared.columns
            )));
        }
        Ok(self.fitted.predictions(&rows.values, &compared.values))
    }

    /// The weighted mean of the network's predictions, `[rows, outputs]`, and the members': of
    /// classes in log space, and mixed with the uniform distribution a little.
    pub fn mean(&self, network: Matrix, predictions: Vec<Vec<f32>>) -> Matrix {
        let mut all = vec![network.values];
        all.extend(predictions);
        let values = match &self.training_rows.targets {
            Targets::Classes { classes, .. } => {
                let (factor, offset) = self.succession();
                let mixed = |p: f32| (factor * f64::from(p) + offset) as f32;
                log_mean(&self.votes, &all, *classes)
                    .into_iter()
                    .map(mixed)
                    .collect()
            }
            Targets::Values { .. } => {
                let shares: Vec<f64> = self.votes.iter().map(|vote| vote.weight).collect();
                regressors::mean(&shares, &all)
            }
        };
        Matrix { values, ..network }
    }
}

/// Prior weights of that many members for classes, in their order.
fn class_priors(members: usize) -> Vec<f64> {
    let all = Members::PRIORS.into_iter();
    let all = all.chain([PROPAGATION_PRIOR, PCA_LOGISTIC_PRIOR]);
    all.take(members).collect()
}

fn as_shares(priors: Vec<f64>) -> Vec<f64> {
    let sum: f64 = priors.iter().sum();
    priors.into_iter().map(|prior| prior / sum).collect()
}

/// A vote that does not change the sharpness.
fn vote_of(weight: f64) -> Vote {
    Vote {
        sharpness: 1.0,
        weight,
    }
}
