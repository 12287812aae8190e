//! Tests whether whole numbers can hardly be anything but counts.

use crate::KindName;
use crate::cell::Cell;
use crate::column_guess::{Guess, as_kind};

/// Guessed counts have at least this many ones.
const ENOUGH_ONES: usize = 10;
/// Number of candidates kept for the most frequent value, which must make up more than a tenth of
/// all.
const CANDIDATES: usize = 10;

/// Decides whether whole numbers can hardly be anything but counts, in a second pass over them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CountTest {
    numbers: usize,
    mean: f64,
    squares: f64,
    cubes: f64,
    above_zero: usize,
    ones: usize,
    /// How often each candidate for the most frequent value occurs.
    times: Vec<(f32, usize)>,
}

impl CountTest {
    /// For `numbers` numbers with that sum, with the candidates of `frequent`.
    pub(crate) fn new(numbers: usize, sum: f64, frequent: &Frequent) -> CountTest {
        let candidates = frequent.0.iter();
        CountTest {
            numbers,
            mean: sum / numbers as f64,
            squares: 0.0,
            cubes: 0.0,
            above_zero: 0,
            ones: 0,
            times: candidates.map(|(number, _)| (*number, 0)).collect(),
        }
    }

    /// Adds the next cell.
    pub(crate) fn add(&mut self, cell: Cell) {
        let Cell::Number(number) = cell else { return };
        let number = number.short;
        let off = f64::from(number) - self.mean;
        self.squares += off.powi(2);
        self.cubes += off.powi(3);
        self.above_zero += usize::from(number > 0.0);
        self.ones += usize::from(number == 1.0);
        let times = self.times.iter_mut().find(|(other, _)| *other == number);
        times.into_iter().for_each(|(_, times)| *times += 1);
    }

    /// The kind, once all cells have been seen.
    pub(crate) fn guess(&self) -> Guess {
        let variance = self.squares / self.numbers as f64;
        let skewness = self.cubes / self.numbers as f64 / variance.powf(1.5);
        let ones_lead = self.ones >= ENOUGH_ONES
            && self.ones * 10 >= self.above_zero
            && self.times.iter().all(|(_, times)| *times <= self.ones);
        match variance > 2.0 * self.mean && skewness > 1.0 && ones_lead {
            true => as_kind(KindName::Count, "whole, skewed, 1 most frequent after 0"),
            false => as_kind(KindName::Number, "numbers"),
        }
    }
}

/// The few positive values of which one may make up more than a tenth of them, by the algorithm of
/// Misra and Gries (1982): a value that frequent is among them, and no others need to be kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frequent(Vec<(f32, usize)>);

impl Frequent {
    pub(crate) fn add(&mut self, number: f32) {
        if number <= 0.0 {
            return;
        }
        if let Some((_, times)) = self.0.iter_mut().find(|(other, _)| *other == number) {
            *times += 1;
        } else if self.0.len() < CANDIDATES {
            self.0.push((number, 1));
        } else {
            self.0.iter_mut().for_each(|(_, times)| *times -= 1);
            self.0.retain(|(_, times)| *times > 0);
        }
    }
}
