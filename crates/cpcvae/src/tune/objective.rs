//! What trials are evaluated on, and the rows that none of them sees.

use super::{Error, Result};
use crate::config::RunConfig;
use crate::crossfit::{Folding, HeldOut};
use crate::infer::Evaluation;
use crate::infer::quality::quality;
use crate::prepare::Prepared;
use cpcvae_data::{Dataset, Folds, Labels, Source, Split};
use serde::{Deserialize, Serialize};

/// With at least this many labels, a fold of them is set aside for the final estimate.
const FEWEST: usize = 20;
/// The number of folds for that, of which one is set aside.
const OUTER_FOLDS: usize = 5;
/// The number of the deal, which no cross-fit uses.
const OUTER_REPEAT: u64 = 1 << 32;

/// The value of trials. Smaller is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Objective {
    /// The loss on validation rows: one training a trial.
    Validation {
        /// Rows with a label.
        rows: usize,
    },
    /// The loss on labels that are held out fold by fold: one training per fold.
    CrossFit {
        /// Labels that are held out.
        rows: usize,
        /// The folds.
        folds: usize,
    },
}

/// The rows of the final estimate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unseen {
    /// Test rows.
    Test,
    /// A fold of labelled rows, set aside before the search.
    Fold(Vec<u32>),
    /// Nothing, and why.
    Nothing(String),
}

impl Objective {
    /// Validation rows if there are any, held-out labels otherwise.
    pub(super) fn of(config: &RunConfig, split: &Split, folding: &Folding) -> Result<Self> {
        if !split.validation.is_empty() {
            let rows = split.validation.len();
            return Ok(Self::Validation { rows });
        }
        if !config.method.uses_labels() {
            let problem = "is 0, and a method without labels is judged by validation rows; say how \
                           many, for example 0.1";
            return Err(Error::setting("data.validation", problem));
        }
        Ok(Self::CrossFit {
            rows: split.labelled.len(),
            folds: folding.folds,
        })
    }

    /// Number of labels that each trial is evaluated on.
    pub fn rows(&self) -> usize {
        match self {
            Self::Validation { rows } | Self::CrossFit { rows, .. } => *rows,
        }
    }
}

/// The rows of the search, and those that are set aside.
pub(super) fn set_aside(source: &Source, config: &RunConfig) -> Result<(Split, Unseen)> {
    let has_test = source.test.is_some();
    let prepared = Prepared::new(source.clone(), config, None)?;
    let mut split = prepared.training.split;
    if has_test || !split.test.is_empty() {
        split.test = Vec::new();
        return Ok((split, Unseen::Test));
    }
    if !config.method.uses_labels() {
        let why = "there are no test rows, and the method has no labels to hold out";
        return Ok((split, Unseen::Nothing(why.into())));
    }
    let labels = split.labelled.len();
    let data = &source.rows;
    let folds = (labels >= FEWEST).then(|| {
        Folds::deal(
            data,
            &split.labelled,
            OUTER_FOLDS,
            config.seed,
            OUTER_REPEAT,
        )
    });
    let Some(Ok(mut folds)) = folds else {
        let why = format!(
            "{labels} labels are too few to set some aside before the search, which takes {FEWEST}; \
             there are no test rows either (`data.test`)"
        );
        return Ok((split, Unseen::Nothing(why)));
    };
    let aside = folds.held_out.swap_remove(0);
    split
        .labelled
        .retain(|row| aside.binary_search(row).is_err());
    Ok((split, Unseen::Fold(aside)))
}

/// The figure of an evaluation that is minimised.
pub(super) fn loss(evaluation: &Evaluation) -> Option<f64> {
    let by_evidence = evaluation.elbo.map(|elbo| -elbo);
    evaluation.log_loss.or(evaluation.rmse).or(by_evidence)
}

/// The same for held-out rows.
pub(super) fn held_out_loss(data: &Dataset, held_out: &HeldOut) -> Option<f64> {
    let outputs = &held_out.outputs;
    match &data.labels {
        Labels::Classes { .. } => {
            let classes: Option<Vec<u32>> = held_out
                .rows
                .iter()
                .map(|row| data.labels.class_of(*row))
                .collect();
            Some(quality(&outputs.values, outputs.columns, &classes?)?.log_loss)
        }
        Labels::Values { .. } => {
            let (mut squares, mut count) = (0.0, 0.0);
            let rows = held_out.rows.iter();
            for (row, predictions) in rows.zip(outputs.values.chunks_exact(outputs.columns.max(1)))
            {
                for (truth, prediction) in data.labels.values_of(*row)?.iter().zip(predictions) {
                    squares += f64::from(truth - prediction).powi(2);
                    count += 1.0;
                }
            }
            (count > 0.0).then(|| (squares / count).sqrt())
        }
        Labels::None => None,
    }
}

/// Its name.
pub(super) fn loss_name(data: &Dataset, config: &RunConfig) -> &'static str {
    match (&data.labels, config.method.uses_labels()) {
        (Labels::Classes { .. }, true) => "log-loss",
        (Labels::Values { .. }, true) => "RMSE",
        _ => "negative ELBO",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Request;
    use cpcvae_data::{Layout, Matrix};

    fn rows(labelled: usize) -> Dataset {
        let values = Matrix::new(100, 2, (0..200).map(|i| (i % 13) as f32).collect());
        let names = ["a", "b"].map(|name| name.into());
        let classes = (0..100).map(|i| (i < labelled).then_some(["x", "y"][i % 2]));
        let labels = crate::prelude::Labels::classes(classes);
        Dataset::new(
            "made",
            values.expect("fits"),
            Layout::Columns(names.into()),
            labels,
        )
        .expect("fits")
    }

    fn aside(labelled: usize, settings: &[&str]) -> (Split, Unseen, RunConfig) {
        let mut request = Request::new(Some("pc"));
        let pairs: Vec<String> = settings.iter().map(ToString::to_string).collect();
        request.push("test", crate::config::parse_settings(&pairs).expect("ok"));
        let data = rows(labelled);
        let config = request.settings_for(&data).expect("ok");
        let (split, unseen) = set_aside(&data.into(), &config).expect("ok");
        (split, unseen, config)
    }

    #[test]
    fn a_fold_that_the_search_never_sees_is_in_none_of_its_rows() {
        let (split, unseen, _) = aside(40, &[]);
        let Unseen::Fold(fold) = unseen else {
            panic!("{unseen:?}")
        };
        assert_eq!((fold.len(), split.labelled.len()), (8, 32));
        let others = [&split.labelled, &split.unlabelled, &split.validation];
        assert!(
            fold.iter()
                .all(|row| others.iter().all(|rows| !rows.contains(row)))
        );
    }

    #[test]
    fn test_rows_come_first_and_few_labels_give_no_estimate() {
        let (split, unseen, _) = aside(40, &["data.test=10"]);
        assert_eq!((unseen, split.test.len()), (Unseen::Test, 0));
        let (split, unseen, _) = aside(10, &[]);
        assert_eq!(split.labelled.len(), 10);
        let Unseen::Nothing(why) = unseen else {
            panic!("{unseen:?}")
        };
        assert!(why.starts_with("10 labels are too few"), "{why}");
    }

    #[test]
    fn validation_rows_judge_where_there_are_some() {
        let folding = |data: &Dataset| Folding::default_for(&data.layout, 0);
        let of = |settings: &[&str]| {
            let (split, _, config) = aside(60, settings);
            Objective::of(&config, &split, &folding(&rows(60))).expect("labels")
        };
        assert_eq!(
            of(&["data.validation=12"]),
            Objective::Validation { rows: 12 }
        );
        assert_eq!(of(&[]), Objective::CrossFit { rows: 48, folds: 5 });
    }

    #[test]
    fn losses_of_held_out_rows_are_what_they_are_called() {
        let data = rows(4);
        let held_out = |rows: Vec<u32>, columns: usize, values: Vec<f32>| HeldOut {
            outputs: Matrix::new(rows.len(), columns, values).expect("fits"),
            rows,
        };
        let two = held_out(vec![0, 1], 2, vec![0.5, 0.5, 0.75, 0.25]);
        let loss = held_out_loss(&data, &two).expect("classes");
        // -(ln 0.5 + ln 0.25) / 2
        assert!((loss - 1.039_720_770_839_917_9).abs() < 1e-6, "{loss}");
    }
}
