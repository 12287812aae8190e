//! A cell of a table as read: missing, a number, a flag, a date or text.

use crate::time::{Time, TimeUnit};
use crate::{Cells, RawColumn};

/// What the cells of a column to be written are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellKind {
    /// 64-bit floating point numbers.
    Number,
    /// UTF-8 text.
    Text,
}

/// Texts that mean "missing" in any column, whatever their case.
const MISSING: [&str; 6] = ["", "na", "n/a", "nan", "null", "?"];

/// What a cell holds, before the kind of its column is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cell<'a> {
    Missing,
    Number(Number),
    Flag(bool),
    /// A date or time, and how it was written where it was text.
    Time(Time, &'a str),
    Text(&'a str),
}

/// A number as read. Possibly infinite, where the text says so or is too large.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Number {
    /// All digits in 64 bits: used for guessing the kind, for comparison and for subtracting
    /// offsets.
    pub(crate) exact: f64,
    /// The nearest 32-bit number: the value where there is no offset.
    pub(crate) short: f32,
}

impl Number {
    /// Reads a number, which may be NaN.
    pub(crate) fn parse(text: &str) -> Option<Number> {
        let exact: f64 = text.parse().ok()?;
        // Going through 64 bits rounds twice, which is wrong where the first rounding ends halfway
        // between two 32-bit numbers. Among subnormal numbers the halfway points are elsewhere.
        const BELOW: u64 = (1 << 29) - 1;
        let halfway = exact.to_bits() & BELOW == 1 << 28;
        let short = match halfway || exact.abs() < f64::from(f32::MIN_POSITIVE) {
            true => text.parse().ok()?,
            false => exact as f32,
        };
        Some(Number { exact, short })
    }

    /// The number with an offset subtracted, in 32 bits.
    pub(crate) fn less(self, offset: f64) -> f32 {
        match offset == 0.0 {
            true => self.short,
            false => (self.exact - offset) as f32,
        }
    }
}

impl From<f64> for Number {
    fn from(exact: f64) -> Number {
        Number {
            exact,
            short: exact as f32,
        }
    }
}

/// A cell as a finite number.
pub(crate) fn parse_number(cell: &str) -> Option<f64> {
    cell.parse::<f64>().ok().filter(|value| value.is_finite())
}

/// Whether a text means "missing" in any column.
pub(crate) fn is_missing(text: &str) -> bool {
    MISSING.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Whether two cells are the same text or number: `-99` is `-99.0`.
pub(crate) fn is_same(cell: &str, other: &str) -> bool {
    cell == other || parse_number(cell).is_some_and(|number| parse_number(other) == Some(number))
}

/// Values that mean "missing", in addition to those that always do.
#[derive(Clone, Debug, Default)]
pub struct MissingValues {
    texts: Vec<String>,
    numbers: Vec<f64>,
}

impl MissingValues {
    /// These values; a number matches in every notation.
    pub fn new(values: &[String]) -> MissingValues {
        let texts = values.iter().map(|text| text.trim().to_string());
        MissingValues {
            texts: texts.collect(),
            numbers: values
                .iter()
                .filter_map(|v| parse_number(v.trim()))
                .collect(),
        }
    }

    /// Whether no number but NaN is missing.
    pub(crate) fn has_no_numbers(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Whether a number is missing; those of files with 32 bits are compared in 32 bits.
    fn holds(&self, number: f64) -> bool {
        let is = |missing: &f64| *missing == number || f64::from(*missing as f32) == number;
        self.numbers.iter().any(is)
    }
}

/// A packed flag.
pub(crate) fn as_flag(byte: f64) -> Option<bool> {
    (byte != 255.0).then_some(byte != 0.0)
}

fn of_number<'a>(number: f64, missing: &MissingValues) -> Cell<'a> {
    match number.is_nan() || missing.holds(number) {
        true => Cell::Missing,
        false => Cell::Number(number.into()),
    }
}

fn of_flag<'a>(flag: Option<bool>) -> Cell<'a> {
    flag.map_or(Cell::Missing, Cell::Flag)
}

fn of_text<'a>(text: &'a str, missing: &MissingValues) -> Cell<'a> {
    if is_missing(text) || missing.texts.iter().any(|value| is_same(text, value)) {
        return Cell::Missing;
    }
    match (Number::parse(text), Time::parse(text)) {
        (Some(number), _) if number.exact.is_nan() => Cell::Missing,
        (Some(number), _) => Cell::Number(number),
        (None, Some(time)) => Cell::Time(time, text),
        (None, None) if text.eq_ignore_ascii_case("true") => Cell::Flag(true),
        (None, None) if text.eq_ignore_ascii_case("false") => Cell::Flag(false),
        (None, None) => Cell::Text(text),
    }
}

fn of_time<'a>(seconds: f64, zoned: bool) -> Cell<'a> {
    match seconds.is_nan() {
        true => Cell::Missing,
        false => Cell::Time(Time { seconds, zoned }, ""),
    }
}

/// A timestamp of a typed file, formatted as text.
pub(crate) fn time_text(seconds: f64, zoned: bool) -> String {
    match (seconds.is_nan(), zoned) {
        (true, _) => String::new(),
        (false, true) => TimeUnit::SecondsUtc.text(seconds),
        (false, false) if seconds % crate::time::DAY == 0.0 => {
            TimeUnit::Days.text(TimeUnit::Days.number(seconds))
        }
        (false, false) => TimeUnit::Seconds.text(seconds),
    }
}

impl RawColumn {
    /// Whether the cell of a row is missing.
    ///
    /// # Panics
    /// When there is no row `row`, as indexing a slice does.
    pub fn is_missing(&self, row: usize, missing: &MissingValues) -> bool {
        self.cell(row, missing) == Cell::Missing
    }

    /// The cell of a row.
    ///
    /// # Panics
    /// When there is no row `row`, as indexing a slice does.
    pub(crate) fn cell(&self, row: usize, missing: &MissingValues) -> Cell<'_> {
        match &self.cells {
            Cells::Texts(texts) => of_text(&texts[row], missing),
            Cells::PackedTexts(texts) => of_text(texts.get(row), missing),
            Cells::Numbers(numbers) => of_number(numbers[row], missing),
            Cells::Packed(numbers) => of_number(numbers.get(row), missing),
            Cells::Flags(flags) => of_flag(flags[row]),
            Cells::PackedFlags(flags) => of_flag(as_flag(flags.get(row))),
            Cells::PackedTimes { seconds, zoned } => of_time(seconds.get(row), *zoned),
        }
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
        let flag = |flag: Option<bool>| flag.map_or(String::new(), |flag| flag.to_string());
        match &self.cells {
            Cells::Texts(texts) => texts[row].clone(),
            Cells::PackedTexts(texts) => texts.get(row).to_string(),
            Cells::Numbers(numbers) => number(numbers[row]),
            // With 64 bits, 0.1 of 32 would read 0.10000000149011612.
            Cells::Packed(numbers) if numbers.kind().is_short_fraction() => {
                match numbers.get(row) as f32 {
                    number if number.is_nan() => String::new(),
                    number => number.to_string(),
                }
            }
            Cells::Packed(numbers) => number(numbers.get(row)),
            Cells::Flags(flags) => flag(flags[row]),
            Cells::PackedFlags(flags) => flag(as_flag(flags.get(row))),
            Cells::PackedTimes { seconds, zoned } => time_text(seconds.get(row), *zoned),
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
        let missing = MissingValues::new(&[" -99".into()]);
        let found: Vec<Cell> = (0..4).map(|row| column.cell(row, &missing)).collect();
        use Cell::{Missing, Number};
        let number = |number: f32| Number(f64::from(number).into());
        assert_eq!(found, [number(0.1), Missing, Missing, number(3.0)]);
        assert!(column.is_missing(2, &missing) && !column.is_missing(2, &Default::default()));
        let texts: Vec<String> = (0..4).map(|row| column.text(row)).collect();
        assert_eq!(texts, ["0.1", "", "-99", "3"]);
    }

    #[test]
    fn texts_are_rounded_once() {
        // Just above halfway between 1 and the next number of 32 bits; 64 bits end on halfway.
        let text = "1.00000005960464477540";
        assert_eq!((1.000_000_059_604_644_8_f64) as f32, 1.0);
        let number = super::Number::parse(text).unwrap();
        assert_eq!(number.short, text.parse::<f32>().unwrap());
        assert_eq!(number.short, 1.0 + f32::EPSILON);
        for text in [
            "0.1",
            "-3e-45",
            "1e-40",
            "2.0000001e-45",
            "1e39",
            "16777217",
            "1e30",
            "-0",
        ] {
            let expected = text.parse::<f32>().unwrap();
            assert_eq!(
                super::Number::parse(text).unwrap().short.to_bits(),
                expected.to_bits()
            );
        }
    }

    #[test]
    fn packed_flags_and_texts_are_cells_too() {
        let flags = PackedNumbers::new(vec![0, 1, 255].into(), (NumberKind::U8, false), 0, 1, 3);
        let mut texts = crate::packed_texts::TextGatherer::new(0).unwrap();
        for text in ["x", "?", "2.5"] {
            texts.push(text).unwrap();
        }
        let of = |cells| {
            let name = "c".into();
            let column = RawColumn { name, cells };
            let kinds = (0..3).map(|row| format!("{:?}", column.cell(row, &Default::default())));
            let texts = (0..3).map(|row| column.text(row));
            (kinds.collect::<Vec<_>>(), texts.collect::<Vec<_>>())
        };
        let (cells, read) = of(Cells::PackedFlags(flags.unwrap()));
        assert_eq!(cells, ["Flag(false)", "Flag(true)", "Missing"]);
        assert_eq!(read, ["false", "true", ""]);
        let (cells, read) = of(Cells::PackedTexts(texts.finish().unwrap()));
        let number = "Number(Number { exact: 2.5, short: 2.5 })";
        assert_eq!(cells, ["Text(\"x\")", "Missing", number]);
        assert_eq!(read, ["x", "?", "2.5"]);
    }
}
