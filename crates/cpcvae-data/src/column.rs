//! What a column means: a number, a flag, one of some levels, a count.

use serde::{Deserialize, Serialize};

/// One column of a table. In a [`Dataset`](crate::Dataset) its cells are one `f32` each; NaN is
/// a missing cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StoredColumn")]
pub struct Column {
    /// Its name.
    pub name: String,
    /// What its values are.
    pub kind: ColumnKind,
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
    /// A column of numbers.
    pub fn number(name: impl Into<String>) -> Column {
        Column {
            name: name.into(),
            kind: ColumnKind::Number,
        }
    }

    /// The value as a cell: the level's text for a category, blank where it is missing. What is
    /// written so reads back as the same value.
    pub fn cell(&self, value: f32) -> String {
        match &self.kind {
            _ if value.is_nan() => String::new(),
            ColumnKind::Category(levels) => levels.get(value as usize).cloned().unwrap_or_default(),
            _ => value.to_string(),
        }
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

/// A column as a model's card has it: cards from before there were kinds have names only.
#[derive(Deserialize)]
#[serde(untagged)]
enum StoredColumn {
    Name(String),
    Whole { name: String, kind: ColumnKind },
}

impl From<StoredColumn> for Column {
    fn from(stored: StoredColumn) -> Column {
        match stored {
            StoredColumn::Name(name) => Column::number(name),
            StoredColumn::Whole { name, kind } => Column { name, kind },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn colour() -> Column {
        Column {
            name: "colour".into(),
            kind: ColumnKind::Category(vec!["blue".into(), "red".into()]),
        }
    }

    #[test]
    fn a_cell_is_what_the_user_wrote() {
        assert_eq!(colour().cell(1.0), "red");
        assert_eq!(colour().cell(f32::NAN), "");
        assert_eq!(Column::number("x").cell(0.1), "0.1");
    }

    #[test]
    fn values_must_be_of_the_kind() {
        let count = Column {
            name: "visits".into(),
            kind: ColumnKind::Count,
        };
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
    }
}
