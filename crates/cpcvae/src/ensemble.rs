//! The answer for a class as a vote: a network beside classifiers of the labelled rows alone.
//!
//! An extension of ours, not the paper's. The members are kept as the labelled rows that they learnt,
//! in `model/members.safetensors`, and are fitted again when a run is opened: that is quick, and
//! nothing but rows and shares has to be checked.

use crate::config::{EnsembleMembers, RunConfig};
use crate::error::{Error, Result};
use crate::prepare::Preprocess;
use crate::pseudo_label::{
    ComparedFeatures, Judged, Members, PROPAGATION_PRIOR, Spread, Vote, log_mean,
};
use crate::run::RunFolder;
use crate::train::{Parameters, TensorFile, evenly};
use cpcvae_data::{Dataset, Layout, Matrix, Split};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The format that members are written in.
const FORMAT: u32 = 1;
/// Labelled rows that members learn at most, so that opening a run stays quick.
const MOST_LABELS: usize = 2000;
/// Rows that labels are propagated over at most,
const MOST_SPREAD: usize = 10_000;
/// and numbers in them.
const MOST_NUMBERS: usize = 2_000_000;
/// The member that sees unlabelled rows, too.
const SPREADING: &str = "label-spreading";
/// The network's share before held-out labels speak: it has seen the unlabelled rows, too.
const NETWORK_SHARE: f64 = 0.25;

/// Members, and how their votes count beside the network's.
#[derive(Clone, Debug)]
pub struct Ensemble {
    learnt: Learnt,
    members: Members,
    /// Label propagation; nothing in runs of earlier versions.
    spread: Option<Spread>,
    /// What it said of labels by the others, where it was just fitted.
    judged: Option<Judged>,
    /// The network's first, then one a member.
    votes: Vec<Vote>,
}

/// The labelled rows that members know.
#[derive(Clone, Debug, PartialEq)]
struct Learnt {
    compared: ComparedFeatures,
    /// What is compared of the rows, `[labels, columns]`.
    rows: Matrix,
    labels: Vec<(u32, u32)>,
    classes: usize,
}

/// What an ensemble is made of, for whoever writes it in another format.
pub(crate) struct EnsembleParts<'a> {
    pub(crate) compared: ComparedFeatures,
    pub(crate) members: &'a Members,
    pub(crate) spread: Option<&'a Spread>,
    /// The network's first.
    pub(crate) votes: &'a [Vote],
}

/// What a vote of somebody is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Voter {
    /// Name of the method or the member.
    pub name: String,
    /// Its share of the answer.
    pub weight: f64,
}

/// What the file says beside its tensors.
#[derive(Serialize, Deserialize)]
struct About {
    format: u32,
    compared: ComparedFeatures,
    votes: Vec<Vote>,
}

impl Ensemble {
    /// Fits members to the rows of `split`, prepared as the model's are. Nothing where settings want
    /// none, or labels are not at least two classes. Votes are what is usual, until
    /// [`Ensemble::with_own_votes`] or [`Ensemble::with_votes`].
    pub fn fit(
        config: &RunConfig,
        preprocess: &Preprocess,
        data: &Dataset,
        split: &Split,
    ) -> Result<Option<Self>> {
        let classes = data.class_names().len();
        if config.ensemble.members == EnsembleMembers::None
            || classes < 2
            || split.labelled.is_empty()
        {
            return Ok(None);
        }
        let chosen = evenly(&split.labelled, MOST_LABELS);
        let compared = config.pseudo_labels.features;
        let rows_of = |rows: &[u32]| -> Result<Matrix> {
            let prepared = preprocess.apply(data.select(rows))?;
            Ok(compared.of(prepared.features.matrix(), &prepared.layout))
        };
        let rows = rows_of(&chosen)?;
        let labels: Vec<(u32, u32)> = (0..)
            .zip(&chosen)
            .filter_map(|(place, row)| Some((place, data.labels.class_of(*row)?)))
            .collect();
        let most = (MOST_NUMBERS / rows.columns.max(1)).min(MOST_SPREAD);
        let others = evenly(&split.unlabelled, most.saturating_sub(chosen.len()));
        let mut all = rows.values.clone();
        all.extend(rows_of(&others)?.values);
        let (spread, judged) = Spread::fit(all, rows.columns, &labels, classes);
        let learnt = Learnt {
            compared,
            rows,
            labels,
            classes,
        };
        let priors = priors(NETWORK_SHARE / (1.0 - NETWORK_SHARE), true);
        let sum: f64 = priors.iter().sum();
        let usual = |prior: f64| Vote {
            sharpness: 1.0,
            weight: prior / sum,
        };
        Ok(Some(Self {
            votes: priors.into_iter().map(usual).collect(),
            members: learnt.members(),
            learnt,
            spread: Some(spread),
            judged: Some(judged),
        }))
    }

    /// The same with votes by the members' own folds; the network, whose answers for labels that it
    /// did not see are not known, has a quarter.
    pub fn with_own_votes(mut self) -> Self {
        let Some(judged) = &self.judged else {
            return self;
        };
        let Learnt { rows, labels, .. } = &self.learnt;
        let classes = self.learnt.classes;
        let of_judges = |said: Vec<f32>| -> Vec<f32> {
            let row = |label: &usize| said[label * classes..][..classes].to_vec();
            judged.labels.iter().flat_map(row).collect()
        };
        let members = self.members.left_out(&rows.values, labels).into_iter();
        let mut left_out: Vec<Vec<f32>> = members.map(of_judges).collect();
        left_out.push(judged.said.clone());
        let known: Vec<u32> = judged.labels.iter().map(|label| labels[*label].1).collect();
        let own = Vote::by_left_out(&left_out, &priors(0.0, true)[1..], &known, classes);
        let network = Vote {
            sharpness: 1.0,
            weight: NETWORK_SHARE,
        };
        let own = own.into_iter().map(|vote| Vote {
            weight: (1.0 - NETWORK_SHARE) * vote.weight,
            ..vote
        });
        self.votes = std::iter::once(network).chain(own).collect();
        self
    }

    /// The same with votes by what the network and each member said, `[labels, classes]`, of labels
    /// that they did not see.
    pub fn with_votes(mut self, left_out: &[Vec<f32>], labels: &[u32]) -> Self {
        let priors = priors(NETWORK_SHARE / (1.0 - NETWORK_SHARE), self.spread.is_some());
        self.votes = Vote::by_left_out(left_out, &priors, labels, self.learnt.classes);
        self
    }

    /// What members say together, without the network, as they usually count: `[rows, classes]`.
    pub fn members_mean(said: &[Vec<f32>], classes: usize) -> Vec<f32> {
        let priors = priors(0.0, said.len() > Members::NAMES.len());
        let sum: f64 = priors.iter().sum();
        let vote = |prior: &f64| Vote {
            sharpness: 1.0,
            weight: prior / sum,
        };
        let votes: Vec<Vote> = priors[1..].iter().map(vote).collect();
        log_mean(&votes, said, classes)
    }

    /// What somebody's answers count, the network of that name first.
    pub fn voters(&self, network: &str) -> Vec<Voter> {
        let names = std::iter::once(network).chain(Members::NAMES);
        let names = names.chain(self.spread.is_some().then_some(SPREADING));
        let voter = |(name, vote): (&str, &Vote)| Voter {
            name: name.into(),
            weight: vote.weight,
        };
        names.zip(&self.votes).map(voter).collect()
    }

    /// What it is made of.
    pub(crate) fn parts(&self) -> EnsembleParts<'_> {
        EnsembleParts {
            compared: self.learnt.compared,
            members: &self.members,
            spread: self.spread.as_ref(),
            votes: &self.votes,
        }
    }

    /// What each member says of prepared rows of that layout: `[rows, classes]`.
    pub fn said(&self, rows: Matrix, layout: &Layout) -> Result<Vec<Vec<f32>>> {
        let compared = self.learnt.compared.of(rows, layout);
        if compared.columns != self.members.columns() {
            return Err(Error::Mismatch(format!(
                "members of the ensemble know rows of {} columns, and these have {}; train again",
                self.members.columns(),
                compared.columns
            )));
        }
        let mut said = self.members.beliefs(&compared.values);
        said.extend(
            self.spread
                .as_ref()
                .map(|spread| spread.beliefs(&compared.values)),
        );
        Ok(said)
    }

    /// The common answer: the network's, `[rows, classes]`, and the members', in log space.
    pub fn mean(&self, network: Matrix, said: Vec<Vec<f32>>) -> Matrix {
        let mut all = vec![network.values];
        all.extend(said);
        Matrix {
            values: log_mean(&self.votes, &all, self.learnt.classes),
            ..network
        }
    }

    /// Writes it beside the run's model.
    pub fn save(&self, folder: &RunFolder) -> Result<()> {
        let rows = &self.learnt.rows;
        let classes = self.learnt.labels.iter().map(|(_, class)| *class as f32);
        let mut tensors = vec![
            ("rows", vec![rows.rows, rows.columns], rows.values.clone()),
            ("classes", vec![rows.rows], classes.collect()),
        ];
        if let Some(spread) = &self.spread {
            let (all, beliefs) = spread.parts();
            let count = all.len() / rows.columns;
            tensors.push(("spread.rows", vec![count, rows.columns], all.to_vec()));
            let shape = vec![count, self.learnt.classes];
            tensors.push(("spread.beliefs", shape, beliefs.to_vec()));
        }
        let named = tensors.into_iter();
        let named = named.map(|(name, shape, values)| (name.to_string(), (shape, values)));
        let about = About {
            format: FORMAT,
            compared: self.learnt.compared,
            votes: self.votes.clone(),
        };
        let file = TensorFile {
            tensors: Parameters(named.collect()),
            about: serde_json::to_string(&about).expect("plain values serialise"),
        };
        file.save(&path(folder))
    }

    /// That of a run for so many classes; nothing where it has none.
    pub fn load(folder: &RunFolder, classes: usize) -> Result<Option<Self>> {
        let path = path(folder);
        if !path.exists() {
            return Ok(None);
        }
        let file = TensorFile::load(&path)?;
        Self::of_file(file, classes).map(Some).map_err(|problem| {
            let advice = "remove it to have the network answer alone, or train again";
            Error::file(Path::new(&path), format!("{problem}; {advice}"))
        })
    }

    fn of_file(mut file: TensorFile, classes: usize) -> std::result::Result<Self, String> {
        let about: About = serde_json::from_str(&file.about).map_err(|error| error.to_string())?;
        if about.format != FORMAT {
            return Err(format!("has format {}, not {FORMAT}", about.format));
        }
        let is_vote = |vote: &Vote| {
            (0.0..=1.0).contains(&vote.weight) && (0.0..=100.0).contains(&vote.sharpness)
        };
        let spreads = file.tensors.0.contains_key("spread.rows");
        let voters = 1 + Members::NAMES.len() + usize::from(spreads);
        if about.votes.len() != voters || !about.votes.iter().all(is_vote) {
            return Err("its votes are not those of a network and its members".into());
        }
        let mut take = |name: &str| file.tensors.0.remove(name).ok_or(format!("lacks `{name}`"));
        let (shape, values) = take("rows")?;
        let (_, known) = take("classes")?;
        let &[rows, columns] = shape.as_slice() else {
            return Err("`rows` is not a table".into());
        };
        if rows == 0 || rows > MOST_LABELS || columns == 0 || known.len() != rows {
            return Err(format!("{rows} rows of {columns} columns do not fit"));
        }
        let spread = match spreads {
            false => None,
            true => {
                let (_, all) = take("spread.rows")?;
                let (_, beliefs) = take("spread.beliefs")?;
                let is_share = |p: &f32| (0.0..=1.0).contains(p);
                if !beliefs.iter().all(is_share) || !all.iter().all(|value| value.is_finite()) {
                    return Err("`spread` holds what is no number or no probability".into());
                }
                let spread = Spread::kept(columns, classes, all, beliefs);
                Some(spread.ok_or("`spread` does not fit its rows")?)
            }
        };
        let class = |class: &f32| (class.fract() == 0.0).then_some(*class as i64);
        let class = |value: &f32| class(value).filter(|class| (0..classes as i64).contains(class));
        let labels: Option<Vec<(u32, u32)>> = (0..)
            .zip(&known)
            .map(|(place, value)| Some((place, class(value)? as u32)))
            .collect();
        let learnt = Learnt {
            compared: about.compared,
            rows: Matrix::new(rows, columns, values).map_err(|error| error.to_string())?,
            labels: labels.ok_or("has classes that the model does not have")?,
            classes,
        };
        if learnt.rows.values.iter().any(|value| value.is_infinite()) {
            return Err("has rows with infinite values".into());
        }
        Ok(Self {
            members: learnt.members(),
            learnt,
            spread,
            judged: None,
            votes: about.votes,
        })
    }
}

impl Learnt {
    fn members(&self) -> Members {
        let rows = &self.rows;
        Members::fit(&rows.values, rows.columns, &self.labels, self.classes)
    }
}

/// What the network and each member count before any label speaks.
fn priors(network: f64, spreads: bool) -> Vec<f64> {
    let members = std::iter::once(network).chain(Members::PRIORS);
    members
        .chain(spreads.then_some(PROPAGATION_PRIOR))
        .collect()
}

fn path(folder: &RunFolder) -> PathBuf {
    folder.path().join("model").join("members.safetensors")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of two rows for two classes.
    fn file(classes: Vec<f32>, weight: f64) -> TensorFile {
        let vote = Vote {
            sharpness: 1.0,
            weight,
        };
        let about = About {
            format: FORMAT,
            compared: ComparedFeatures::Values,
            votes: vec![vote; 1 + Members::NAMES.len()],
        };
        let rows = (vec![2, 1], vec![0.0, 1.0]);
        let named = [
            ("rows".to_string(), rows),
            ("classes".to_string(), (vec![classes.len()], classes)),
        ];
        TensorFile {
            tensors: Parameters(named.into()),
            about: serde_json::to_string(&about).expect("plain"),
        }
    }

    #[test]
    fn a_file_that_does_not_fit_is_refused_and_one_that_does_answers() {
        let problem = |file| Ensemble::of_file(file, 2).expect_err("refused");
        assert!(problem(file(vec![0.0, 2.0], 0.2)).contains("classes that the model"));
        assert!(problem(file(vec![0.0, 0.5], 0.2)).contains("classes that the model"));
        assert!(problem(file(vec![0.0], 0.2)).contains("do not fit"));
        assert!(problem(file(vec![0.0, 1.0], -1.0)).contains("votes"));
        assert!(problem(file(vec![0.0, 1.0], f64::INFINITY)).contains("null"));
        let ensemble = Ensemble::of_file(file(vec![0.0, 1.0], 0.2), 2).expect("fits");
        let layout = Layout::Columns(vec!["x".into()]);
        let rows = |values: Vec<f32>| Matrix::new(values.len(), 1, values).expect("fits");
        let said = ensemble.said(rows(vec![-1.0, 2.0]), &layout).expect("said");
        let unsure = Matrix::new(2, 2, vec![0.5; 4]).expect("fits");
        let mean = ensemble.mean(unsure, said);
        assert!(mean.row(0)[0] > 0.6 && mean.row(1)[1] > 0.6, "{mean:?}");
        let wide = Matrix::new(1, 3, vec![0.0; 3]).expect("fits");
        assert!(ensemble.said(wide, &layout).is_err());
    }
}
