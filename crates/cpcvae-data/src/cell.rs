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
        Cells::Numbers(numbers) => of_numbers(numbers.iter().copied(), missing),
        Cells::Packed(numbers) => of_numbers(numbers.iter(), missing),
        Cells::Flags(flags) => flags
            .iter()
            .map(|flag| flag.map_or(Cell::Missing, Cell::Flag))
            .collect(),
    }
}

fn of_numbers<'a>(numbers: impl Iterator<Item = f64>, missing: &[String]) -> Vec<Cell<'a>> {
    let missing: Vec<f32> = missing
        .iter()
        .filter_map(|text| parse_number(text.trim()))
        .collect();
    let of_number = |number: f64| match number as f32 {
        number if number.is_nan() || missing.contains(&number) => Cell::Missing,
        number => Cell::Number(number),
    };
    numbers.map(of_number).collect()
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
    /// Which cells are missing; `missing` are more values that mean so.
    pub fn missing_cells(&self, missing: &[String]) -> Vec<bool> {
        let cells = cells(self, missing).into_iter();
        cells.map(|cell| cell == Cell::Missing).collect()
    }

    /// The cell as text, as a level of a category, a label or an id; blank where it is missing.
    ///
    /// # Panics
    /// When there is no row `row`, as indexing a slice does.
    pub fn text(&self, row: usize) -> String {
        let number = |number: f64| match number.is_nan() {
            true => String::new(),
            false => number.to_string(),
        };
        match &self.cells {
            Cells::Texts(texts) => texts[row].clone(),
            Cells::Numbers(numbers) => number(numbers[row]),
            // With 64 bits, 0.1 of 32 would read 0.10000000149011612.
            Cells::Packed(numbers) if numbers.kind().is_short_fraction() => {
                match numbers.get(row) as f32 {
                    number if number.is_nan() => String::new(),
                    number => number.to_string(),
                }
            }
            Cells::Packed(numbers) => number(numbers.get(row)),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NumberKind, PackedNumbers};

    #[test]
    fn packed_numbers_are_cells_like_any_others() {
        let numbers = [0.1f32, f32::NAN, -99.0, 3.0];
        let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
        let packed = PackedNumbers::new(bytes.into(), (NumberKind::F32, false), 0, 4, 4);
        let column = RawColumn {
            name: "x".into(),
            cells: Cells::Packed(packed.unwrap()),
        };
        let found = cells(&column, &["-99".into()]);
        use Cell::{Missing, Number};
        assert_eq!(found, [Number(0.1), Missing, Missing, Number(3.0)]);
        assert_eq!(column.missing_cells(&[]), [false, true, false, false]);
        let texts: Vec<String> = (0..4).map(|row| column.text(row)).collect();
        assert_eq!(texts, ["0.1", "", "-99", "3"]);
    }
}
