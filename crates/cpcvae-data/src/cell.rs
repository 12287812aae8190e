//! A cell of a table as read: missing, a number, a flag or text.

use crate::{Cells, RawColumn};

/// Texts that mean "missing" in any column, whatever their case.
const MISSING: [&str; 6] = ["", "na", "n/a", "nan", "null", "?"];

/// What a cell holds, before the kind of its column is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cell<'a> {
    Missing,
    /// Possibly infinite, where the text says so or is too large for a number of 32 bits.
    Number(f32),
    Flag(bool),
    Text(&'a str),
}

/// A cell as a finite number.
pub(crate) fn parse_number(cell: &str) -> Option<f32> {
    cell.parse::<f32>().ok().filter(|value| value.is_finite())
}

/// Whether a text means "missing" in any column.
pub(crate) fn is_missing(text: &str) -> bool {
    MISSING.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Whether two cells are the same text or number: `-99` is `-99.0`.
pub(crate) fn is_same(cell: &str, other: &str) -> bool {
    cell == other || parse_number(cell).is_some_and(|number| parse_number(other) == Some(number))
}

/// The cells of a column; `missing` are more values that mean "missing".
pub(crate) fn cells<'a>(column: &'a RawColumn, missing: &[String]) -> Vec<Cell<'a>> {
    match &column.cells {
        Cells::Texts(texts) => texts.iter().map(|text| of_text(text, missing)).collect(),
        Cells::Numbers(numbers) => {
            let missing: Vec<f32> = missing
                .iter()
                .filter_map(|text| parse_number(text.trim()))
                .collect();
            let of_number = |number: &f64| match *number as f32 {
                number if number.is_nan() || missing.contains(&number) => Cell::Missing,
                number => Cell::Number(number),
            };
            numbers.iter().map(of_number).collect()
        }
        Cells::Flags(flags) => flags
            .iter()
            .map(|flag| flag.map_or(Cell::Missing, Cell::Flag))
            .collect(),
    }
}

fn of_text<'a>(text: &'a str, missing: &[String]) -> Cell<'a> {
    if is_missing(text) || missing.iter().any(|value| is_same(text, value.trim())) {
        return Cell::Missing;
    }
    // Straight to 32 bits: by way of 64, some numbers would be rounded twice.
    match text.parse::<f32>() {
        Ok(number) if number.is_nan() => Cell::Missing,
        Ok(number) => Cell::Number(number),
        Err(_) if text.eq_ignore_ascii_case("true") => Cell::Flag(true),
        Err(_) if text.eq_ignore_ascii_case("false") => Cell::Flag(false),
        Err(_) => Cell::Text(text),
    }
}

impl RawColumn {
    /// The cell as text, as a level of a category, a label or an id; blank where it is missing.
    pub(crate) fn text(&self, row: usize) -> String {
        match &self.cells {
            Cells::Texts(texts) => texts[row].clone(),
            Cells::Numbers(numbers) if numbers[row].is_nan() => String::new(),
            Cells::Numbers(numbers) => numbers[row].to_string(),
            Cells::Flags(flags) => flags[row].map_or(String::new(), |flag| flag.to_string()),
        }
    }

    /// The cell as a level. Tools write whole numbers as 3.0 once a column has gaps; 3.0 and 3
    /// are one level.
    pub(crate) fn level(&self, row: usize) -> String {
        let text = self.text(row);
        match text.strip_suffix(".0") {
            Some(whole) if whole.parse::<i64>().is_ok() => whole.to_string(),
            _ => text,
        }
    }
}
