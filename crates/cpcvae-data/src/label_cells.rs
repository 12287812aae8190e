//! The label cells of a table: which are missing, and whether they are classes or numbers.

use crate::cell::{is_missing, is_same, parse_number};
use crate::table::{TOLD, TableOptions, Task};
use crate::{DataError, Labels, RawColumn, Result};
use std::collections::BTreeSet;
use std::path::Path;

/// Above this many different values, numbers that are not whole are no classes.
const MOST_NUMERIC_CLASSES: usize = 20;

/// The label cells as text, row after row.
pub(crate) struct LabelCells<'a> {
    options: &'a TableOptions,
    width: usize,
    cells: Vec<String>,
}

impl<'a> LabelCells<'a> {
    /// The cells of the label columns, of which there is at least one.
    pub(crate) fn new(
        options: &'a TableOptions,
        columns: &[&RawColumn],
        rows: usize,
    ) -> LabelCells<'a> {
        let row = |row| columns.iter().map(move |column| column.text(row));
        LabelCells {
            options,
            width: columns.len(),
            cells: (0..rows).flat_map(row).collect(),
        }
    }

    pub(crate) fn into_labels(self, path: &Path) -> Result<Labels> {
        match self.options.task.unwrap_or_else(|| self.guess()) {
            Task::Regress => self.values(path),
            Task::Classify if self.width > 1 => Err(DataError::Labels(format!(
                "a class is one column, but {} were named ({}); name one, or read them as numbers",
                self.width,
                self.options.labels.join(", ")
            ))),
            Task::Classify => self.classes(path),
        }
    }

    /// Numbers that are not all whole and hardly repeat can only be values.
    fn guess(&self) -> Task {
        if self.width > 1 {
            return Task::Regress;
        }
        let known: Vec<&String> = self
            .cells
            .iter()
            .filter(|cell| !self.is_missing(cell, Task::Classify))
            .collect();
        let numbers: Option<Vec<f32>> = known.iter().map(|cell| parse_number(cell)).collect();
        let Some(numbers) = numbers else {
            return Task::Classify;
        };
        let different = numbers
            .iter()
            .map(|number| number.to_bits())
            .collect::<BTreeSet<_>>()
            .len();
        let whole = numbers.iter().all(|number| number.fract() == 0.0);
        match !whole && (different > MOST_NUMERIC_CLASSES || different > numbers.len() / 2) {
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

    fn classes(self, path: &Path) -> Result<Labels> {
        let known = |cell: &String| (!self.is_missing(cell, Task::Classify)).then(|| cell.clone());
        let mut cells: Vec<Option<String>> = self.cells.iter().map(known).collect();
        // Tools write whole numbers as 3.0 once a column has gaps; 3.0 and 3 are one class.
        let whole: Option<Vec<Option<i64>>> = cells
            .iter()
            .map(|cell| {
                cell.as_ref()
                    .map_or(Some(None), |cell| parse_whole(cell).map(Some))
            })
            .collect();
        let names: Vec<String> = match whole {
            Some(numbers) => {
                let names: BTreeSet<i64> = numbers.iter().flatten().copied().collect();
                cells = numbers.iter().map(|n| n.map(|n| n.to_string())).collect();
                names.iter().map(i64::to_string).collect()
            }
            None => {
                let names: BTreeSet<&String> = cells.iter().flatten().collect();
                names.into_iter().cloned().collect()
            }
        };
        if names.len() == 1
            && self.cells.iter().any(|cell| parse_whole(cell) == Some(-1))
            && names[0] != "-1"
        {
            return Err(DataError::content(
                path,
                format!(
                    "column `{}` holds only `{}` besides -1, which means \"not labelled\"; if -1 is a \
                 class, name another value for rows without a label",
                    self.options.labels[0], names[0]
                ),
            ));
        }
        let place: std::collections::HashMap<&str, u32> =
            names.iter().map(String::as_str).zip(0..).collect();
        let of_row = cells
            .iter()
            .map(|cell| cell.as_ref().map(|cell| place[cell.as_str()]))
            .collect();
        Ok(Labels::Classes { names, of_row })
    }

    fn values(self, path: &Path) -> Result<Labels> {
        let mut of_row = Vec::with_capacity(self.cells.len() / self.width);
        for (row, cells) in self.cells.chunks(self.width).enumerate() {
            if cells
                .iter()
                .any(|cell| self.is_missing(cell, Task::Regress))
            {
                of_row.push(None);
                continue;
            }
            let parse = |(column, cell): (usize, &String)| {
                parse_number(cell).ok_or_else(|| DataError::Table {
                    path: path.to_path_buf(),
                    place: format!(
                        "row {}, label column `{}`",
                        row + 1,
                        self.options.labels[column]
                    ),
                    problem: format!(
                        "`{cell}` is not a finite number; a label to regress is a number, or blank \
                         when it is not known"
                    ),
                })
            };
            of_row.push(Some(
                cells
                    .iter()
                    .enumerate()
                    .map(parse)
                    .collect::<Result<Vec<f32>>>()?,
            ));
        }
        Ok(Labels::Values {
            names: self.options.labels.clone(),
            of_row,
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
