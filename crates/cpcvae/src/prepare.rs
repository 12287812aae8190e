//! From a data set as opened to rows that a model can learn from, and back.

mod mixed;

pub use mixed::MixedScale;

use crate::config::RunConfig;
use crate::distribution::Family;
use crate::error::{Error, Result};
use crate::infer::Evaluation;
use crate::method::LabelFacts;
use crate::model::Target;
use crate::train::TrainingData;
use cpcvae_data::{
    Column, ColumnKind, Dataset, Holdout, Labels, Layout, Matrix, Source, Split, SplitPlan,
    Standardizer,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What is done to features and labels before the model sees them; stored in the model's card.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Preprocess {
    /// What a row must look like.
    pub layout: Layout,
    /// How features are scaled.
    pub features: FeatureScale,
    /// How continuous labels are scaled.
    pub labels: Option<Standardizer>,
}

/// How features are scaled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FeatureScale {
    /// Columns to mean 0 and standard deviation 1 over the training rows.
    Standardise(Standardizer),
    /// Columns of several kinds, or with missing cells.
    Mixed(MixedScale),
    /// Pixels from [0, 1] to [low, high].
    Pixels {
        /// What black becomes.
        low: f32,
        /// What white becomes.
        high: f32,
    },
}

/// A data set ready for training.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// What training sees.
    pub training: TrainingData,
    /// What the final figure is measured on; nothing in training looks at it.
    pub test: Option<Dataset>,
    /// How rows were prepared.
    pub preprocess: Preprocess,
    /// What is predicted.
    pub target: Target,
    /// What recipes need to know.
    pub facts: LabelFacts,
}

impl Prepared {
    /// Splits and scales a data set as configured. A split already stored with the run is used
    /// again.
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
        };
        let facts = LabelFacts {
            class_shares: class_shares(&rows.labels, &split.labelled),
        };
        let rows = preprocess.apply(rows)?;
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

/// Columns of numbers in rows that are always whole are standardised; any others are laid out by
/// their kinds.
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

/// Training needs the rows that its method learns from.
fn check_streams(rows: &Dataset, split: &Split, config: &RunConfig) -> Result<()> {
    if config.method.uses_labels() && split.labelled.is_empty() {
        return Err(Error::Mismatch(format!(
            "`{}` has no labelled rows, and the method `{}` needs some; name the label column \
             with `--label`, or train a `vae`",
            rows.name,
            config.method.name()
        )));
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
    match family {
        Family::Bernoulli => FeatureScale::Pixels {
            low: 0.0,
            high: 1.0,
        },
        Family::Normal | Family::NoiseNormal => FeatureScale::Pixels {
            low: -1.0,
            high: 1.0,
        },
    }
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

impl Preprocess {
    /// Scales rows of the right layout. Columns of several kinds become as many columns as the
    /// model sees, see [`MixedScale`].
    pub fn apply(&self, mut data: Dataset) -> Result<Dataset> {
        self.check_layout(&data)?;
        data.check_values()?;
        match &self.features {
            FeatureScale::Standardise(scale) => {
                check_whole(&data)?;
                scale.apply(&mut data.features)?;
            }
            FeatureScale::Mixed(scale) => {
                let columns = self.columns();
                data.features = scale.encode(columns, &data.features);
                data.layout = Layout::Columns(scale.place_names(columns));
            }
            FeatureScale::Pixels { low, high } => {
                for value in &mut data.features.values {
                    *value = low + *value * (high - low);
                }
            }
        }
        if let (Some(scale), Labels::Values { of_row, .. }) = (&self.labels, &mut data.labels) {
            for label in of_row.iter_mut().flatten() {
                for ((value, mean), scale) in label.iter_mut().zip(&scale.mean).zip(&scale.scale) {
                    *value = (*value - mean) / scale;
                }
            }
        }
        Ok(data)
    }

    /// The columns of the data; none for images.
    pub fn columns(&self) -> &[Column] {
        match &self.layout {
            Layout::Columns(columns) => columns,
            Layout::Image { .. } => &[],
        }
    }

    /// Features as the model gives them, in the user's columns and units.
    pub fn invert(&self, mut features: Matrix) -> Matrix {
        match &self.features {
            FeatureScale::Mixed(scale) => return scale.decode(self.columns(), &features),
            FeatureScale::Standardise(scale) => {
                for row in features.values.chunks_exact_mut(scale.mean.len().max(1)) {
                    scale.invert_row(row);
                }
            }
            FeatureScale::Pixels { low, high } => {
                for value in &mut features.values {
                    *value = (*value - low) / (high - low);
                }
            }
        }
        features
    }

    /// Continuous labels as the model gives them, in the user's units.
    pub fn invert_labels(&self, mut labels: Matrix) -> Matrix {
        if let Some(scale) = &self.labels {
            for row in labels.values.chunks_exact_mut(scale.mean.len().max(1)) {
                scale.invert_row(row);
            }
        }
        labels
    }

    /// What the log-density of a prepared row gains in the user's units: minus the log of the
    /// scales of its columns, of those that are numbers and known. Pixels are scored in the
    /// model's units, as in the literature.
    pub fn log_density_shift(&self, row: &[f32]) -> f32 {
        match &self.features {
            FeatureScale::Mixed(scale) => scale.log_density_shift(row),
            FeatureScale::Standardise(scale) => -scale.scale.iter().map(|s| s.ln()).sum::<f32>(),
            FeatureScale::Pixels { .. } => 0.0,
        }
    }

    /// The mean of [`Preprocess::log_density_shift`] over prepared rows.
    fn mean_shift(&self, rows: &Matrix) -> f64 {
        if rows.rows == 0 || !matches!(self.features, FeatureScale::Mixed(_)) {
            return f64::from(self.log_density_shift(&[]));
        }
        let shift = |row| f64::from(self.log_density_shift(rows.row(row)));
        (0..rows.rows).map(shift).sum::<f64>() / rows.rows as f64
    }

    /// An evaluation on prepared rows with its ELBO, and the error of a single continuous label,
    /// in the user's units. Errors over several label dimensions stay in standard deviations: the dimensions
    /// may have different units.
    pub fn in_user_units(&self, mut evaluation: Evaluation, rows: &Matrix) -> Evaluation {
        let shift = self.mean_shift(rows);
        evaluation.elbo = evaluation.elbo.map(|elbo| elbo + shift);
        if let Some([scale]) = self.labels.as_ref().map(|labels| labels.scale.as_slice()) {
            evaluation.rmse = evaluation.rmse.map(|rmse| rmse * f64::from(*scale));
        }
        evaluation
    }

    fn check_layout(&self, data: &Dataset) -> Result<()> {
        if self.layout == data.layout {
            return Ok(());
        }
        let describe = |layout: &Layout| match layout {
            Layout::Columns(columns) => {
                format!("{} columns ({})", columns.len(), preview(columns))
            }
            Layout::Image {
                height,
                width,
                channels,
            } => format!("images of {height} x {width} x {channels}"),
        };
        Err(Error::Mismatch(format!(
            "`{}` does not fit the model: it has {}, the model was trained on {}",
            data.name,
            describe(&data.layout),
            describe(&self.layout)
        )))
    }
}

/// Rows with missing cells are for models that have learnt to do without.
fn check_whole(data: &Dataset) -> Result<()> {
    let width = data.width().max(1);
    let Some(place) = data.features.values.iter().position(|value| value.is_nan()) else {
        return Ok(());
    };
    Err(Error::Mismatch(format!(
        "`{}` has missing cells (the first in row {}, column `{}`), but all rows that the model \
         was trained on are whole; fill them, or train again with \
         `--set model.missing_cells=true`",
        data.name,
        place / width + 1,
        data.layout.column_name(place % width)
    )))
}

/// The first columns, with the kinds of those that are not numbers.
fn preview(columns: &[Column]) -> String {
    let name = |column: &Column| match column.kind {
        ColumnKind::Number => column.name.clone(),
        _ => format!("{}: {}", column.name, column.kind.name()),
    };
    let shown: Vec<String> = columns.iter().take(6).map(name).collect();
    let more = if columns.len() > 6 { ", ..." } else { "" };
    format!("{}{more}", shown.join(", "))
}
