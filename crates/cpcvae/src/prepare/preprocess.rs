//! Preprocessing of rows for the model, and its inverse.

use super::{MixedScale, planes};
use crate::error::{Error, Remedy, Result};
use crate::infer::Evaluation;
use cpcvae_data::{
    Column, ColumnKind, Dataset, Features, Labels, Layout, Matrix, Rows, Standardizer,
};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Preprocessing of features and labels; stored in the model's card.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Preprocess {
    /// The expected layout of rows.
    pub layout: Layout,
    /// How features are scaled.
    pub features: FeatureScale,
    /// How continuous labels are scaled.
    pub labels: Option<Standardizer>,
    /// Subtracted from continuous labels before scaling, in 64 bits ([`Labels::offsets`]), and
    /// added again when they are written; empty if nothing is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub label_offsets: Vec<f64>,
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
        /// The value of black.
        low: f32,
        /// The value of white.
        high: f32,
    },
}

impl Preprocess {
    /// Scales rows of the right layout. Columns of several kinds are encoded, see [`MixedScale`];
    /// the channels of colour images come one after the other. All rows are checked now and scaled
    /// whenever they are read.
    pub fn apply(&self, data: Dataset) -> Result<Dataset> {
        self.check_layout(&data)?;
        if let FeatureScale::Standardise(_) = &self.features {
            check_whole(&data)?;
        }
        self.apply_with_gaps(data)
    }

    /// The same, with missing cells left as NaN even for a model without support for them: for
    /// imputation.
    pub(crate) fn apply_with_gaps(&self, data: Dataset) -> Result<Dataset> {
        self.check_layout(&data)?;
        self.check_values(&data)?;
        Ok(self.apply_unchecked(data))
    }

    /// Fails at values that are invalid or too far from those of training to compute with.
    pub(super) fn check_values(&self, data: &Dataset) -> Result<()> {
        let scales = self.number_scales();
        Ok(data.check_scaled_values(|column| *scales.get(column)?)?)
    }

    /// The same for rows that were checked already.
    pub(super) fn apply_unchecked(&self, mut data: Dataset) -> Dataset {
        let (rows, width) = (&data.features, data.width());
        data.features = match self.features.clone() {
            FeatureScale::Standardise(scale) => rows.changed(width, move |row, out| {
                out.copy_from_slice(row);
                scale.apply_row(out);
            }),
            FeatureScale::Mixed(scale) => {
                let columns = self.columns();
                data.layout = Layout::Columns(scale.place_names(columns));
                scale.encode(columns, rows)
            }
            FeatureScale::Pixels { low, high } => {
                let channels = self.channels();
                rows.changed(width, move |row, out| {
                    planes::split(row, out, channels);
                    for value in out {
                        *value = low + *value * (high - low);
                    }
                })
            }
        };
        if let (Some(scale), Labels::Values { of_row, .. }) = (&self.labels, &mut data.labels) {
            for label in of_row.iter_mut().flatten() {
                for ((value, mean), scale) in label.iter_mut().zip(&scale.mean).zip(&scale.scale) {
                    *value = (*value - mean) / scale;
                }
            }
        }
        data
    }

    /// Mean and standard deviation of each column that holds numbers; empty for images.
    fn number_scales(&self) -> Vec<Option<(f32, f32)>> {
        let numbers = match &self.features {
            FeatureScale::Standardise(scale) => scale,
            FeatureScale::Mixed(scale) => &scale.numbers,
            FeatureScale::Pixels { .. } => return Vec::new(),
        };
        let mut numbers = numbers
            .mean
            .iter()
            .copied()
            .zip(numbers.scale.iter().copied());
        let of_column = |column: &Column| match column.kind {
            ColumnKind::Number => numbers.next(),
            ColumnKind::Flag | ColumnKind::Category(_) | ColumnKind::Count => None,
        };
        self.columns().iter().map(of_column).collect()
    }

    /// The columns of the data; empty for images.
    pub fn columns(&self) -> &[Column] {
        match &self.layout {
            Layout::Columns(columns) => columns,
            Layout::Image { .. } => &[],
        }
    }

    /// The positions of each column's values in a prepared row; empty where no cell can be missing.
    pub(crate) fn places(&self) -> Vec<Range<usize>> {
        match &self.features {
            FeatureScale::Mixed(scale) => scale.places(self.columns()).collect(),
            FeatureScale::Standardise(_) | FeatureScale::Pixels { .. } => Vec::new(),
        }
    }

    fn channels(&self) -> usize {
        match self.layout {
            Layout::Columns(_) => 1,
            Layout::Image { channels, .. } => channels,
        }
    }

    /// Features of the model in the user's columns and units.
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
                features = planes::join(features, self.channels());
            }
        }
        features
    }

    /// Continuous labels of the model in the user's units, minus their offsets.
    pub(crate) fn invert_labels(&self, mut labels: Matrix) -> Matrix {
        if let Some(scale) = &self.labels {
            for row in labels.values.chunks_exact_mut(scale.mean.len().max(1)) {
                scale.invert_row(row);
            }
        }
        labels
    }

    /// The change of a prepared row's log-density in the user's units: minus the log of the scales
    /// of its known numbers. Pixels are scored in the model's units, as in the literature.
    pub fn log_density_shift(&self, row: &[f32]) -> f32 {
        match &self.features {
            FeatureScale::Mixed(scale) => scale.log_density_shift(row),
            FeatureScale::Standardise(scale) => -scale.scale.iter().map(|s| s.ln()).sum::<f32>(),
            FeatureScale::Pixels { .. } => 0.0,
        }
    }

    /// The mean of [`Preprocess::log_density_shift`] over prepared rows.
    fn mean_shift(&self, rows: &Features) -> f64 {
        if rows.rows() == 0 || !matches!(self.features, FeatureScale::Mixed(_)) {
            return f64::from(self.log_density_shift(&[]));
        }
        let shift = |row| f64::from(self.log_density_shift(&rows.row(row)));
        (0..rows.rows()).map(shift).sum::<f64>() / rows.rows() as f64
    }

    /// An evaluation on prepared rows with its ELBO, and the error of a single continuous label, in
    /// the user's units. Errors over several label dimensions stay in standard deviations, since
    /// the dimensions may have different units.
    pub(crate) fn in_user_units(&self, mut evaluation: Evaluation, rows: &Features) -> Evaluation {
        let shift = self.mean_shift(rows);
        evaluation.elbo = evaluation.elbo.map(|elbo| elbo + shift);
        if let Some([scale]) = self.labels.as_ref().map(|labels| labels.scale.as_slice()) {
            evaluation.rmse = evaluation.rmse.map(|rmse| rmse * f64::from(*scale));
        }
        evaluation
    }

    fn check_layout(&self, data: &Dataset) -> Result<()> {
        if are_alike(&self.layout, &data.layout) {
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

/// Whether the layouts are equivalent; the observed range of whole numbers may differ.
fn are_alike(ours: &Layout, theirs: &Layout) -> bool {
    match (ours, theirs) {
        (Layout::Columns(ours), Layout::Columns(theirs)) => {
            let alike = |(a, b): (&Column, &Column)| {
                (&a.name, &a.kind, a.time) == (&b.name, &b.kind, b.time) && a.offset == b.offset
            };
            ours.len() == theirs.len() && ours.iter().zip(theirs).all(alike)
        }
        _ => ours == theirs,
    }
}

/// Rows with missing cells are only for models that support them.
fn check_whole(data: &Dataset) -> Result<()> {
    let Some((row, column)) = data.first_missing() else {
        return Ok(());
    };
    Err(Error::Mismatch(format!(
        "`{}` has missing cells (the first in row {}, column `{}`), but all rows that the model \
         was trained on are whole; fill them, or train again with `model.missing_cells`",
        data.name,
        row + 1,
        data.layout.column_name(column)
    ))
    .with_remedy(Remedy::ExpectMissingCells))
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
