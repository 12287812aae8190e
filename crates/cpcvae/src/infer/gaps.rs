//! What is usual of rows with missing cells: training rows with as many cells hidden.
//!
//! A row's score (its log p(x), or how near it is to training rows) falls with every known cell, so
//! that a row of few known cells would look more usual than any whole one. It is therefore compared
//! with training rows of which as many cells are hidden, at random; and since columns differ in what
//! they add, each missing cell first counts as what hiding one of its column changes on average.

use super::unusual::quantiles;
use crate::error::Result;
use cpcvae_data::Matrix;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Numbers of missing cells that are looked at; between them percentiles are interpolated.
const LEVELS: [usize; 8] = [1, 2, 3, 5, 8, 13, 21, 34];
/// Rows that are scored for each of them, at most,
const ROWS: usize = 1000;
/// and how often one row may be among them, with other cells hidden.
const TIMES: usize = 4;
/// With fewer rows nothing is said of a number of cells.
pub(super) const FEWEST_ROWS: usize = 30;
/// Quantiles kept of each.
const KEPT: usize = 201;
/// What pulls a column's share to that of all columns, as rows would.
const PULL: f64 = 10.0;
/// Rounds of the least-squares fit, a column at a time.
const ROUNDS: usize = 20;

/// What is usual of rows with so many missing cells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Level {
    missing: usize,
    /// By how much hiding a cell of each column changes the score, less the mean over columns.
    shares: Vec<f32>,
    /// Of the scores less the shares of their missing cells.
    quantiles: Vec<f32>,
}

/// Scores rows `[rows, places]` that are rows of these numbers with some of their cells hidden.
pub(crate) trait ScoreRows {
    /// One score a row; larger is more usual.
    fn score(&self, rows: &Matrix, numbers: &[u32]) -> Result<Vec<f32>>;
}

impl<F: Fn(&Matrix, &[u32]) -> Result<Vec<f32>>> ScoreRows for F {
    fn score(&self, rows: &Matrix, numbers: &[u32]) -> Result<Vec<f32>> {
        self(rows, numbers)
    }
}

/// The columns of a row that are missing; `columns` says where the values of each stand.
pub(super) fn missing<'a>(
    row: &'a [f32],
    columns: &'a [Range<usize>],
) -> impl Iterator<Item = usize> + 'a {
    let places = columns.iter().enumerate();
    places
        .filter(|(_, places)| row[places.start].is_nan())
        .map(|(column, _)| column)
}

/// Hides cells of rows to learn what is usual with gaps; `whole` are the scores of the rows as they
/// are.
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
    // To the last cell but one.
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
        // Evenly over the rows, which may be sorted by something.
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
    /// `hides` are the columns that were hidden of each row, `change` what that did to its score.
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

    /// A score as if columns were alike.
    fn like(&self, score: f32, row: &[f32], columns: &[Range<usize>]) -> f32 {
        let shares = missing(row, columns).filter_map(|column| self.shares.get(column));
        score - shares.sum::<f32>()
    }

    fn percentile(&self, score: f32, row: &[f32], columns: &[Range<usize>]) -> f32 {
        super::unusual::rank(&self.quantiles, self.like(score, row, columns))
    }

    fn is_sound(&self) -> bool {
        let finite = self.shares.iter().all(|share| share.is_finite());
        finite && !self.quantiles.is_empty() && self.quantiles.is_sorted()
    }
}

/// The least-squares fit of the changes of scores by the columns that were hidden, with one constant
/// for all; what a column adds to it is pulled to 0.
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
            let better = sum / (rows.len() as f64 + PULL);
            rows.iter().for_each(|at| left[*at] -= better - *share);
            *share = better;
        }
    }
    shares.into_iter().map(|share| share as f32).collect()
}

/// The percentile of a row with so many missing cells; nothing where nothing is known of such rows.
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

/// Whether they can have been measured.
pub(super) fn are_sound(levels: &[Level]) -> bool {
    levels.iter().all(Level::is_sound) && levels.is_sorted_by(|a, b| a.missing < b.missing)
}
