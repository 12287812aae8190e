//! The label cells of a table: which are missing, and whether they are classes or numbers.

use crate::cell::{Number, is_missing, is_same, parse_number};
use crate::column_values::LARGEST;
use crate::offset::offset_of;
use crate::table::{ChosenTask, MOST_LISTED, TableOptions, Task};
use crate::{DataError, Labels, RawColumn, Result};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

/// Up to this many distinct values, numbers that repeat are classes.
const MOST_NUMERIC_CLASSES: usize = 20;
/// With more values than that, classes have this many rows each, on average.
const ROWS_A_CLASS: usize = 3;
/// The same for class codes, which run from 0 or 1 without a gap.
const ROWS_A_NUMBERED_CLASS: usize = 2;
/// The same for numbers that are far apart, as prices are.
const ROWS_A_SPARSE_CLASS: usize = 10;

/// Distinct values are counted up to this number, which is more than the classes there can be.
const MOST_COUNTED: usize = 100_000;

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

    /// The labels, and whether they are classes or numbers.
    pub(crate) fn labels(&self, path: &Path) -> Result<(Labels, ChosenTask)> {
        let width = self.columns.len();
        let chosen = match self.options.task {
            Some(task) => ChosenTask::new(task, "as asked for"),
            None => self.guess(),
        };
        let labels = match chosen.task {
            Task::Regress => self.values(path),
            Task::Classify if width > 1 => Err(DataError::Labels(format!(
                "a class is one column, but {width} were named ({}); name one, or read them as \
                 numbers",
                self.options.labels.join(", ")
            ))),
            Task::Classify => self.classes(path),
        };
        Ok((labels?, chosen))
    }

    /// The cells of the first column, converted on each call: there may be many.
    fn cells(&self) -> impl Iterator<Item = String> + '_ {
        (0..self.rows).map(|row| self.columns[0].text(row))
    }

    /// Numbers that hardly repeat are values to regress. All digits count: 100000000.25 is not
    /// whole.
    fn guess(&self) -> ChosenTask {
        if self.columns.len() > 1 {
            return ChosenTask::new(Task::Regress, "several label columns");
        }
        let mut different = HashSet::new();
        let (mut known, mut whole) = (0, true);
        let (mut smallest, mut largest) = (f64::INFINITY, f64::NEG_INFINITY);
        for cell in self.cells() {
            if self.is_missing(&cell, Task::Classify) {
                continue;
            }
            let Some(number) = parse_number(&cell) else {
                return ChosenTask::new(Task::Classify, "text");
            };
            known += 1;
            whole &= number.fract() == 0.0;
            smallest = number.min(smallest);
            largest = number.max(largest);
            if different.len() < MOST_COUNTED {
                different.insert(number.to_bits());
            }
        }
        let different = different.len();
        let few = different <= MOST_NUMERIC_CLASSES;
        let span = largest - smallest + 1.0;
        let rows_a_class = match different as f64 {
            count if count == span && matches!(smallest, 0.0 | 1.0) => ROWS_A_NUMBERED_CLASS,
            count if count < span / 2.0 => ROWS_A_SPARSE_CLASS,
            _ => ROWS_A_CLASS,
        };
        let repeat = match whole {
            true => few || (known >= rows_a_class * different && different < MOST_COUNTED),
            false => few && different <= known / 2,
        };
        let numbers = if whole { "whole numbers" } else { "numbers" };
        let or_more = if different == MOST_COUNTED {
            " or more"
        } else {
            ""
        };
        let found = format!("{different}{or_more} different {numbers} in {known} labelled rows");
        match repeat {
            true => ChosenTask::new(Task::Classify, &found),
            false => ChosenTask::new(Task::Regress, &format!("{found}, which hardly repeat")),
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
        let offsets = match (&self.options.label_offsets, &self.options.features) {
            (Some(known), _) => known.clone(),
            // A model without stored offsets uses none.
            (None, Some(_)) => Vec::new(),
            (None, None) => self.offsets(path)?,
        };
        let offset = |place: usize| offsets.get(place).copied().unwrap_or(0.0);
        let of_row = (0..self.rows).map(|row| {
            let values = |numbers: Vec<Number>| {
                let numbers = numbers.iter().enumerate();
                numbers
                    .map(|(place, number)| number.less(offset(place)))
                    .collect()
            };
            Ok(self.numbers(row, path)?.map(values))
        });
        Ok(Labels::Values {
            names: self.options.labels.clone(),
            of_row: of_row.collect::<Result<_>>()?,
            offsets,
        })
    }

    /// The numbers of a row; `None` where one is not known.
    fn numbers(&self, row: usize, path: &Path) -> Result<Option<Vec<Number>>> {
        let cells: Vec<String> = self.columns.iter().map(|column| column.text(row)).collect();
        if cells
            .iter()
            .any(|cell| self.is_missing(cell, Task::Regress))
        {
            return Ok(None);
        }
        let number = |(column, cell): (&&RawColumn, &String)| {
            let wrong = |problem: &str| DataError::Table {
                path: path.to_path_buf(),
                place: format!("row {}, label column `{}`", row + 1, column.name),
                problem: format!(
                    "`{cell}` {problem}; a label to regress is a number, or blank when it is not \
                     known"
                ),
            };
            match Number::parse(cell) {
                Some(number) if number.short.abs() <= LARGEST => Ok(number),
                Some(number) if number.exact.is_finite() => Err(wrong("is beyond 1e30")),
                _ => Err(wrong("is not a finite number")),
            }
        };
        let numbers = self.columns.iter().zip(&cells).map(number);
        numbers.collect::<Result<_>>().map(Some)
    }

    /// The offset of each column; empty where no column needs one.
    fn offsets(&self, path: &Path) -> Result<Vec<f64>> {
        let mut ranges = vec![[f64::INFINITY, f64::NEG_INFINITY]; self.columns.len()];
        for row in 0..self.rows {
            for (range, number) in ranges
                .iter_mut()
                .zip(self.numbers(row, path)?.into_iter().flatten())
            {
                *range = [range[0].min(number.exact), range[1].max(number.exact)];
            }
        }
        let offsets = ranges.iter().map(|range| offset_of(range[0], range[1]));
        let offsets: Vec<f64> = offsets.collect();
        Ok(match offsets.iter().all(|offset| *offset == 0.0) {
            true => Vec::new(),
            false => offsets,
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
    let more = if rare.len() > MOST_LISTED {
        ", ..."
    } else {
        ""
    };
    (!rare.is_empty()).then(|| {
        let listed = rare[..rare.len().min(MOST_LISTED)].join(", ");
        format!("only one row has the label {listed}{more}: too few to learn from and to test on")
    })
}
