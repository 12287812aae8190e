//! How to draw a split.

use crate::random::{RandomPurpose, generator};
use crate::{DataError, Dataset, Labels, Result, Split};
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// How many rows to keep out of training. Only rows with a label are held out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Holdout {
    /// None.
    #[default]
    None,
    /// This many rows.
    Rows(usize),
    /// This share of the rows that have labels, between 0 and 1.
    Fraction(f64),
}

/// How to draw a [`Split`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SplitPlan {
    /// How many labels training may use in all, equally many a class; the other
    /// training rows count as unlabelled. `None` uses every label there is.
    pub labels: Option<usize>,
    /// Rows for choosing settings and stopping.
    pub validation: Holdout,
    /// Rows for the final figure. Leave at `None` when the data set has its own.
    pub test: Holdout,
    /// The seed of the split.
    pub seed: u64,
}

impl SplitPlan {
    /// The paper's protocol on the 60,000 training rows of MNIST: 10,000 rows
    /// validate, `labels` rows are labelled, all others unlabelled; the test
    /// set is MNIST's own.
    pub fn paper_mnist(labels: usize, seed: u64) -> SplitPlan {
        SplitPlan {
            labels: Some(labels),
            validation: Holdout::Rows(10_000),
            test: Holdout::None,
            seed,
        }
    }
}

impl Split {
    /// Draws a split.
    ///
    /// The rows with labels are put in a random order in which every section has the classes in
    /// proportion. Labelled training rows are taken from its front, equally many a class, and
    /// held-out rows from its end. So the same seed with more labels gives the same labelled rows
    /// and more, and (while rows suffice) the same validation and test rows.
    pub fn draw(data: &Dataset, plan: &SplitPlan) -> Result<Split> {
        let mut random = generator(plan.seed, RandomPurpose::Split, 0);
        let known = data.labelled_rows();
        if known.is_empty() {
            return Err(DataError::Split(format!(
                "no row of `{}` has a label; name the label column, or check which value marks \
                 unlabelled rows",
                data.name
            )));
        }
        let (order, reserved) = match &data.labels {
            Labels::Classes { names, .. } => {
                let classes = rows_of_classes(data, names, &mut random)?;
                let quotas = quotas(&classes, names, plan.labels, &mut random)?;
                let reserved = classes
                    .iter()
                    .zip(quotas)
                    .flat_map(|(rows, quota)| rows[..quota].to_vec());
                (
                    in_proportion(&classes, &mut random),
                    reserved.collect::<Vec<_>>(),
                )
            }
            Labels::Values { .. } | Labels::None => {
                let mut order = known.clone();
                order.shuffle(&mut random);
                let reserved = order[..continuous_quota(order.len(), plan.labels)?].to_vec();
                (order, reserved)
            }
        };
        let mut is_free = vec![true; data.len()];
        reserved
            .iter()
            .for_each(|&row| is_free[row as usize] = false);
        let mut free = order.into_iter().rev().filter(|&row| is_free[row as usize]);

        let test_rows = plan.test.rows(known.len(), "test")?;
        let validation_rows = plan.validation.rows(known.len(), "validation")?;
        let available = known.len() - reserved.len();
        if test_rows.saturating_add(validation_rows) > available {
            return Err(DataError::Split(format!(
                "{} rows for validation and test were asked for, but of {} rows with a label {} must stay for training, which leaves {available}; hold \
                 out fewer rows",
                validation_rows.saturating_add(test_rows),
                known.len(),
                reserved.len()
            )));
        }
        let test: Vec<u32> = free.by_ref().take(test_rows).collect();
        let validation: Vec<u32> = free.by_ref().take(validation_rows).collect();
        let rest = free.collect::<Vec<_>>();

        let without_label = (0..data.len() as u32).filter(|&row| !data.labels.is_known(row));
        let (labelled, unlabelled) = match plan.labels {
            Some(_) => (reserved, without_label.chain(rest).collect()),
            None => ([reserved, rest].concat(), without_label.collect()),
        };
        let mut split = Split {
            labelled,
            unlabelled,
            validation,
            test,
        };
        for part in [
            &mut split.labelled,
            &mut split.unlabelled,
            &mut split.validation,
            &mut split.test,
        ] {
            part.sort_unstable();
        }
        Ok(split)
    }
}

impl Holdout {
    fn rows(self, known: usize, part: &str) -> Result<usize> {
        match self {
            Holdout::None => Ok(0),
            Holdout::Rows(rows) => Ok(rows),
            Holdout::Fraction(share) if (0.0..1.0).contains(&share) => {
                Ok((share * known as f64).round() as usize)
            }
            Holdout::Fraction(share) => Err(DataError::Split(format!(
                "the {part} fraction must be at least 0 and below 1, not {share}"
            ))),
        }
    }
}

/// The labelled rows of each class, in random order.
fn rows_of_classes(
    data: &Dataset,
    names: &[String],
    random: &mut ChaCha8Rng,
) -> Result<Vec<Vec<u32>>> {
    let mut classes = vec![Vec::new(); names.len()];
    for row in 0..data.len() as u32 {
        if let Some(class) = data.labels.class_of(row) {
            classes[class as usize].push(row);
        }
    }
    if let [only] = names {
        return Err(DataError::Split(format!(
            "all labels are `{only}`; telling classes apart needs at least two"
        )));
    }
    if let Some(absent) = classes.iter().position(Vec::is_empty) {
        return Err(DataError::Split(format!(
            "class `{}` has no labelled row; label at least one, or leave the class out",
            names[absent]
        )));
    }
    classes.iter_mut().for_each(|rows| rows.shuffle(random));
    Ok(classes)
}

/// How many rows of each class must train with their label.
fn quotas(
    classes: &[Vec<u32>],
    names: &[String],
    labels: Option<usize>,
    random: &mut ChaCha8Rng,
) -> Result<Vec<usize>> {
    let Some(labels) = labels else {
        return Ok(vec![1; classes.len()]);
    };
    if labels < classes.len() {
        return Err(DataError::Split(format!(
            "{labels} labels cannot cover {} classes; use at least one label a class",
            classes.len()
        )));
    }
    // Labels that do not divide evenly go to classes drawn at random.
    let mut lucky: Vec<usize> = (0..classes.len()).collect();
    lucky.shuffle(random);
    let mut quotas = vec![labels / classes.len(); classes.len()];
    lucky[..labels % classes.len()]
        .iter()
        .for_each(|&class| quotas[class] += 1);
    match classes
        .iter()
        .zip(&quotas)
        .position(|(rows, &quota)| rows.len() < quota)
    {
        None => Ok(quotas),
        Some(class) => Err(DataError::Split(format!(
            "{labels} labels, equally many a class, need {} of class `{}`, which has {}; use at \
             most {} labels, or all that there are",
            quotas[class],
            names[class],
            classes[class].len(),
            classes.iter().map(Vec::len).min().unwrap_or(0) * classes.len()
        ))),
    }
}

fn continuous_quota(known: usize, labels: Option<usize>) -> Result<usize> {
    let labels = labels.unwrap_or(1);
    if labels == 0 || labels > known {
        return Err(DataError::Split(format!(
            "{labels} labels were asked for; there must be at least 1 and at most {known}, \
             which is how many rows have one"
        )));
    }
    Ok(labels)
}

/// Merges the classes so that every section of the result has them in proportion, each class
/// keeping its own order: row `i` of `n` goes to a random place in the `i`-th of `n` equal
/// intervals.
fn in_proportion(classes: &[Vec<u32>], random: &mut ChaCha8Rng) -> Vec<u32> {
    let mut placed: Vec<(f64, u32)> = Vec::new();
    for rows in classes {
        for (i, &row) in rows.iter().enumerate() {
            placed.push(((i as f64 + random.random::<f64>()) / rows.len() as f64, row));
        }
    }
    placed.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    placed.into_iter().map(|(_, row)| row).collect()
}
