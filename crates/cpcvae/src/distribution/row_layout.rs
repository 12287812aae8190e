//! The layout of a table's columns in a row of a model's features.

use serde::{Deserialize, Serialize};
use std::ops::Range;

/// A row of a table whose columns are of several kinds, or may be missing:
/// `[numbers | flags | counts | one block of levels a category]`, NaN where a cell is missing (all
/// of a block for a category).
///
/// Numbers are standardised, flags are 0 or 1, a count is its standardised log(1 + count), a
/// category is one-hot.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RowLayout {
    /// Columns of numbers.
    pub numbers: usize,
    /// Columns of flags.
    pub flags: usize,
    /// Columns of counts, each with the scale of its logarithm.
    pub counts: Vec<CountScale>,
    /// Levels of each category.
    pub categories: Vec<usize>,
    /// Positions (the first one, for a category) of columns that have missing cells in the training
    /// rows: the model gets an indicator of whether they are missing.
    pub can_be_missing: Vec<usize>,
}

/// Mean and standard deviation of log(1 + count) over the training rows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CountScale {
    /// The mean.
    pub mean: f32,
    /// The standard deviation; 1 for a constant column.
    pub scale: f32,
    /// The largest count of the training rows; `None` in a model of an earlier version.
    #[serde(default)]
    pub largest: Option<f32>,
}

impl CountScale {
    /// The standardised log(1 + count).
    pub fn encode(self, count: f32) -> f32 {
        (count.ln_1p() - self.mean) / self.scale
    }

    /// The inverse of `encode`; not rounded, since a mean need not be whole.
    pub fn decode(self, encoded: f32) -> f32 {
        (encoded * self.scale + self.mean).exp_m1().max(0.0)
    }
}

impl RowLayout {
    /// Upper bounds of the imputed values of a row, position by position: the largest count of the
    /// training rows. The decoder gives the logarithm of a count's mean, so a row that is encoded
    /// and decoded repeatedly could diverge.
    pub fn most(&self) -> Vec<f32> {
        let mut most = vec![f32::INFINITY; self.width()];
        for (place, scale) in self.count_places().zip(&self.counts) {
            if let Some(largest) = scale.largest {
                most[place] = scale.encode(largest);
            }
        }
        most
    }

    /// Columns of the table.
    pub fn columns(&self) -> usize {
        self.numbers + self.flags + self.counts.len() + self.categories.len()
    }

    /// Values in a row.
    pub fn width(&self) -> usize {
        self.categories_from() + self.categories.iter().sum::<usize>()
    }

    /// Parameters of a row's distribution: two a number (mean, scale) and a count (log-mean,
    /// dispersion), one a flag and a level.
    pub fn parameters(&self) -> usize {
        self.width() + self.numbers + self.counts.len()
    }

    /// Positions of numbers.
    pub(crate) fn number_places(&self) -> Range<usize> {
        0..self.numbers
    }

    /// Positions of flags.
    pub(crate) fn flag_places(&self) -> Range<usize> {
        self.numbers..self.numbers + self.flags
    }

    /// Positions of counts.
    pub(crate) fn count_places(&self) -> Range<usize> {
        self.numbers + self.flags..self.categories_from()
    }

    /// Positions of the levels of each category.
    pub(crate) fn category_places(&self) -> impl Iterator<Item = Range<usize>> {
        let from = self.categories_from();
        self.categories.iter().scan(from, |next, levels| {
            let block = *next..*next + levels;
            *next = block.end;
            Some(block)
        })
    }

    fn categories_from(&self) -> usize {
        self.numbers + self.flags + self.counts.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_has_one_place() {
        let scale = CountScale {
            mean: 1.0,
            scale: 0.5,
            largest: None,
        };
        let layout = RowLayout {
            numbers: 2,
            flags: 1,
            counts: vec![scale; 2],
            categories: vec![3, 1],
            can_be_missing: vec![],
        };
        let blocks = [
            layout.number_places(),
            layout.flag_places(),
            layout.count_places(),
        ];
        let places: Vec<usize> = blocks
            .into_iter()
            .chain(layout.category_places())
            .flatten()
            .collect();
        assert_eq!(places, (0..layout.width()).collect::<Vec<_>>());
        assert_eq!((layout.width(), layout.parameters()), (9, 13));
    }

    #[test]
    fn counts_come_back() {
        let scale = CountScale {
            mean: 3.0,
            scale: 2.0,
            largest: None,
        };
        for count in [0.0, 1.0, 17.0, 12_345.0, 400_000.0] {
            assert_eq!(scale.decode(scale.encode(count)).round(), count);
        }
    }
}
