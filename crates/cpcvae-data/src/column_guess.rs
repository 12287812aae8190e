//! Guesses the kind of a column that is not declared, in one or two passes over its cells.

use crate::cell::{Cell, Number};
use crate::column_sizes::Sizes;
use crate::count_test::{CountTest, Frequent};
use crate::{Column, KindName};
use std::collections::HashSet;

/// A guessed category has at most this many levels.
const MOST_LEVELS: usize = 50;
/// From this many known cells on, a category has at most half as many levels.
const ENOUGH_TO_REPEAT: usize = 20;
/// The largest of guessed counts exceeds this.
const COUNTS_EXCEED: f32 = 20.0;

/// Distinct texts are counted up to this number.
pub(crate) const MOST_TEXTS: usize = 100_000;

/// A kind and the reason for it, in words.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Guess {
    pub(crate) kind: KindName,
    pub(crate) why: String,
}

/// Why there is no guess.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum NoGuess {
    /// Every cell is missing.
    Empty,
    /// Text among numbers, with the first such row.
    Mixed(usize),
    /// Something else among dates, with the first such row.
    MixedDates(usize),
    /// Text that hardly repeats, with the number of distinct values, which are counted up to
    /// [`MOST_TEXTS`].
    FreeText(usize),
}

/// The result of a pass over the cells.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum FirstGuess {
    /// The kind is known.
    Sure(Guess),
    /// Perhaps counts, which takes another pass.
    PerhapsCounts(CountTest),
}

/// Statistics of a column's cells, and the kind they imply.
///
/// The rule, over the cells that are not missing:
///
/// 1. Only true/false, or 0 and 1 with both occurring: a **flag**.
/// 2. Numbers: a **number**, unless they can hardly be anything but counts. Whole numbers are never
///    a category (pixels are whole numbers, too), and counts only if they are never negative, the
///    largest exceeds 20, their variance is more than twice their mean, their skewness is above 1,
///    and, leaving out zeros, 1 is the most frequent value, occurs at least 10 times and in at
///    least 10 % of the cells. Grey levels, ages and amounts of money fail that; numbers of visits
///    or of molecules pass it.
/// 3. Dates or times, all with a time zone or all without: a **number** of days or seconds.
/// 4. Text: a **category**, unless it has more than 50 levels or, from 20 known cells on, more
///    levels than half of the cells: that is an id or free text, and is left out.
/// 5. Text in a column whose cells are numbers or dates for at least one half is treated as a
///    mistake and refused.
#[derive(Clone, Debug)]
pub(crate) struct Seen<'a> {
    numbers: usize,
    flags: usize,
    texts: usize,
    levels: HashSet<&'a str>,
    /// The first row that holds no number.
    first_odd: Option<usize>,
    /// The first row that holds no date.
    first_undated: Option<usize>,
    sizes: Sizes,
    only_bits: bool,
    has_bit: [bool; 2],
    only_counts: bool,
    largest: f32,
    sum: f64,
    frequent: Frequent,
}

impl Default for Seen<'_> {
    fn default() -> Self {
        Seen {
            numbers: 0,
            flags: 0,
            texts: 0,
            levels: HashSet::new(),
            first_odd: None,
            first_undated: None,
            sizes: Sizes::default(),
            only_bits: true,
            has_bit: [false; 2],
            only_counts: true,
            largest: 0.0,
            sum: 0.0,
            frequent: Frequent::default(),
        }
    }
}

impl<'a> Seen<'a> {
    /// Adds the cell of the next row.
    pub(crate) fn add(&mut self, row: usize, cell: Cell<'a>) {
        match cell {
            Cell::Missing => return,
            Cell::Number(number) => {
                self.first_undated.get_or_insert(row);
                return self.add_number(number);
            }
            Cell::Flag(_) => self.flags += 1,
            Cell::Time(time, text) => {
                self.sizes.add_time(time);
                self.add_text(text);
            }
            Cell::Text(text) => {
                self.texts += 1;
                self.add_text(text);
            }
        }
        if !matches!(cell, Cell::Time(..)) {
            self.first_undated.get_or_insert(row);
        }
        self.first_odd.get_or_insert(row);
    }

    fn add_text(&mut self, text: &'a str) {
        if self.levels.len() < MOST_TEXTS {
            self.levels.insert(text);
        }
    }

    fn add_number(&mut self, number: Number) {
        self.numbers += 1;
        self.sizes.add(number.exact);
        // Most columns are soon known to be neither flag nor text; this test keeps large files
        // fast.
        if self.only_bits {
            self.only_bits = number.exact == 0.0 || number.exact == 1.0;
            self.has_bit[usize::from(number.exact == 1.0)] = true;
        }
        if self.only_counts {
            self.only_counts = number.exact >= 0.0 && number.exact.fract() == 0.0;
            self.largest = self.largest.max(number.short);
            self.sum += f64::from(number.short);
            self.frequent.add(number.short);
        }
    }

    /// Sets what is known about the numbers of a column whose kind is known: their range, offset
    /// and unit.
    pub(crate) fn describe(&self, column: Column) -> Column {
        let is_time = self.is_time();
        match self.numbers > 0 || is_time {
            true => self.sizes.describe(column, is_time),
            false => column,
        }
    }

    /// Whether all cells are dates, or all are times with or all without a time zone.
    fn is_time(&self) -> bool {
        self.first_undated.is_none() && self.sizes.are_times()
    }

    /// The kind of the column, once all cells have been seen.
    pub(crate) fn guess(&self) -> Result<FirstGuess, NoGuess> {
        let sure = |kind, why: &str| Ok(FirstGuess::Sure(as_kind(kind, why)));
        let Some(odd) = self.first_odd else {
            return match self.numbers {
                0 => Err(NoGuess::Empty),
                _ if self.only_bits && self.has_bit == [true; 2] => {
                    sure(KindName::Flag, "only 0 and 1")
                }
                _ if self.only_counts && self.largest > COUNTS_EXCEED => {
                    let test = CountTest::new(self.numbers, self.sum, &self.frequent);
                    Ok(FirstGuess::PerhapsCounts(test))
                }
                _ => sure(KindName::Number, "numbers"),
            };
        };
        if self.is_time() {
            let why = if self.sizes.only_days {
                "dates"
            } else {
                "times"
            };
            return sure(KindName::Number, why);
        }
        if self.texts + self.sizes.times == 0 && self.only_bits {
            return sure(KindName::Flag, "true or false");
        }
        if self.numbers >= self.flags + self.texts + self.sizes.times {
            return Err(NoGuess::Mixed(odd));
        }
        if let (Some(odd), true) = (
            self.first_undated,
            self.sizes.times >= self.flags + self.texts,
        ) {
            return Err(NoGuess::MixedDates(odd));
        }
        let known = self.numbers + self.flags + self.texts + self.sizes.times;
        let levels = self.levels.len();
        match levels > MOST_LEVELS || (known >= ENOUGH_TO_REPEAT && levels > known / 2) {
            true => Err(NoGuess::FreeText(levels)),
            false => sure(KindName::Category, "text that repeats"),
        }
    }
}

pub(crate) fn as_kind(kind: KindName, why: &str) -> Guess {
    Guess {
        kind,
        why: why.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guess(cells: &[Cell]) -> Result<Guess, NoGuess> {
        let mut seen = Seen::default();
        for (row, cell) in cells.iter().enumerate() {
            seen.add(row, *cell);
        }
        Ok(match seen.guess()? {
            FirstGuess::Sure(guess) => guess,
            FirstGuess::PerhapsCounts(mut test) => {
                cells.iter().for_each(|cell| test.add(*cell));
                test.guess()
            }
        })
    }

    fn number<'a>(number: f32) -> Cell<'a> {
        Cell::Number(f64::from(number).into())
    }

    fn kind_of(numbers: impl IntoIterator<Item = f32>) -> KindName {
        let cells: Vec<Cell> = numbers.into_iter().map(number).collect();
        guess(&cells).unwrap().kind
    }

    #[test]
    fn numbers_are_numbers_when_in_doubt() {
        assert_eq!(kind_of([0.5, 1.0, 0.0]), KindName::Number);
        assert_eq!(kind_of([1.0, 2.0, 3.0]), KindName::Number);
        // Grades, intensities of digits from 0 to 16, ages, a constant.
        assert_eq!(
            kind_of((0..1000).map(|i| (i % 17) as f32)),
            KindName::Number
        );
        assert_eq!(
            kind_of((0..1000).map(|i| 18.0 + (i % 70) as f32)),
            KindName::Number
        );
        assert_eq!(kind_of([0.0; 9]), KindName::Number);
        assert_eq!(kind_of([1.0; 9]), KindName::Number);
        // An edge pixel of grey images: mostly 0, else anything up to 255.
        let pixel = (0..2000).map(|i| if i % 4 == 0 { (i % 256) as f32 } else { 0.0 });
        assert_eq!(kind_of(pixel), KindName::Number);
        // Two clouds of whole numbers, each as frequent as the others.
        let clouds = (0..660).map(|i| (100 * (i % 2) + i % 11) as f32);
        assert_eq!(kind_of(clouds), KindName::Number);
        // Amounts of money: mostly 0, and otherwise large.
        let money = (0..2000).map(|i| if i % 9 == 0 { (i * 37) as f32 } else { 0.0 });
        assert_eq!(kind_of(money), KindName::Number);
    }

    #[test]
    fn heavy_tails_of_whole_numbers_are_counts() {
        // The quantiles of a geometric distribution with mean 5.
        let q = (5.0f32 / 6.0).ln();
        let visits = (0..500).map(|i| ((1.0 - (i as f32 + 0.5) / 500.0).ln() / q).floor());
        assert_eq!(kind_of(visits.clone()), KindName::Count);
        assert_eq!(kind_of(visits.map(|visits| -visits)), KindName::Number);
    }

    #[test]
    fn a_value_that_is_more_frequent_than_1_is_found_among_many() {
        // 1 and 3 among ever new numbers, of which none repeats.
        let visits = |threes: usize| {
            let ones = (0..5000).map(|i| if i % 5 == 0 { 1.0 } else { 20.0 + i as f32 });
            ones.chain((0..threes).map(|_| 3.0))
        };
        assert_eq!(kind_of(visits(999)), KindName::Number, "not skewed");
        let skewed = |threes| visits(threes).chain([1e6; 3]);
        assert_eq!(kind_of(skewed(1000)), KindName::Count);
        assert_eq!(kind_of(skewed(1001)), KindName::Number);
    }

    #[test]
    fn flags_are_said_in_two_ways() {
        assert_eq!(kind_of([0.0, 1.0, 1.0]), KindName::Flag);
        let cells = [Cell::Flag(true), Cell::Missing, number(0.0)];
        assert_eq!(guess(&cells).unwrap().kind, KindName::Flag);
    }

    #[test]
    fn text_is_a_category_a_mistake_or_an_id() {
        let few = ["red", "blue", "red"].map(Cell::Text);
        assert_eq!(guess(&few).unwrap().kind, KindName::Category);
        let odd = [number(1.0), number(2.0), Cell::Text("x")];
        assert_eq!(guess(&odd), Err(NoGuess::Mixed(2)));
        let names: Vec<String> = (0..30).map(|i| format!("n{i}")).collect();
        let free: Vec<Cell> = names.iter().map(|name| Cell::Text(name)).collect();
        assert_eq!(guess(&free), Err(NoGuess::FreeText(30)));
        assert_eq!(guess(&[Cell::Missing; 3]), Err(NoGuess::Empty));
    }
}
