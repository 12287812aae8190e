//! What a column means: a number, a flag, one of some levels, a count.

use crate::TimeUnit;
use crate::cell::Number;
use serde::{Deserialize, Serialize};

/// One column of a table. In a [`Dataset`](crate::Dataset) its cells are one `f32` each; NaN is
/// a missing cell.
///
/// ```
/// use cpcvae_data::Column;
///
/// let mut seen_at = Column::number("seen at");
/// seen_at.offset = 1.7e9;
/// assert_eq!(seen_at.cell(12.5), "1700000012.5");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "StoredColumn")]
pub struct Column {
    /// Its name.
    pub name: String,
    /// What its values are.
    pub kind: ColumnKind,
    /// Subtracted from numbers, in 64 bits, before they become an `f32`: numbers that are large
    /// against their spread would all round to the same value otherwise. Finite, and 0 for most
    /// columns.
    #[serde(skip_serializing_if = "is_zero")]
    pub offset: f64,
    /// The smallest and the largest number, offset included, where all were whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub whole: Option<[f64; 2]>,
    /// The unit of the numbers, where they are dates or times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<TimeUnit>,
}

// Offsets and ranges are never NaN.
impl Eq for Column {}

fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

/// What the values of a column are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ColumnKind {
    /// Any number.
    Number,
    /// 0 or 1: false or true.
    Flag,
    /// One of these levels, as its place in the list.
    Category(Vec<String>),
    /// A whole number from 0 on.
    Count,
}

/// The kind of a column as a user names it; levels are found in the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KindName {
    /// [`ColumnKind::Number`]
    Number,
    /// [`ColumnKind::Flag`]
    Flag,
    /// [`ColumnKind::Category`]
    Category,
    /// [`ColumnKind::Count`]
    Count,
    /// Not a feature.
    Ignore,
}

impl KindName {
    /// All kinds with their names.
    pub const NAMES: [(&'static str, KindName); 5] = [
        ("number", KindName::Number),
        ("flag", KindName::Flag),
        ("category", KindName::Category),
        ("count", KindName::Count),
        ("ignore", KindName::Ignore),
    ];

    /// The kind of that name.
    pub fn named(name: &str) -> Option<KindName> {
        KindName::NAMES
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, kind)| *kind)
    }
}

impl Column {
    /// A column of a kind, without an offset.
    pub fn new(name: impl Into<String>, kind: ColumnKind) -> Column {
        Column {
            name: name.into(),
            kind,
            offset: 0.0,
            whole: None,
            time: None,
        }
    }

    /// A column of numbers.
    pub fn number(name: impl Into<String>) -> Column {
        Column::new(name, ColumnKind::Number)
    }

    /// The value as a cell: the level's text for a category, a date as ISO 8601, blank where it is
    /// missing. It reads back as the same value.
    pub fn cell(&self, value: f32) -> String {
        match (&self.kind, self.time) {
            _ if value.is_nan() => String::new(),
            (ColumnKind::Category(levels), _) => {
                levels.get(value as usize).cloned().unwrap_or_default()
            }
            (_, Some(unit)) => unit.text(self.in_user_units(value)),
            _ if self.offset == 0.0 => value.to_string(),
            _ => self.in_user_units(value).to_string(),
        }
    }

    /// A value of the data set in the user's units: with its offset, in 64 bits.
    pub fn in_user_units(&self, value: f32) -> f64 {
        self.offset + f64::from(value)
    }

    /// The inverse of [`Column::in_user_units`]: a number in the user's units as a value of the
    /// data set.
    pub fn of_user_units(&self, number: f64) -> f32 {
        self.value(number.into())
    }

    /// A generated value, rounded to what this column can hold: a flag or a level, a whole number
    /// between the smallest and the largest where all numbers were whole, a count. Other numbers
    /// and missing cells stay as they are.
    ///
    /// ```
    /// use cpcvae_data::Column;
    ///
    /// let mut grade = Column::number("grade");
    /// assert_eq!(grade.nearest(6.45), 6.45);
    /// grade.whole = Some([1.0, 5.0]);
    /// assert_eq!((grade.nearest(2.6), grade.nearest(6.45)), (3.0, 5.0));
    /// ```
    pub fn nearest(&self, value: f32) -> f32 {
        let largest = |levels: &[String]| levels.len().saturating_sub(1) as f32;
        let nearest = match (&self.kind, self.whole) {
            _ if value.is_nan() => return value,
            (ColumnKind::Number, None) => return value,
            (ColumnKind::Flag, _) => value.round().clamp(0.0, 1.0),
            (ColumnKind::Category(levels), _) => value.round().clamp(0.0, largest(levels)),
            (ColumnKind::Count, None) => value.round().max(0.0),
            (_, Some([low, high])) => {
                let whole = self.in_user_units(value).round().max(low).min(high);
                (whole - self.offset) as f32
            }
        };
        // Adding 0 turns -0 into 0, which is written without a sign.
        nearest + 0.0
    }

    /// What its values are, in a few words.
    pub(crate) fn what(&self) -> &'static str {
        match self.time {
            Some(TimeUnit::Days) => "date",
            Some(TimeUnit::Seconds | TimeUnit::SecondsUtc) => "time",
            None => self.kind.name(),
        }
    }

    /// A number as this column's value.
    pub(crate) fn value(&self, number: Number) -> f32 {
        number.less(self.offset)
    }

    /// What is wrong with a value of this column, if anything is.
    pub(crate) fn problem(&self, value: f32) -> Option<&'static str> {
        let is_whole = value.fract() == 0.0 && value >= 0.0;
        match &self.kind {
            _ if value.is_nan() => None,
            _ if value.is_infinite() => Some("is not a finite number"),
            ColumnKind::Flag if value != 0.0 && value != 1.0 => Some("is not a flag (0 or 1)"),
            ColumnKind::Count if !is_whole => Some("is not a count (a whole number from 0 on)"),
            ColumnKind::Category(levels) if !is_whole || value as usize >= levels.len() => {
                Some("is not the place of one of the column's levels")
            }
            _ => None,
        }
    }
}

impl ColumnKind {
    /// Its name, as in [`KindName::NAMES`].
    pub fn name(&self) -> &'static str {
        match self {
            ColumnKind::Number => "number",
            ColumnKind::Flag => "flag",
            ColumnKind::Category(_) => "category",
            ColumnKind::Count => "count",
        }
    }
}

/// A bare name is a column of numbers.
impl From<&str> for Column {
    fn from(name: &str) -> Column {
        Column::number(name)
    }
}

/// A column in a model's card: cards written before columns had kinds have names only.
#[derive(Deserialize)]
#[serde(untagged)]
enum StoredColumn {
    Name(String),
    Whole {
        name: String,
        kind: ColumnKind,
        #[serde(default)]
        offset: f64,
        #[serde(default)]
        whole: Option<[f64; 2]>,
        #[serde(default)]
        time: Option<TimeUnit>,
    },
}

impl From<StoredColumn> for Column {
    fn from(stored: StoredColumn) -> Column {
        match stored {
            StoredColumn::Name(name) => Column::number(name),
            StoredColumn::Whole {
                name,
                kind,
                offset,
                whole,
                time,
            } => Column {
                name,
                kind,
                offset,
                whole,
                time,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn colour() -> Column {
        let levels = vec!["blue".into(), "red".into()];
        Column::new("colour", ColumnKind::Category(levels))
    }

    #[test]
    fn a_cell_is_what_the_user_wrote() {
        assert_eq!(colour().cell(1.0), "red");
        assert_eq!(colour().cell(f32::NAN), "");
        assert_eq!(Column::number("x").cell(0.1), "0.1");
    }

    #[test]
    fn values_must_be_of_the_kind() {
        let count = Column::new("visits", ColumnKind::Count);
        assert!(count.problem(3.0).is_none() && count.problem(f32::NAN).is_none());
        assert!(count.problem(2.5).is_some() && count.problem(-1.0).is_some());
        assert!(colour().problem(1.0).is_none() && colour().problem(2.0).is_some());
        assert!(Column::number("x").problem(f32::INFINITY).is_some());
    }

    #[test]
    fn columns_survive_the_way_to_a_card_and_back_and_old_cards_are_read() {
        let columns = vec![Column::number("x"), colour()];
        let text = serde_json::to_string(&columns).unwrap();
        assert_eq!(serde_json::from_str::<Vec<Column>>(&text).unwrap(), columns);
        let old: Vec<Column> = serde_json::from_str(r#"["x", "y"]"#).unwrap();
        assert_eq!(old, [Column::number("x"), Column::number("y")]);
        // Default values are not written to the card.
        assert_eq!(
            serde_json::to_string(&columns[..1]).unwrap(),
            r#"[{"name":"x","kind":"number"}]"#
        );
        let date = Column {
            offset: 1.7e9 + 0.5,
            whole: Some([-1.0, 1e12]),
            time: Some(TimeUnit::SecondsUtc),
            ..Column::number("at")
        };
        let text = serde_json::to_string(&date).unwrap();
        assert_eq!(serde_json::from_str::<Column>(&text).unwrap(), date);
    }

    #[test]
    fn made_up_values_become_values_of_the_column() {
        let mut days = Column::number("days");
        days.offset = 1.7e9;
        assert_eq!(days.nearest(0.3), 0.3);
        days.whole = Some([1.7e9 - 20.0, 1.7e9 + 19.0]);
        assert_eq!(
            [-0.3, 7.6, 235.0].map(|value| days.nearest(value)),
            [0.0, 8.0, 19.0]
        );
        assert!(days.nearest(f32::NAN).is_nan());
        let count = Column::new("visits", ColumnKind::Count);
        assert_eq!(
            [-0.00064, 2.5].map(|value| count.nearest(value)),
            [0.0, 3.0]
        );
        assert_eq!(
            [-2.0, 0.6, 9.0].map(|value| colour().nearest(value)),
            [0.0, 1.0, 1.0]
        );
    }
}
