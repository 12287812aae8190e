//! Training rows of a table, stored with the model: for nearest-neighbour distances of new rows and
//! imputation of missing cells.
//!
//! An extension of ours, not the paper's. A network that learns to predict from few labels models
//! p(x) less sharply than the rows themselves do (`docs/evidence.md` has the figures).

mod distance;

use crate::config::RunConfig;
use crate::error::{Error, Result};
use crate::evenly::evenly;
use crate::infer::{Filling, Typical};
use crate::prepare::{FeatureScale, Preprocess};
use crate::run::{Card, RunFolder};
use crate::train::{Parameters, TensorFile};
use cpcvae_data::{Dataset, Layout, Matrix, Split};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::path::PathBuf;

/// The version of the file format.
const FORMAT: u32 = 1;
/// The most numbers in the kept rows.
const MOST_NUMBERS: usize = 2_000_000;
/// With fewer rows, distances are not informative.
const FEWEST_ROWS: usize = 50;
/// The most kept rows whose own distance is measured for the reference quantiles.
const MEASURED: usize = 2000;
/// The number of neighbours for imputation.
const FILLING: usize = 10;

/// Prepared training rows of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct NearestRows {
    /// `[rows, columns]`; NaN for missing cells.
    rows: Matrix,
    /// The same with 0 for missing cells.
    zero_filled: Vec<f32>,
    /// The columns' ranges of values in a row; empty where no cell can be missing.
    places: Vec<Range<usize>>,
    /// Quantiles of the negative distances of these rows to each other.
    usual: Typical,
}

/// The metadata of the file.
#[derive(Serialize, Deserialize)]
struct About {
    format: u32,
    usual: Typical,
}

impl NearestRows {
    /// At most `ensemble.kept_rows` of the training rows, evenly. `None` for images, for counts,
    /// whose distances mean little, and for very few rows.
    pub fn keep(
        config: &RunConfig,
        preprocess: &Preprocess,
        data: &Dataset,
        split: &Split,
    ) -> Result<Option<Self>> {
        let has_counts = match &preprocess.features {
            FeatureScale::Standardise(_) => false,
            FeatureScale::Mixed(scale) => !scale.row.counts.is_empty(),
            FeatureScale::Pixels { .. } => true,
        };
        let is_table = matches!(data.layout, Layout::Columns(_));
        if config.ensemble.kept_rows == 0 || has_counts || !is_table {
            return Ok(None);
        }
        let mut rows = [split.labelled.as_slice(), &split.unlabelled].concat();
        rows.sort_unstable();
        let most = MOST_NUMBERS / data.width().max(1);
        let most = most.min(config.ensemble.kept_rows);
        if most == 0 {
            return Ok(None);
        }
        let chosen = evenly(&rows, most);
        if chosen.len() < FEWEST_ROWS {
            return Ok(None);
        }
        let prepared = preprocess.apply(data.select(&chosen))?;
        let rows = prepared.features.matrix();
        let kept = Self::of(rows, preprocess.places());
        let measured: Vec<u32> = evenly(&(0..kept.rows.rows as u32).collect::<Vec<_>>(), MEASURED);
        let some = Matrix {
            rows: measured.len(),
            columns: kept.rows.columns,
            values: measured
                .iter()
                .flat_map(|row| kept.rows.row(*row as usize))
                .copied()
                .collect(),
        };
        let own = |rows: &Matrix, numbers: &[u32]| {
            let numbers = numbers.iter().map(|number| measured[*number as usize]);
            Ok(kept.nearness(rows, Some(&numbers.collect::<Vec<_>>())))
        };
        let usual = Typical::of_rows(&some, &kept.places, 1, &own)?;
        Ok(usual.map(|usual| Self { usual, ..kept }))
    }

    /// Rows whose reference quantiles are not measured yet.
    fn of(rows: Matrix, places: Vec<Range<usize>>) -> Self {
        Self {
            zero_filled: rows.clone().with_missing_as(0.0).values,
            rows,
            places,
            usual: Typical::new(&[0.0], 1).expect("a number"),
        }
    }

    /// Prepared rows with every NaN imputed from the ten nearest rows by the known cells: their
    /// mean, weighted by one over the mean squared difference, or the cells of one of them. `first`
    /// is the number of the first row, and `seed` that of draws.
    pub fn fill(&self, rows: &Matrix, filling: Filling, seed: u64, first: usize) -> Matrix {
        let mut filled = rows.clone();
        let cells = filled.values.par_chunks_exact_mut(rows.columns.max(1));
        cells.enumerate().for_each(|(place, row)| {
            if !row.iter().any(|value| value.is_nan()) {
                return;
            }
            let near = self.near_known(row);
            match filling {
                Filling::Mean => self.fill_mean(row, &near),
                Filling::Draw(draw) => {
                    let mut random = ChaCha8Rng::seed_from_u64(seed);
                    random.set_stream((first + place) as u64);
                    random.set_word_pos((draw as u128) << 8);
                    self.fill_drawn(row, &near, random.random());
                }
            }
        });
        filled
    }

    /// The nearest rows by cells that both have, with their weights, nearest first.
    fn near_known(&self, row: &[f32]) -> Vec<(f64, usize)> {
        let known: Vec<usize> = (0..row.len()).filter(|at| !row[*at].is_nan()).collect();
        let mut all: Vec<(f32, usize)> = (0..self.rows.rows)
            .map(|other| {
                let cells = self.rows.row(other);
                let (mut sum, mut count) = (0.0f32, 0.0f32);
                for &at in &known {
                    if !cells[at].is_nan() {
                        sum += (row[at] - cells[at]).powi(2);
                        count += 1.0;
                    }
                }
                (if count > 0.0 { sum / count } else { f32::MAX }, other)
            })
            .collect();
        let count = FILLING.min(all.len());
        let by_distance =
            |a: &(f32, usize), b: &(f32, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
        if count < all.len() {
            all.select_nth_unstable_by(count, by_distance);
        }
        all.truncate(count);
        all.sort_unstable_by(by_distance);
        let weigh = |(square, other): (f32, usize)| (1.0 / (f64::from(square) + 1e-6), other);
        all.into_iter().map(weigh).collect()
    }

    fn fill_mean(&self, row: &mut [f32], near: &[(f64, usize)]) {
        for (at, cell) in row.iter_mut().enumerate().filter(|(_, cell)| cell.is_nan()) {
            let values = near
                .iter()
                .map(|(weight, other)| (weight, self.rows.row(*other)[at]));
            let known = values.filter(|(_, value)| !value.is_nan());
            let (sum, weights) = known.fold((0.0, 0.0), |(sum, weights), (weight, value)| {
                (sum + weight * f64::from(value), weights + weight)
            });
            // The mean of a standardised column, if none of them has the cell.
            *cell = if weights > 0.0 {
                (sum / weights) as f32
            } else {
                0.0
            };
        }
    }

    /// Imputes all missing cells from one row, so that they are consistent with each other.
    fn fill_drawn(&self, row: &mut [f32], near: &[(f64, usize)], at: f64) {
        // Distances are measured relative to the median one: otherwise a row with identical known
        // cells would be drawn almost always.
        let middle = near.get(near.len() / 2).map_or(1.0, |(weight, _)| *weight);
        let chance = |weight: f64| 1.0 / (1.0 / weight + 1.0 / middle);
        let sum: f64 = near.iter().map(|(weight, _)| chance(*weight)).sum();
        let mut left = at * sum;
        let drawn = near.iter().find(|(weight, _)| {
            left -= chance(*weight);
            left <= 0.0
        });
        if let Some((_, other)) = drawn {
            let gaps = row.iter_mut().zip(self.rows.row(*other));
            let gaps = gaps.filter(|(cell, _)| cell.is_nan());
            gaps.for_each(|(cell, value)| *cell = *value);
        }
        self.fill_mean(row, near);
    }

    /// Writes them beside the run's model.
    pub fn save(&self, folder: &RunFolder) -> Result<()> {
        let shape = vec![self.rows.rows, self.rows.columns];
        let rows = ("rows".to_string(), (shape, self.rows.values.clone()));
        let about = About {
            format: FORMAT,
            usual: self.usual.clone(),
        };
        let file = TensorFile {
            tensors: Parameters([rows].into()),
            about: serde_json::to_string(&about).expect("plain values serialise"),
        };
        file.save(&path(folder))
    }

    /// Loads them for a run with this model; `None` if it has none.
    pub fn load(folder: &RunFolder, card: &Card) -> Result<Option<Self>> {
        let path = path(folder);
        if !path.exists() {
            return Ok(None);
        }
        let file = TensorFile::load(&path)?;
        let kept = Self::of_file(file, card.shape.features, card.preprocess.places());
        kept.map(Some).map_err(|problem| {
            let advice = "remove it to use the network alone, or train again";
            Error::file(&path, format!("{problem}; {advice}"))
        })
    }

    fn of_file(
        mut file: TensorFile,
        columns: usize,
        places: Vec<Range<usize>>,
    ) -> std::result::Result<Self, String> {
        let about: About = serde_json::from_str(&file.about).map_err(|error| error.to_string())?;
        if about.format != FORMAT {
            return Err(format!("has format {}, not {FORMAT}", about.format));
        }
        if !about.usual.is_sound() {
            return Err("`usual` is not a list of increasing quantiles".into());
        }
        let (shape, values) = file.tensors.0.remove("rows").ok_or("lacks `rows`")?;
        let &[rows, width] = shape.as_slice() else {
            return Err("`rows` is not a table".into());
        };
        if width != columns || rows == 0 {
            return Err(format!("{rows} rows of {width} columns do not fit"));
        }
        if values.iter().any(|value| value.is_infinite()) {
            return Err("has rows with infinite values".into());
        }
        let rows = Matrix::new(rows, width, values).map_err(|error| error.to_string())?;
        let usual = about.usual;
        Ok(Self {
            usual,
            ..Self::of(rows, places)
        })
    }
}

fn path(folder: &RunFolder) -> PathBuf {
    folder.path().join("model").join("rows.safetensors")
}

#[cfg(test)]
mod tests;
