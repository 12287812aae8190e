//! What kind a column is, when nobody has said so.

use crate::Kind;
use crate::cell::Cell;
use std::collections::{BTreeMap, HashSet};

/// A category that was not asked for has at most this many levels.
const MOST_LEVELS: usize = 50;
/// From this many known cells on, a category has at most half as many levels.
const ENOUGH_TO_REPEAT: usize = 20;
/// The largest of counts that were not asked for exceeds this.
const COUNTS_EXCEED: f32 = 20.0;
/// Counts that were not asked for have at least so many ones.
const ENOUGH_ONES: usize = 10;

/// A kind and the reason for it, in words.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Guess {
    pub(crate) kind: Kind,
    pub(crate) why: String,
}

/// Why there is no guess.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum NoGuess {
    /// Every cell is missing.
    Empty,
    /// Text among numbers: the first row that has it.
    Mixed(usize),
    /// Text that hardly repeats, of so many different values.
    FreeText(usize),
}

/// The rule, over the cells that are not missing:
///
/// 1. Only true/false, or 0 and 1 and both of them: a **flag**.
/// 2. Numbers: a **number**, unless they look like nothing but counts. Whole numbers are no
///    categories (pixels are whole numbers, too), and counts only if they are never negative,
///    the largest exceeds 20, their variance is more than twice their mean, their skewness is
///    above 1, and, leaving out zeros, 1 is the most frequent value, occurs at least 10 times and
///    in at least 10 % of the cells. Grey levels, ages and amounts of money fail that; numbers of
///    visits or of molecules pass it.
/// 3. Text: a **category**, unless it has more than 50 levels or, from 20 known cells on, more
///    levels than half of the cells: that is an id or free text, and is refused.
/// 4. Text in a column whose cells are numbers for at least one half is a mistake, and refused.
pub(crate) fn guess(cells: &[Cell]) -> Result<Guess, NoGuess> {
    let (mut numbers, mut flags, mut texts) = (Vec::new(), 0, Vec::new());
    let mut first_odd = None;
    for (row, cell) in cells.iter().enumerate() {
        match cell {
            Cell::Missing => continue,
            Cell::Number(number) => numbers.push(*number),
            Cell::Flag(_) => flags += 1,
            Cell::Text(text) => texts.push(*text),
        }
        if !matches!(cell, Cell::Number(_)) {
            first_odd.get_or_insert(row);
        }
    }
    let Some(odd) = first_odd else {
        return match numbers.is_empty() {
            true => Err(NoGuess::Empty),
            false => Ok(of_numbers(&numbers)),
        };
    };
    let only_bits = numbers.iter().all(|number| is_bit(*number));
    if texts.is_empty() && only_bits {
        return Ok(as_kind(Kind::Flag, "true or false"));
    }
    if numbers.len() >= flags + texts.len() {
        return Err(NoGuess::Mixed(odd));
    }
    let known = numbers.len() + flags + texts.len();
    let levels = texts.iter().collect::<HashSet<_>>().len();
    match levels > MOST_LEVELS || (known >= ENOUGH_TO_REPEAT && levels > known / 2) {
        true => Err(NoGuess::FreeText(levels)),
        false => Ok(as_kind(Kind::Category, "text that repeats")),
    }
}

fn of_numbers(numbers: &[f32]) -> Guess {
    let has = |wanted: f32| numbers.contains(&wanted);
    if numbers.iter().all(|number| is_bit(*number)) && has(0.0) && has(1.0) {
        return as_kind(Kind::Flag, "only 0 and 1");
    }
    if look_like_counts(numbers) {
        return as_kind(Kind::Count, "whole, skewed, 1 most frequent after 0");
    }
    as_kind(Kind::Number, "numbers")
}

fn look_like_counts(numbers: &[f32]) -> bool {
    let is_whole = |number: &f32| *number >= 0.0 && number.fract() == 0.0;
    let largest = numbers.iter().copied().fold(0.0, f32::max);
    if !numbers.iter().all(is_whole) || largest <= COUNTS_EXCEED {
        return false;
    }
    let average = |of: &dyn Fn(f64) -> f64| {
        numbers.iter().map(|n| of(f64::from(*n))).sum::<f64>() / numbers.len() as f64
    };
    let mean = average(&|n| n);
    let variance = average(&|n| (n - mean).powi(2));
    let skewness = average(&|n| (n - mean).powi(3)) / variance.powf(1.5);
    let mut times: BTreeMap<u32, usize> = BTreeMap::new();
    for number in numbers.iter().filter(|number| **number > 0.0) {
        *times.entry(number.to_bits()).or_default() += 1;
    }
    let ones = times.get(&1.0f32.to_bits()).copied().unwrap_or(0);
    let most = times.values().copied().max().unwrap_or(0);
    let above_zero: usize = times.values().sum();
    let ones_lead = ones == most && ones >= ENOUGH_ONES && ones * 10 >= above_zero;
    variance > 2.0 * mean && skewness > 1.0 && ones_lead
}

fn is_bit(number: f32) -> bool {
    number == 0.0 || number == 1.0
}

fn as_kind(kind: Kind, why: &str) -> Guess {
    Guess {
        kind,
        why: why.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind_of(numbers: impl IntoIterator<Item = f32>) -> Kind {
        let cells: Vec<Cell> = numbers.into_iter().map(Cell::Number).collect();
        guess(&cells).unwrap().kind
    }

    #[test]
    fn numbers_are_numbers_when_in_doubt() {
        assert_eq!(kind_of([0.5, 1.0, 0.0]), Kind::Number);
        assert_eq!(kind_of([1.0, 2.0, 3.0]), Kind::Number);
        // Grades, intensities of digits from 0 to 16, ages, a constant.
        assert_eq!(kind_of((0..1000).map(|i| (i % 17) as f32)), Kind::Number);
        assert_eq!(
            kind_of((0..1000).map(|i| 18.0 + (i % 70) as f32)),
            Kind::Number
        );
        assert_eq!(kind_of([0.0; 9]), Kind::Number);
        assert_eq!(kind_of([1.0; 9]), Kind::Number);
        // An edge pixel of grey images: mostly 0, else anything up to 255.
        let pixel = (0..2000).map(|i| if i % 4 == 0 { (i % 256) as f32 } else { 0.0 });
        assert_eq!(kind_of(pixel), Kind::Number);
        // Two clouds of whole numbers, each as frequent as the others.
        let clouds = (0..660).map(|i| (100 * (i % 2) + i % 11) as f32);
        assert_eq!(kind_of(clouds), Kind::Number);
        // Amounts of money: mostly 0, and otherwise large.
        let money = (0..2000).map(|i| if i % 9 == 0 { (i * 37) as f32 } else { 0.0 });
        assert_eq!(kind_of(money), Kind::Number);
    }

    #[test]
    fn heavy_tails_of_whole_numbers_are_counts() {
        // The quantiles of a geometric distribution with mean 5.
        let q = (5.0f32 / 6.0).ln();
        let visits = (0..500).map(|i| ((1.0 - (i as f32 + 0.5) / 500.0).ln() / q).floor());
        assert_eq!(kind_of(visits.clone()), Kind::Count);
        assert_eq!(kind_of(visits.map(|visits| -visits)), Kind::Number);
    }

    #[test]
    fn flags_are_said_in_two_ways() {
        assert_eq!(kind_of([0.0, 1.0, 1.0]), Kind::Flag);
        let cells = [Cell::Flag(true), Cell::Missing, Cell::Number(0.0)];
        assert_eq!(guess(&cells).unwrap().kind, Kind::Flag);
    }

    #[test]
    fn text_is_a_category_a_mistake_or_an_id() {
        let few = ["red", "blue", "red"].map(Cell::Text);
        assert_eq!(guess(&few).unwrap().kind, Kind::Category);
        let odd = [Cell::Number(1.0), Cell::Number(2.0), Cell::Text("x")];
        assert_eq!(guess(&odd), Err(NoGuess::Mixed(2)));
        let names: Vec<String> = (0..30).map(|i| format!("n{i}")).collect();
        let free: Vec<Cell> = names.iter().map(|name| Cell::Text(name)).collect();
        assert_eq!(guess(&free), Err(NoGuess::FreeText(30)));
        assert_eq!(guess(&[Cell::Missing; 3]), Err(NoGuess::Empty));
    }
}
