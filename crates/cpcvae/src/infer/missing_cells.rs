//! Reference quantiles for rows with missing cells: training rows with as many cells hidden.
//!
//! A row's score (its log p(x), or its nearness to training rows) falls with every known cell, so
//! that a row with few known cells would look more typical than any complete one. It is therefore
//! compared with training rows of which as many cells are hidden, at random; and since columns
//! differ in their effect, the score is first corrected by the mean effect of hiding a cell of each
//! missing column.
//! they add, each missing cell first counts as what hiding one of its column changes on average.

use super::typicality::quantiles;
use crate::error::Result;
use cpcvae_data::Matrix;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Numbers of missing cells that are measured; percentiles are interpolated between them.
const LEVELS: [usize; 8] = [1, 2, 3, 5, 8, 13, 21, 34];
/// The most rows that are scored for each of them,
const ROWS: usize = 1000;
/// and how often one row may be used, with different cells hidden.
const TIMES: usize = 4;
/// With fewer rows, there are no quantiles.
pub(super) const FEWEST_ROWS: usize = 30;
/// Quantiles stored for each.
const KEPT: usize = 201;
/// Shrinks a column's effect towards the mean of all columns, counted in rows.
const SHRINKAGE: f64 = 10.0;
/// Rounds of the least-squares fit by coordinate descent.
const ROUNDS: usize = 20;

/// Quantiles for rows with a number of missing cells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Level {
    missing: usize,
    /// The change of the score by hiding a cell of each column, less the mean over columns.
    shares: Vec<f32>,
    /// Quantiles of the scores less the effects of their missing cells.
    quantiles: Vec<f32>,
}

/// Scores rows `[rows, places]`, which are rows of these numbers with some of their cells hidden.
pub(crate) trait ScoreRows {
    /// One score a row; larger is more typical.
    fn score(&self, rows: &Matrix, numbers: &[u32]) -> Result<Vec<f32>>;
}

impl<F: Fn(&Matrix, &[u32]) -> Result<Vec<f32>>> ScoreRows for F {
    fn score(&self, rows: &Matrix, numbers: &[u32]) -> Result<Vec<f32>> {
        self(rows, numbers)
    }
}

/// The missing columns of a row; `columns` are the positions of each column's values.
pub(super) fn missing<'a>(
    row: &'a [f32],
    columns: &'a [Range<usize>],
) -> impl Iterator<Item = usize> + 'a {
    let places = columns.iter().enumerate();
    places
        .filter(|(_, places)| row[places.start].is_nan())
        .map(|(column, _)| column)
}

/// Hides cells of rows to measure reference quantiles; `whole` are the scores of the complete rows.
pub(super) fn learn(
    rows: &Matrix,
    whole: &[f32],
    columns: &[Range<usize>],
    score: &dyn ScoreRows,
) -> Result<Vec<Level>> {
    let known: Vec<usize> = (0..rows.rows)
        .map(|row| columns.len() - missing(rows.row(row), columns).count())
        .collect();
    let mut levels = Vec::new();
    // At least one cell stays known.
    let most = columns.len().saturating_sub(1);
    let hidden = LEVELS.into_iter().filter(|hidden| *hidden < most);
    for hidden in hidden.chain((most > 0).then_some(most)) {
        let left = columns.len() - hidden;
        let usable = |row: &usize| known[*row] >= left && whole[*row].is_finite();
        let usable: Vec<usize> = (0..rows.rows).filter(usable).collect();
        if usable.len() < FEWEST_ROWS {
            continue;
        }
        let mut random = ChaCha8Rng::seed_from_u64(hidden as u64);
        let count = ROWS.min(TIMES * usable.len());
        // Evenly over the rows, which may be sorted.
        let place = |at: usize| match count < usable.len() {
            true => at * usable.len() / count,
            false => at % usable.len(),
        };
        let chosen: Vec<u32> = (0..count).map(|at| usable[place(at)] as u32).collect();
        let mut masked = Matrix {
            rows: count,
            columns: rows.columns,
            values: Vec::with_capacity(count * rows.columns),
        };
        let mut hides = Vec::with_capacity(count);
        for row in &chosen {
            let from = masked.values.len();
            masked.values.extend(rows.row(*row as usize));
            let cells = &mut masked.values[from..];
            let mut candidates: Vec<usize> = (0..columns.len())
                .filter(|column| !cells[columns[*column].start].is_nan())
                .collect();
            let mut taken = Vec::new();
            while candidates.len() > left {
                let column = candidates.swap_remove(random.random_range(0..candidates.len()));
                cells[columns[column].clone()].fill(f32::NAN);
                taken.push(column);
            }
            hides.push(taken);
        }
        let scores = score.score(&masked, &chosen)?;
        levels.push(Level::fit(
            hidden,
            &masked,
            columns,
            (&scores, &hides),
            |at| scores[at] - whole[chosen[at] as usize],
        ));
    }
    Ok(levels)
}

impl Level {
    /// `hides` are the hidden columns of each row, `change` the resulting changes of its score.
    fn fit(
        missing_cells: usize,
        masked: &Matrix,
        columns: &[Range<usize>],
        (scores, hides): (&[f32], &[Vec<usize>]),
        change: impl Fn(usize) -> f32,
    ) -> Self {
        let shares = shares(columns.len(), hides, change);
        let mut level = Self {
            missing: missing_cells,
            shares,
            quantiles: Vec::new(),
        };
        let rows = scores.iter().enumerate();
        let scores = rows.map(|(row, score)| level.like(*score, masked.row(row), columns));
        level.quantiles = quantiles(scores.collect(), KEPT);
        level
    }

    /// A score corrected for the columns that are missing.
    fn like(&self, score: f32, row: &[f32], columns: &[Range<usize>]) -> f32 {
        let shares = missing(row, columns).filter_map(|column| self.shares.get(column));
        score - shares.sum::<f32>()
    }

    fn percentile(&self, score: f32, row: &[f32], columns: &[Range<usize>]) -> f32 {
        super::typicality::rank(&self.quantiles, self.like(score, row, columns))
    }

    fn is_sound(&self) -> bool {
        let finite = self.shares.iter().all(|share| share.is_finite());
        finite && !self.quantiles.is_empty() && self.quantiles.is_sorted()
    }
}

/// The least-squares fit of the changes of scores by the hidden columns, with a common constant;
/// the effect of a column is shrunk towards 0.
fn shares(columns: usize, hides: &[Vec<usize>], change: impl Fn(usize) -> f32) -> Vec<f32> {
    let mut left: Vec<f64> = (0..hides.len()).map(|at| f64::from(change(at))).collect();
    let finite: Vec<usize> = (0..left.len()).filter(|at| left[*at].is_finite()).collect();
    let mut rows_of = vec![Vec::new(); columns];
    for &at in &finite {
        hides[at]
            .iter()
            .for_each(|column| rows_of[*column].push(at));
    }
    let mut shares = vec![0.0f64; columns];
    for _ in 0..ROUNDS {
        let mean = finite.iter().map(|at| left[*at]).sum::<f64>() / finite.len().max(1) as f64;
        finite.iter().for_each(|at| left[*at] -= mean);
        for (share, rows) in shares.iter_mut().zip(&rows_of) {
            let sum: f64 = rows.iter().map(|at| left[*at] + *share).sum();
            let better = sum / (rows.len() as f64 + SHRINKAGE);
            rows.iter().for_each(|at| left[*at] -= better - *share);
            *share = better;
        }
    }
    shares.into_iter().map(|share| share as f32).collect()
}

/// The percentile of a row with `missing` missing cells; `None` if there are no quantiles for it.
pub(super) fn percentile(
    levels: &[Level],
    count: usize,
    score: f32,
    row: &[f32],
    columns: &[Range<usize>],
) -> Option<f32> {
    let above = levels.partition_point(|level| level.missing < count);
    let at = |level: &Level| level.percentile(score, row, columns);
    match (levels.get(above.wrapping_sub(1)), levels.get(above)) {
        (_, Some(above)) if above.missing == count => Some(at(above)),
        (Some(below), Some(above)) => {
            let share = (count - below.missing) as f32 / (above.missing - below.missing) as f32;
            Some(at(below) * (1.0 - share) + at(above) * share)
        }
        (Some(only), None) | (None, Some(only)) => Some(at(only)),
        (None, None) => None,
    }
}

/// Whether the values are plausible, so that a damaged file is not used.
pub(super) fn are_sound(levels: &[Level]) -> bool {
    levels.iter().all(Level::is_sound) && levels.is_sorted_by(|a, b| a.missing < b.missing)
}
