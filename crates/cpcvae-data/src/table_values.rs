//! A pass over the values of a table: their ranges, and where they are kept.

use crate::column_kinds::Understood;
use crate::column_values::{ColumnValues, NoValue, TableRows};
use crate::features::blocks;
use crate::table::MOST_LISTED;
use crate::{Column, ColumnKind, ColumnReport, DataError, Features, Matrix, Result};
use std::collections::BTreeMap;

/// All values of a table, with statistics of one pass.
pub(crate) struct TableValues {
    pub(crate) features: Features,
    /// Statistics of each column.
    pub(crate) stats: Vec<ColumnStats>,
    /// The number of rows without any value, and the first such rows.
    empty: (usize, Vec<usize>),
}

/// Statistics of the values of a column.
#[derive(Clone, Debug)]
pub(crate) struct ColumnStats {
    missing: usize,
    smallest: f32,
    largest: f32,
    ones: usize,
    /// Levels that are not in the column's list, each with its first row; the alphabetically first
    /// ones.
    unseen: BTreeMap<String, usize>,
    /// The number of cells with such a level.
    unseen_cells: usize,
}

/// Makes a pass over all values, and fails at cells that do not fit their columns, reporting the
/// first of each column; for a trained model, unknown levels and misfit numbers count as missing.
/// Packed cells that would make more than `memory_budget` bytes of values stay where they are; all
/// others become values in memory.
pub(crate) fn measure_values(
    rows: usize,
    columns: &[Understood],
    memory_budget: u64,
) -> Result<TableValues> {
    let width = columns.len();
    let of_cells = |one: &Understood<'_>| one.cells.raw.cells.is_packed();
    let bytes = (rows as u64).saturating_mul(4 * width as u64);
    let stays = bytes > memory_budget && columns.iter().all(of_cells);
    let makers: Vec<ColumnValues> = columns
        .iter()
        .map(|one| one.cells.values(one.column.clone()))
        .collect();

    let mut stats = vec![ColumnStats::default(); width];
    let mut values = vec![0.0; if stays { 0 } else { rows * width }];
    let mut empty = (0, Vec::new());
    let mut errors: Vec<Option<DataError>> = columns.iter().map(|_| None).collect();
    for block in blocks(rows, width) {
        let mut known = vec![false; block.len()];
        for (place, (understood, maker)) in columns.iter().zip(&makers).enumerate() {
            for row in block.clone() {
                let value = match maker.value(row) {
                    Ok(value) => value,
                    // One odd number in new rows is no reason to refuse all of them.
                    Err(NoValue::Misfit(value, _)) if understood.cells.of_model => {
                        stats[place].add_unseen(row, value.to_string());
                        f32::NAN
                    }
                    Err(NoValue::Misfit(_, problem) | NoValue::Wrong(problem)) => {
                        let column = &understood.column;
                        let error = || understood.cells.bad_cell(row, problem, column);
                        errors[place].get_or_insert_with(error);
                        f32::NAN
                    }
                    Err(NoValue::Unseen(level)) => {
                        stats[place].add_unseen(row, level);
                        f32::NAN
                    }
                };
                stats[place].add(value);
                known[row - block.start] |= !value.is_nan();
                if !stays {
                    values[row * width + place] = value;
                }
            }
        }
        for row in block.clone().filter(|row| !known[row - block.start]) {
            empty.0 += 1;
            if empty.1.len() < MOST_LISTED {
                empty.1.push(row);
            }
        }
    }
    let errors = errors.into_iter().flatten().collect();
    let path = columns.first().map(|one| one.cells.path);
    if let Some(error) = path.and_then(|path| DataError::of_columns(path, errors)) {
        return Err(error);
    }
    let features = match stays {
        true => Features::new(TableRows::new(rows, makers)),
        false => Matrix::new(rows, width, values)?.into(),
    };
    Ok(TableValues {
        features,
        stats,
        empty,
    })
}

impl TableValues {
    /// The message about rows without any value, if there are such.
    pub(crate) fn empty_rows(&self, rows: usize) -> Option<String> {
        let (count, first) = &self.empty;
        let first: Vec<String> = first.iter().map(|row| (row + 1).to_string()).collect();
        let more = if *count > MOST_LISTED { ", ..." } else { "" };
        (*count > 0).then(|| {
            format!(
                "{count} of {rows} rows have no value in any feature column (rows {}{more})",
                first.join(", ")
            )
        })
    }
}

impl Default for ColumnStats {
    fn default() -> Self {
        ColumnStats {
            missing: 0,
            smallest: f32::INFINITY,
            largest: f32::NEG_INFINITY,
            ones: 0,
            unseen: BTreeMap::new(),
            unseen_cells: 0,
        }
    }
}

impl ColumnStats {
    fn add(&mut self, value: f32) {
        self.missing += usize::from(value.is_nan());
        self.ones += usize::from(value == 1.0);
        // A missing value is neither.
        self.smallest = self.smallest.min(value);
        self.largest = self.largest.max(value);
    }

    fn add_unseen(&mut self, row: usize, level: String) {
        self.unseen_cells += 1;
        self.unseen.entry(level).or_insert(row);
        if self.unseen.len() > MOST_LISTED + 1 {
            self.unseen.pop_last();
        }
    }

    /// Warnings about the column for the user.
    pub(crate) fn warnings(&self, column: &Column, in_training: bool) -> Vec<String> {
        let mut warnings = Vec::new();
        let name = &column.name;
        if self.unseen_cells > 0 {
            let listed = self.unseen.iter().take(MOST_LISTED);
            let listed: Vec<String> = listed
                .map(|(level, row)| format!("`{level}` (first in row {})", row + 1))
                .collect();
            let more = if self.unseen.len() > MOST_LISTED {
                ", ..."
            } else {
                ""
            };
            warnings.push(format!(
                "column `{name}`: the model does not know {}{more}; {} cells count as missing",
                listed.join(", "),
                self.unseen_cells
            ));
        }
        if in_training && self.smallest == self.largest {
            warnings.push(format!(
                "column `{name}` has the same value in every row; nothing can be learnt from it"
            ));
        }
        warnings
    }

    /// The summary of the column, for display.
    pub(crate) fn report(&self, column: &Column, why: String, rows: usize) -> ColumnReport {
        let known = rows - self.missing;
        ColumnReport {
            name: column.name.clone(),
            kind: column.kind.name(),
            why,
            missing: self.missing as f64 / rows.max(1) as f64,
            range: match &column.kind {
                ColumnKind::Category(levels) => {
                    let more = if levels.len() > MOST_LISTED {
                        ", ..."
                    } else {
                        ""
                    };
                    let listed = levels.iter().take(MOST_LISTED).cloned().collect::<Vec<_>>();
                    format!("{} levels: {}{more}", levels.len(), listed.join(", "))
                }
                ColumnKind::Flag => {
                    let ones = self.ones as f32 / known.max(1) as f32;
                    format!("{:.0}% are 1", 100.0 * ones)
                }
                ColumnKind::Number | ColumnKind::Count if known == 0 => String::new(),
                ColumnKind::Number | ColumnKind::Count => {
                    let cell = |value| column.cell(value);
                    format!("{} to {}", cell(self.smallest), cell(self.largest))
                }
            },
        }
    }
}
