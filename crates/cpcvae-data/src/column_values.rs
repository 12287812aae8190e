//! The cells of a column as values of its kind.

use crate::cell::Cell;
use crate::{Column, ColumnKind, DataError, Kind, RawColumn, Result};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

/// Beyond this, squares and sums of numbers of 32 bits overflow.
const LARGEST: f32 = 1e30;
/// A category that was asked for has at most this many levels.
const MOST_LEVELS: usize = 1000;

/// One column on its way from cells to values.
pub(crate) struct ColumnCells<'a> {
    pub(crate) path: &'a Path,
    pub(crate) raw: &'a RawColumn,
    pub(crate) cells: Vec<Cell<'a>>,
    /// Whether its kind is a trained model's, and so no longer the user's to choose.
    pub(crate) of_model: bool,
}

/// Values of a column, and levels that it should not have: each with its first row and how
/// often it occurs.
pub(crate) struct Values {
    pub(crate) values: Vec<f32>,
    pub(crate) unseen: BTreeMap<String, (usize, usize)>,
}

impl ColumnCells<'_> {
    /// The column with its levels, where it is to be of that kind. Not for [`Kind::Ignore`].
    pub(crate) fn column(&self, kind: Kind) -> Result<Column> {
        Ok(Column {
            name: self.raw.name.clone(),
            kind: match kind {
                Kind::Number | Kind::Ignore => ColumnKind::Number,
                Kind::Flag => ColumnKind::Flag,
                Kind::Count => ColumnKind::Count,
                Kind::Category => ColumnKind::Category(self.levels()?),
            },
        })
    }

    /// The values, for a column of this kind. Levels that it does not list are missing cells.
    pub(crate) fn values(&self, column: &Column) -> Result<Values> {
        let mut unseen: BTreeMap<String, (usize, usize)> = BTreeMap::new();
        let places: HashMap<&str, usize> = match &column.kind {
            ColumnKind::Category(levels) => levels.iter().map(String::as_str).zip(0..).collect(),
            _ => HashMap::new(),
        };
        let value = |(row, cell): (usize, &Cell)| match (&column.kind, *cell) {
            (_, Cell::Missing) => Ok(f32::NAN),
            (ColumnKind::Category(_), _) => {
                let level = self.raw.level(row);
                Ok(places.get(level.as_str()).map_or_else(
                    || {
                        unseen.entry(level.clone()).or_insert((row, 0)).1 += 1;
                        f32::NAN
                    },
                    |place| *place as f32,
                ))
            }
            (_, cell) => self.number(row, cell, column),
        };
        let values = self.cells.iter().enumerate().map(value);
        Ok(Values {
            values: values.collect::<Result<_>>()?,
            unseen,
        })
    }

    /// A cell that must be a number.
    fn number(&self, row: usize, cell: Cell, column: &Column) -> Result<f32> {
        let is_count = column.kind == ColumnKind::Count;
        let value = match cell {
            Cell::Number(number) => number,
            Cell::Flag(flag) if !is_count => f32::from(u8::from(flag)),
            _ => return Err(self.bad_cell(row, "is not a number", &column.kind)),
        };
        if value.is_finite() && value.abs() > LARGEST {
            return Err(self.bad_cell(row, "is beyond 1e30", &column.kind));
        }
        match column.problem(value) {
            Some(problem) => Err(self.bad_cell(row, problem, &column.kind)),
            None => Ok(value),
        }
    }

    fn levels(&self) -> Result<Vec<String>> {
        let known = self.cells.iter().enumerate();
        let levels: BTreeSet<String> = known
            .filter(|(_, cell)| **cell != Cell::Missing)
            .map(|(row, _)| self.raw.level(row))
            .collect();
        if levels.len() > MOST_LEVELS {
            return Err(self.bad_column(&format!(
                "has {} levels, more than the {MOST_LEVELS} that a category may have",
                levels.len()
            )));
        }
        let mut levels: Vec<String> = levels.into_iter().collect();
        // Whole numbers in their own order, not in that of their digits.
        if levels.iter().all(|level| level.parse::<i64>().is_ok()) {
            levels.sort_by_key(|level| level.parse::<i64>().unwrap_or_default());
        }
        Ok(levels)
    }

    /// The error for a cell that its column cannot have.
    pub(crate) fn bad_cell(&self, row: usize, problem: &str, kind: &ColumnKind) -> DataError {
        let (name, text) = (&self.raw.name, self.raw.text(row));
        let other = match self.cells[row] {
            Cell::Number(_) if *kind != ColumnKind::Number => "number",
            _ => "category",
        };
        let advice = match self.of_model {
            true => format!(
                "correct it or leave it blank, or, if it is right, train again with `--column \
                 {name}={other}`"
            ),
            false => format!(
                "correct it, leave it blank, call that value missing (`--missing {text}`), declare \
                 another kind (`--column {name}={other}`), or leave the column out (`--ignore \
                 {name}`)"
            ),
        };
        DataError::Table {
            path: self.path.to_path_buf(),
            place: format!("row {}, column `{name}`", row + 1),
            problem: format!(
                "`{text}` {problem}, and the column is read as a {}; {advice}",
                kind.name()
            ),
        }
    }

    /// The error for a column that cannot be used as it is.
    pub(crate) fn bad_column(&self, problem: &str) -> DataError {
        let name = &self.raw.name;
        DataError::Table {
            path: self.path.to_path_buf(),
            place: format!("column `{name}`"),
            problem: format!(
                "{problem}; leave it out (`--ignore {name}`), or name rows by it (`--id {name}`)"
            ),
        }
    }
}
