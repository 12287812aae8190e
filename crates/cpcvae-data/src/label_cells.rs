//! The label cells of a table: which are missing, and whether they are classes or numbers.

use crate::cell::{is_missing, is_same, parse_number};
use crate::table::{TOLD, TableOptions, Task};
use crate::{DataError, Labels, RawColumn, Result};
use std::collections::{BTreeSet, HashMap};
use std::path::Path;

/// Above this many different values, numbers that are not whole are no classes.
const MOST_NUMERIC_CLASSES: usize = 20;

/// The label cells as text, row after row.
pub(crate) struct LabelCells<'a> {
    options: &'a TableOptions,
    columns: &'a [&'a RawColumn],
    rows: usize,
}

impl<'a> LabelCells<'a> {
    /// The cells of the label columns, of which there is at least one.
    pub(crate) fn new(
        options: &'a TableOptions,
        columns: &'a [&'a RawColumn],
        rows: usize,
    ) -> LabelCells<'a> {
        LabelCells {
            options,
            columns,
            rows,
        }
    }

    pub(crate) fn labels(&self, path: &Path) -> Result<Labels> {
        let width = self.columns.len();
        match self.options.task.unwrap_or_else(|| self.guess()) {
            Task::Regress => self.values(path),
            Task::Classify if width > 1 => Err(DataError::Labels(format!(
                "a class is one column, but {width} were named ({}); name one, or read them as \
                 numbers",
                self.options.labels.join(", ")
            ))),
            Task::Classify => self.classes(path),
        }
    }

    /// The cells of the first column, which are made anew each time: they may be many.
    fn cells(&self) -> impl Iterator<Item = String> + '_ {
        (0..self.rows).map(|row| self.columns[0].text(row))
    }

    /// Numbers that are not all whole and hardly repeat can only be values.
    fn guess(&self) -> Task {
        if self.columns.len() > 1 {
            return Task::Regress;
        }
        let mut different = BTreeSet::new();
        let (mut known, mut whole) = (0, true);
        for cell in self.cells() {
            if self.is_missing(&cell, Task::Classify) {
                continue;
            }
            let Some(number) = parse_number(&cell) else {
                return Task::Classify;
            };
            known += 1;
            whole &= number.fract() == 0.0;
            // One more than are counted.
            if different.len() <= MOST_NUMERIC_CLASSES {
                different.insert(number.to_bits());
            }
        }
        let different = different.len();
        match !whole && (different > MOST_NUMERIC_CLASSES || different > known / 2) {
            true => Task::Regress,
            false => Task::Classify,
        }
    }

    fn is_missing(&self, cell: &str, task: Task) -> bool {
        let named = match &self.options.unlabelled_value {
            Some(value) => is_same(cell, value.trim()),
            None => task == Task::Classify && parse_number(cell) == Some(-1.0),
        };
        named || is_missing(cell)
    }

    fn classes(&self, path: &Path) -> Result<Labels> {
        let mut texts: BTreeSet<String> = BTreeSet::new();
        let mut has_minus_one = false;
        for cell in self.cells() {
            if texts.contains(&cell) {
                continue;
            }
            has_minus_one |= parse_whole(&cell) == Some(-1);
            if !self.is_missing(&cell, Task::Classify) {
                texts.insert(cell);
            }
        }
        // Tools write whole numbers as 3.0 once a column has gaps; 3.0 and 3 are one class.
        let whole: Option<BTreeSet<i64>> = texts.iter().map(|text| parse_whole(text)).collect();
        let names: Vec<String> = match &whole {
            Some(numbers) => numbers.iter().map(i64::to_string).collect(),
            None => texts.iter().cloned().collect(),
        };
        if names.len() == 1 && has_minus_one && names[0] != "-1" {
            return Err(DataError::content(
                path,
                format!(
                    "column `{}` holds only `{}` besides -1, which means \"not labelled\"; if -1 is a \
                     class, name another value for rows without a label",
                    self.options.labels[0], names[0]
                ),
            ));
        }
        let places: HashMap<&str, u32> = names.iter().map(String::as_str).zip(0..).collect();
        let place = |text: &String| match parse_whole(text).filter(|_| whole.is_some()) {
            Some(number) => places[number.to_string().as_str()],
            None => places[text.as_str()],
        };
        let place_of: HashMap<&str, u32> = texts.iter().map(|t| (t.as_str(), place(t))).collect();
        let of_row = self
            .cells()
            .map(|cell| place_of.get(cell.as_str()).copied());
        Ok(Labels::Classes {
            of_row: of_row.collect(),
            names,
        })
    }

    fn values(&self, path: &Path) -> Result<Labels> {
        let value = |row: usize, column: &RawColumn, cell: &String| {
            parse_number(cell).ok_or_else(|| DataError::Table {
                path: path.to_path_buf(),
                place: format!("row {}, label column `{}`", row + 1, column.name),
                problem: format!(
                    "`{cell}` is not a finite number; a label to regress is a number, or blank \
                     when it is not known"
                ),
            })
        };
        let of_row = (0..self.rows).map(|row| {
            let cells: Vec<String> = self.columns.iter().map(|column| column.text(row)).collect();
            if cells
                .iter()
                .any(|cell| self.is_missing(cell, Task::Regress))
            {
                return Ok(None);
            }
            let values = self.columns.iter().zip(&cells);
            let values = values.map(|(column, cell)| value(row, column, cell));
            values.collect::<Result<Vec<f32>>>().map(Some)
        });
        Ok(Labels::Values {
            names: self.options.labels.clone(),
            of_row: of_row.collect::<Result<_>>()?,
        })
    }
}

/// A cell as a whole number, whether written `3` or `3.0`.
fn parse_whole(cell: &str) -> Option<i64> {
    cell.parse::<i64>().ok().or_else(|| {
        let number: f64 = cell.parse().ok()?;
        // Beyond this, f64 does not hold every whole number.
        (number.fract() == 0.0 && number.abs() < 9e15).then_some(number as i64)
    })
}

/// Classes with a single label cannot be learnt and tested.
pub(crate) fn rare_classes(labels: &Labels) -> Option<String> {
    let Labels::Classes { names, of_row } = labels else {
        return None;
    };
    let mut times = vec![0; names.len()];
    for class in of_row.iter().flatten() {
        times[*class as usize] += 1;
    }
    let rare = names.iter().zip(times).filter(|(_, times)| *times == 1);
    let rare: Vec<String> = rare.map(|(name, _)| format!("`{name}`")).collect();
    let more = if rare.len() > TOLD { ", ..." } else { "" };
    (!rare.is_empty()).then(|| {
        let told = rare[..rare.len().min(TOLD)].join(", ");
        format!("only one row has the label {told}{more}: too few to learn from and to test on")
    })
}
