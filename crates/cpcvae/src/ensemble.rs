//! The answer for a class as a vote: a network beside classifiers of the labelled rows alone.
//!
//! An extension of ours, not the paper's. The members are kept as the labelled rows that they learnt,
//! in `model/members.safetensors`, and are fitted again when a run is opened: that is quick, and
//! nothing but rows and shares has to be checked.

use crate::config::{EnsembleMembers, RunConfig};
use crate::error::{Error, Result};
use crate::prepare::Preprocess;
use crate::pseudo_label::{ComparedFeatures, Members, Vote, log_mean};
use crate::run::RunFolder;
use crate::train::{Parameters, TensorFile, evenly};
use cpcvae_data::{Dataset, Layout, Matrix};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The format that members are written in.
const FORMAT: u32 = 1;
/// Labelled rows that members learn at most, so that opening a run stays quick.
const MOST_LABELS: usize = 2000;
/// The network's share before held-out labels speak: it has seen the unlabelled rows, too.
const NETWORK_SHARE: f64 = 0.25;

/// Members, and how their votes count beside the network's.
#[derive(Clone, Debug)]
pub struct Ensemble {
    learnt: Learnt,
    members: Members,
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
    /// Fits members to the labelled rows of `data`, prepared as the model's are. Nothing where
    /// settings want none, or labels are not at least two classes. Votes are by the members' own
    /// folds, and the network has half of all, until [`Ensemble::with_votes`].
    pub fn fit(
        config: &RunConfig,
        preprocess: &Preprocess,
        data: &Dataset,
        labelled: &[u32],
    ) -> Result<Option<Self>> {
        let classes = data.class_names().len();
        if config.ensemble.members == EnsembleMembers::None || classes < 2 || labelled.is_empty() {
            return Ok(None);
        }
        let chosen = evenly(labelled, MOST_LABELS);
        let prepared = preprocess.apply(data.select(&chosen))?;
        let compared = config.pseudo_labels.features;
        let rows = compared.of(prepared.features.matrix(), &prepared.layout);
        let labels: Vec<(u32, u32)> = (0..)
            .zip(&chosen)
            .filter_map(|(place, row)| Some((place, data.labels.class_of(*row)?)))
            .collect();
        let learnt = Learnt {
            compared,
            rows,
            labels,
            classes,
        };
        let members = learnt.members();
        let left_out = members.left_out(&learnt.rows.values, &learnt.labels);
        let known: Vec<u32> = learnt.labels.iter().map(|(_, class)| *class).collect();
        let network = Vote {
            sharpness: 1.0,
            weight: NETWORK_SHARE,
        };
        let own = Vote::by_left_out(&left_out, &Members::PRIORS, &known, classes).into_iter();
        let own = own.map(|vote| Vote {
            weight: (1.0 - NETWORK_SHARE) * vote.weight,
            ..vote
        });
        Ok(Some(Self {
            votes: std::iter::once(network).chain(own).collect(),
            members,
            learnt,
        }))
    }

    /// The same with votes by what the network and each member said, `[labels, classes]`, of labels
    /// that they did not see.
    pub fn with_votes(mut self, left_out: &[Vec<f32>], labels: &[u32]) -> Self {
        let network = NETWORK_SHARE / (1.0 - NETWORK_SHARE);
        let priors: Vec<f64> = std::iter::once(network).chain(Members::PRIORS).collect();
        self.votes = Vote::by_left_out(left_out, &priors, labels, self.learnt.classes);
        self
    }

    /// What somebody's answers count, the network of that name first.
    pub fn voters(&self, network: &str) -> Vec<Voter> {
        let names = std::iter::once(network).chain(Members::NAMES);
        let voter = |(name, vote): (&str, &Vote)| Voter {
            name: name.into(),
            weight: vote.weight,
        };
        names.zip(&self.votes).map(voter).collect()
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
        Ok(self.members.beliefs(&compared.values))
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
        let tensors = [
            ("rows", vec![rows.rows, rows.columns], rows.values.clone()),
            ("classes", vec![rows.rows], classes.collect()),
        ];
        let named = tensors.map(|(name, shape, values)| (name.to_string(), (shape, values)));
        let about = About {
            format: FORMAT,
            compared: self.learnt.compared,
            votes: self.votes.clone(),
        };
        let file = TensorFile {
            tensors: Parameters(named.into()),
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
        if about.votes.len() != 1 + Members::NAMES.len() || !about.votes.iter().all(is_vote) {
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
