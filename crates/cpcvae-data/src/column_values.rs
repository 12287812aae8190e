//! The cells of a column as values of its kind.

use crate::cell::{Cell, MissingValues, Number};
use crate::{
    Cells, Column, ColumnKind, DataError, DataRemedy, KindName, PackedNumbers, RawColumn, Result,
    Rows,
};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::path::Path;

/// Beyond this, squares and sums overflow in 32 bits.
pub(crate) const LARGEST: f32 = 1e30;
/// A declared category has at most this many levels.
const MOST_LEVELS: usize = 1000;

/// One column while its cells are turned into values.
#[derive(Clone, Copy)]
pub(crate) struct ColumnCells<'a> {
    pub(crate) path: &'a Path,
    pub(crate) raw: &'a RawColumn,
    pub(crate) missing: &'a MissingValues,
    /// Whether its kind comes from a trained model, so that the user cannot change it.
    pub(crate) of_model: bool,
}

impl<'a> ColumnCells<'a> {
    /// The cell of a row.
    pub(crate) fn cell(&self, row: usize) -> Cell<'a> {
        self.raw.cell(row, self.missing)
    }

    /// The column of that kind, with these levels where it is a category. Not for
    /// [`KindName::Ignore`].
    pub(crate) fn column(&self, kind: KindName, levels: BTreeSet<String>) -> Result<Column> {
        let kind = match kind {
            KindName::Number | KindName::Ignore => ColumnKind::Number,
            KindName::Flag => ColumnKind::Flag,
            KindName::Count => ColumnKind::Count,
            KindName::Category => ColumnKind::Category(self.in_order(levels)?),
        };
        Ok(Column::new(&self.raw.name, kind))
    }

    fn in_order(&self, levels: BTreeSet<String>) -> Result<Vec<String>> {
        if levels.len() > MOST_LEVELS {
            return Err(self.bad_column(&format!(
                "has {} levels, more than the {MOST_LEVELS} that a category may have",
                levels.len()
            )));
        }
        let mut levels: Vec<String> = levels.into_iter().collect();
        // Whole numbers are sorted by value, not as text.
        if levels.iter().all(|level| level.parse::<i64>().is_ok()) {
            levels.sort_by_key(|level| level.parse::<i64>().unwrap_or_default());
        }
        Ok(levels)
    }

    /// The values, for a column of this kind.
    pub(crate) fn values(&self, column: Column) -> ColumnValues<'a> {
        let levels: &[String] = match &column.kind {
            ColumnKind::Category(levels) => levels,
            _ => &[],
        };
        ColumnValues {
            raw: Cow::Borrowed(self.raw),
            missing: self.missing.clone(),
            levels: (0..)
                .zip(levels)
                .map(|(i, l)| (l.clone(), i as f32))
                .collect(),
            is_plain: column.kind == ColumnKind::Number
                && column.offset == 0.0
                && self.missing.has_no_numbers(),
            column,
        }
    }

    /// The error for a cell that does not fit its column.
    pub(crate) fn bad_cell(&self, row: usize, problem: &str, column: &Column) -> DataError {
        let kind = &column.kind;
        let (name, text) = (&self.raw.name, self.raw.text(row));
        let other = match self.cell(row) {
            Cell::Number(_) if *kind != ColumnKind::Number => "number",
            _ => "category",
        };
        let (advice, remedy) = match self.of_model {
            true => (
                format!(
                    "correct it or leave it blank, or, if it is right, train again with the column \
                     as a {other} (`data.columns`)"
                ),
                DataRemedy::RetrainColumn {
                    column: name.clone(),
                    kind: other,
                },
            ),
            false => (
                "correct it, leave it blank, call that value missing (`data.missing`), declare \
                 another kind of column (`data.columns`), or leave the column out (`data.ignore`)"
                    .to_string(),
                DataRemedy::ReadCell {
                    column: name.clone(),
                    text: text.to_string(),
                    kind: other,
                },
            ),
        };
        let error = DataError::Table {
            path: self.path.to_path_buf(),
            place: format!("row {}, column `{name}`", row + 1),
            problem: format!(
                "`{text}` {problem}, and the column is read as a {}; {advice}",
                column.what()
            ),
        };
        error.with_remedy(remedy)
    }

    /// The error for a column that cannot be used as it is.
    pub(crate) fn bad_column(&self, problem: &str) -> DataError {
        let name = &self.raw.name;
        let error = DataError::Table {
            path: self.path.to_path_buf(),
            place: format!("column `{name}`"),
            problem: format!(
                "{problem}; leave it out (`data.ignore`), or name rows by it (`data.id`)"
            ),
        };
        error.with_remedy(DataRemedy::LeaveOutColumn {
            column: name.clone(),
        })
    }
}

/// The values of a column.
#[derive(Clone, Debug)]
pub(crate) struct ColumnValues<'a> {
    raw: Cow<'a, RawColumn>,
    pub(crate) column: Column,
    missing: MissingValues,
    /// The value of each level.
    levels: HashMap<String, f32>,
    /// Whether every number is its own value.
    is_plain: bool,
}

/// Why a cell has no value.
pub(crate) enum NoValue {
    /// It is a level that the column does not list.
    Unseen(String),
    /// A number that does not fit the column's kind, and why.
    Misfit(f32, &'static str),
    /// A cell that is not of the column's kind.
    Wrong(&'static str),
}

impl ColumnValues<'_> {
    /// The value in a row; NaN where it is missing.
    pub(crate) fn value(&self, row: usize) -> std::result::Result<f32, NoValue> {
        match (&self.column.kind, self.raw.cell(row, &self.missing)) {
            (_, Cell::Missing) => Ok(f32::NAN),
            (ColumnKind::Category(_), _) => {
                let level = self.raw.level(row);
                let place = self.levels.get(&level).copied();
                place.ok_or(NoValue::Unseen(level))
            }
            (_, Cell::Time(time, _)) => match self.column.time {
                Some(unit) => self.checked(unit.number(time.seconds).into()),
                None => Err(NoValue::Wrong("is a date and not a number")),
            },
            _ if self.column.time.is_some() => Err(NoValue::Wrong("is not a date")),
            (kind, Cell::Flag(flag)) if *kind != ColumnKind::Count => {
                self.checked(f64::from(u8::from(flag)).into())
            }
            (_, Cell::Number(number)) => self.checked(number),
            _ => Err(NoValue::Wrong("is not a number")),
        }
    }

    fn checked(&self, number: Number) -> std::result::Result<f32, NoValue> {
        if !number.short.is_finite() {
            return Err(NoValue::Wrong("is not a finite number"));
        }
        if number.short.abs() > LARGEST {
            return Err(NoValue::Wrong("is beyond 1e30"));
        }
        let value = self.column.value(number);
        match self.column.problem(value) {
            Some(problem) if value.is_finite() => Err(NoValue::Misfit(value, problem)),
            Some(problem) => Err(NoValue::Wrong(problem)),
            None => Ok(value),
        }
    }

    /// The same column without a borrow; copies the cells where they are not packed.
    pub(crate) fn into_owned(self) -> ColumnValues<'static> {
        ColumnValues {
            raw: Cow::Owned(self.raw.into_owned()),
            ..self
        }
    }
}

/// Rows of a table that have been checked once and are converted from cells when they are read.
#[derive(Debug)]
pub(crate) struct TableRows {
    rows: usize,
    width: usize,
    pieces: Vec<Piece>,
}

/// Columns that are read together.
#[derive(Debug)]
enum Piece {
    One(Box<ColumnValues<'static>>),
    /// The first of this many adjacent columns of plain numbers.
    Run(PackedNumbers, usize),
}

impl TableRows {
    pub(crate) fn new(rows: usize, columns: Vec<ColumnValues>) -> TableRows {
        let width = columns.len();
        let mut pieces = Vec::new();
        for column in columns {
            let numbers = match &column.raw.cells {
                Cells::Packed(numbers) if column.is_plain => Some(numbers.clone()),
                _ => None,
            };
            match (pieces.last_mut(), numbers) {
                (Some(Piece::Run(first, places)), Some(numbers))
                    if numbers.follows(first, *places) =>
                {
                    *places += 1;
                }
                (_, Some(numbers)) => pieces.push(Piece::Run(numbers, 1)),
                (_, None) => pieces.push(Piece::One(Box::new(column.into_owned()))),
            }
        }
        TableRows {
            rows,
            width,
            pieces,
        }
    }
}

impl Rows for TableRows {
    fn rows(&self) -> usize {
        self.rows
    }

    fn columns(&self) -> usize {
        self.width
    }

    fn read(&self, row: usize, mut out: &mut [f32]) {
        for piece in &self.pieces {
            let places = match piece {
                Piece::One(_) => 1,
                Piece::Run(_, places) => *places,
            };
            let (values, rest) = out.split_at_mut(places);
            match piece {
                // Levels that are not listed are missing.
                Piece::One(column) => values[0] = column.value(row).unwrap_or(f32::NAN),
                Piece::Run(first, _) => first.read_beside(row, values),
            }
            out = rest;
        }
    }
}
