//! Preparation: converts a data set to rows that a model can learn from, and back.

mod mixed;
mod planes;
mod preprocess;

pub use mixed::MixedScale;
pub use preprocess::{FeatureScale, Preprocess};

use crate::config::RunConfig;
use crate::distribution::Family;
use crate::error::{Error, Remedy, Result};
use crate::method::LabelFacts;
use crate::model::Target;
use crate::train::TrainingData;
use cpcvae_data::{
    Column, ColumnKind, Dataset, Holdout, Labels, Layout, Matrix, Source, Split, SplitPlan,
    Standardizer,
};
use std::sync::Arc;

/// A data set ready for training.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The training and validation rows.
    pub training: TrainingData,
    /// Test rows, which training does not use.
    pub test: Option<Dataset>,
    /// How rows were prepared.
    pub preprocess: Preprocess,
    /// What is predicted.
    pub target: Target,
    /// Facts about the labels that recipes need.
    pub facts: LabelFacts,
}

impl Prepared {
    /// Splits and scales a data set as configured. A split already stored with the run is reused.
    pub fn new(source: Source, config: &RunConfig, stored_split: Option<Split>) -> Result<Self> {
        let Source { rows, test, split } = source;
        rows.check_values()?;
        let split = match stored_split.or(split) {
            Some(split) => split,
            None => draw_split(&rows, config)?,
        };
        split.check(rows.len())?;
        check_streams(&rows, &split, config)?;
        let target = match (&rows.labels, config.method.uses_labels()) {
            (_, false) | (Labels::None, _) => Target::Nothing,
            (Labels::Classes { names, .. }, _) => Target::Classes(names.clone()),
            (Labels::Values { names, .. }, _) => Target::Values(names.clone()),
        };
        if config.method.needs_classes() && !target.is_classes() {
            let name = config.method.name();
            return Err(Error::Mismatch(format!(
                "the method `{name}` needs classes, but the labels are continuous; use `cpc`, \
                 `pc` or `vae-then-mlp`"
            )));
        }
        let training_rows = [split.labelled.as_slice(), &split.unlabelled].concat();
        let preprocess = Preprocess {
            layout: rows.layout.clone(),
            features: match &rows.layout {
                Layout::Columns(columns) => column_scale(&rows, columns, &training_rows, config)?,
                Layout::Image { .. } => pixel_scale(config.model.likelihood),
            },
            labels: label_scale(&rows.labels, &split.labelled)?,
            label_offsets: rows.labels.offsets().to_vec(),
        };
        let facts = LabelFacts {
            class_shares: class_shares(&rows.labels, &split.labelled),
            rows: training_rows.len(),
            labelled_rows: split.labelled.len(),
        };
        if !split.validation.is_empty() || !split.test.is_empty() {
            // Training rows are near to each other; held-out rows need not be.
            preprocess.check_values(&rows)?;
        }
        let rows = preprocess.apply_unchecked(rows);
        let test = match test {
            Some(test) => Some(preprocess.apply(test)?),
            None if split.test.is_empty() => None,
            None => Some(rows.select(&split.test)),
        };
        let validation = (!split.validation.is_empty()).then(|| rows.select(&split.validation));
        Ok(Self {
            training: TrainingData {
                rows: Arc::new(rows),
                split,
                validation,
            },
            test,
            preprocess,
            target,
            facts,
        })
    }
}

/// Standardises tables of numbers without missing cells; other tables are encoded by the kinds of
/// their columns.
fn column_scale(
    rows: &Dataset,
    columns: &[Column],
    training_rows: &[u32],
    config: &RunConfig,
) -> Result<FeatureScale> {
    let standardise = config.data.standardise;
    let only_numbers = columns.iter().all(|c| c.kind == ColumnKind::Number);
    if !only_numbers || config.model.missing_cells || rows.has_missing() {
        let scale = MixedScale::fit(&rows.features, columns, training_rows, standardise)?;
        return Ok(FeatureScale::Mixed(scale));
    }
    let mut scale = Standardizer::fit(&rows.features, training_rows)?;
    if !standardise {
        scale.mean.fill(0.0);
        scale.scale.fill(1.0);
    }
    Ok(FeatureScale::Standardise(scale))
}

fn draw_split(rows: &Dataset, config: &RunConfig) -> Result<Split> {
    let data = &config.data;
    if !config.method.uses_labels() && rows.labelled_rows().is_empty() {
        if data.validation > 0.0 || data.test > 0.0 {
            let problem = "rows are held out of those that have labels, and none has one; set it \
                           and `data.test` to 0";
            return Err(Error::setting("data.validation", problem));
        }
        return Ok(Split {
            labelled: Vec::new(),
            unlabelled: (0..rows.len() as u32).collect(),
            validation: Vec::new(),
            test: Vec::new(),
        });
    }
    let holdout = |key: &str, size: f64| match size {
        0.0 => Ok(Holdout::None),
        size if size > 0.0 && size < 1.0 => Ok(Holdout::Fraction(size)),
        size if size >= 1.0 && size.fract() == 0.0 => Ok(Holdout::Rows(size as usize)),
        size => Err(Error::setting(
            key,
            format!("is {size}; it must be a share below 1 or a whole number of rows"),
        )),
    };
    let plan = SplitPlan {
        labels: (data.labels > 0).then_some(data.labels),
        validation: holdout("data.validation", data.validation)?,
        test: holdout("data.test", data.test)?,
        seed: config.seed,
    };
    Ok(Split::draw(rows, &plan)?)
}

/// Fails if the rows that the method learns from are missing.
fn check_streams(rows: &Dataset, split: &Split, config: &RunConfig) -> Result<()> {
    if config.method.uses_labels() && split.labelled.is_empty() {
        return Err(Error::Mismatch(format!(
            "`{}` has no labelled rows, and the method `{}` needs some; name the label column \
             (`data.label`), or train a `vae`",
            rows.name,
            config.method.name()
        ))
        .with_remedy(Remedy::NameLabels));
    }
    if config.method.uses_labels()
        && config.method.uses_unlabelled()
        && config.train.unlabelled_per_batch > 0
    {
        split.require_unlabelled()?;
    }
    Ok(())
}

fn pixel_scale(family: Family) -> FeatureScale {
    let (low, high) = family.pixel_range();
    FeatureScale::Pixels { low, high }
}

fn label_scale(labels: &Labels, labelled: &[u32]) -> Result<Option<Standardizer>> {
    if !matches!(labels, Labels::Values { .. }) || labelled.is_empty() {
        return Ok(None);
    }
    let columns = labels.dimensions();
    let values: Vec<f32> = labelled
        .iter()
        .filter_map(|row| labels.values_of(*row))
        .flatten()
        .copied()
        .collect();
    let rows = values.len() / columns.max(1);
    let matrix = Matrix::new(rows, columns, values)?;
    let all: Vec<u32> = (0..rows as u32).collect();
    Ok(Some(Standardizer::fit(&matrix, &all)?))
}

fn class_shares(labels: &Labels, labelled: &[u32]) -> Vec<f32> {
    let mut counts = vec![0.0; labels.class_names().len()];
    for class in labelled.iter().filter_map(|row| labels.class_of(*row)) {
        counts[class as usize] += 1.0;
    }
    let total: f32 = counts.iter().sum();
    counts.iter().map(|count| count / total.max(1.0)).collect()
}
