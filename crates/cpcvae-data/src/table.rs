//! What the columns of a table mean: labels, ids, and features of a kind.

use crate::cell::cells;
use crate::column_guess::{NoGuess, guess};
use crate::column_values::ColumnCells;
use crate::label_cells::{LabelCells, rare_classes};
use crate::reader::name_of;
use crate::table_roles::Roles;
use crate::{
    Column, ColumnKind, DataError, Dataset, Ids, Kind, Labels, Layout, Matrix, RawColumn, RawTable,
    Result,
};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// So many rows, values or names are listed in a message.
pub(crate) const TOLD: usize = 5;

/// What is to be learned from the label column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Task {
    /// Labels are classes.
    Classify,
    /// Labels are numbers.
    Regress,
}

/// What is known about the columns of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TableOptions {
    /// The label column; several for a continuous label of several dimensions;
    /// none for a table without labels.
    pub labels: Vec<String>,
    /// What the labels are. When not given it is guessed: numbers that are not
    /// all whole and hardly repeat are a regression, anything else classes.
    pub task: Option<Task>,
    /// A label that means "not labelled", next to blank, NaN and NA. When it is
    /// not given, -1 means that too, unless labels are numbers to regress.
    pub unlabelled_value: Option<String>,
    /// Columns to leave out.
    pub ignore: Vec<String>,
    /// The column that names the rows: all different, not a feature.
    pub id: Option<String>,
    /// The feature columns, their order and kinds, such as a trained model's; columns not named
    /// are left out. When not given: all that are neither labels nor id nor ignored.
    pub features: Option<Vec<Column>>,
    /// Kinds of columns that are not to be guessed.
    pub kinds: Vec<(String, Kind)>,
    /// Values of features that mean "missing", next to blank, NA, N/A, NaN, null and `?`.
    pub missing: Vec<String>,
}

/// A table whose columns are understood.
#[derive(Clone, Debug)]
pub struct Table {
    /// The rows.
    pub data: Dataset,
    /// What was made of each feature column, to be shown.
    pub columns: Vec<ColumnReport>,
    /// What a user should know; each a sentence.
    pub warnings: Vec<String>,
}

/// What was made of a column.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnReport {
    /// Its name.
    pub name: String,
    /// Its kind's name.
    pub kind: &'static str,
    /// Why it is of that kind.
    pub why: String,
    /// Share of cells that are missing.
    pub missing: f64,
    /// Smallest and largest value, or the levels.
    pub range: String,
}

impl Table {
    /// Gives the columns of a table a meaning: as the options say, and by a guess where they say
    /// nothing. A column is guessed to be
    ///
    /// - a flag, where it holds only true/false, or only 0 and 1;
    /// - a category, where it holds text that repeats (at most 50 levels);
    /// - a count, where it holds whole numbers that cannot well be anything else: never negative,
    ///   the largest above 20, the variance more than twice the mean, skewed, and 1 by far the
    ///   most frequent value after 0;
    /// - a number, where it holds any other numbers. When in doubt, it is a number.
    pub fn new(raw: &RawTable, options: &TableOptions) -> Result<Table> {
        if raw.rows == 0 {
            let problem = "the table has a header, but no rows";
            return Err(DataError::content(&raw.path, problem));
        }
        let roles = Roles::new(raw, options)?;
        let mut columns = Columns::default();
        for (place, column) in roles.features.iter().enumerate() {
            let cells = ColumnCells {
                path: &raw.path,
                raw: column,
                of_model: options.features.is_some(),
                cells: cells(column, &options.missing),
            };
            match &options.features {
                Some(known) => columns.add(&cells, known[place].clone(), "as in the model")?,
                None => columns.add_unknown(&cells, options)?,
            }
        }
        let mut warnings = std::mem::take(&mut columns.warnings);
        if columns.columns.is_empty() {
            let problem = "no column is left for the features: all their cells are missing";
            return Err(DataError::content(&raw.path, problem));
        }
        let features = columns.matrix(raw.rows)?;
        match (empty_rows(&features), &options.features) {
            (None, _) => {}
            // Of many rows that a model is asked about, a few empty ones do no harm.
            (Some(problem), Some(_)) => warnings.push(problem),
            (Some(problem), None) => {
                return Err(DataError::content(&raw.path, problem + "; remove them"));
            }
        }
        let labels = match roles.labels.is_empty() {
            true => Labels::None,
            false => LabelCells::new(options, &roles.labels, raw.rows).into_labels(&raw.path)?,
        };
        warnings.extend(rare_classes(&labels));
        let layout = Layout::Columns(columns.columns);
        let mut data = Dataset::new(name_of(&raw.path), features, layout, labels)?;
        data.ids = roles.id.map(|column| ids(raw, column)).transpose()?;
        Ok(Table {
            data,
            columns: columns.reports,
            warnings,
        })
    }
}

/// Columns that are understood so far.
#[derive(Default)]
struct Columns {
    columns: Vec<Column>,
    values: Vec<Vec<f32>>,
    reports: Vec<ColumnReport>,
    warnings: Vec<String>,
}

impl Columns {
    /// A column whose kind is declared or guessed.
    fn add_unknown(&mut self, cells: &ColumnCells, options: &TableOptions) -> Result<()> {
        let name = &cells.raw.name;
        let declared = options.kinds.iter().find(|(column, _)| column == name);
        let guessed = guess(&cells.cells);
        let (kind, why) = match (declared, guessed) {
            (_, Err(NoGuess::Empty)) => {
                let warning = format!("column `{name}` has no values and is left out");
                self.warnings.push(warning);
                return Ok(());
            }
            (Some((_, kind)), _) => (*kind, "as declared".to_string()),
            (None, Ok(guess)) => (guess.kind, guess.why),
            (None, Err(NoGuess::Mixed(row))) => {
                return Err(cells.bad_cell(row, "is text among numbers", &ColumnKind::Number));
            }
            (None, Err(NoGuess::FreeText(levels))) => {
                return Err(cells.bad_column(&format!(
                    "it holds {levels} different texts in {} rows, too many for a category (if \
                     it is one: `--column {name}=category`)",
                    cells.cells.len()
                )));
            }
        };
        let column = cells.column(kind)?;
        self.add(cells, column, &why)?;
        let values = &self.values[self.values.len() - 1];
        let mut known = values.iter().filter(|value| !value.is_nan());
        let first = known.next();
        if known.all(|value| Some(value) == first) {
            self.warnings.push(format!(
                "column `{name}` has the same value in every row; nothing can be learnt from it"
            ));
        }
        Ok(())
    }

    fn add(&mut self, cells: &ColumnCells, column: Column, why: &str) -> Result<()> {
        let made = cells.values(&column)?;
        let rows: usize = made.unseen.values().map(|(_, times)| times).sum();
        if rows > 0 {
            let told = made.unseen.iter().take(TOLD);
            let told: Vec<String> = told
                .map(|(level, (row, _))| format!("`{level}` (first in row {})", row + 1))
                .collect();
            let more = if made.unseen.len() > TOLD {
                ", ..."
            } else {
                ""
            };
            self.warnings.push(format!(
                "column `{}`: the model does not know {}{more}; {rows} cells count as missing",
                column.name,
                told.join(", ")
            ));
        }
        let missing = made.values.iter().filter(|value| value.is_nan()).count();
        self.reports.push(ColumnReport {
            name: column.name.clone(),
            kind: column.kind.name(),
            why: why.into(),
            missing: missing as f64 / made.values.len().max(1) as f64,
            range: range(&column, &made.values),
        });
        self.columns.push(column);
        self.values.push(made.values);
        Ok(())
    }

    /// All values, row after row.
    fn matrix(&self, rows: usize) -> Result<Matrix> {
        let row = |row| self.values.iter().map(move |column| column[row]);
        Matrix::new(rows, self.values.len(), (0..rows).flat_map(row).collect())
    }
}

/// What to say of rows without any value, if there are such.
fn empty_rows(features: &Matrix) -> Option<String> {
    let is_empty = |row: &usize| features.row(*row).iter().all(|value| value.is_nan());
    let empty: Vec<String> = (0..features.rows)
        .filter(is_empty)
        .map(|row| (row + 1).to_string())
        .collect();
    let more = if empty.len() > TOLD { ", ..." } else { "" };
    (!empty.is_empty()).then(|| {
        format!(
            "{} of {} rows have no value in any feature column (rows {}{more})",
            empty.len(),
            features.rows,
            empty[..empty.len().min(TOLD)].join(", ")
        )
    })
}

fn range(column: &Column, values: &[f32]) -> String {
    let known = || values.iter().copied().filter(|value| !value.is_nan());
    match &column.kind {
        ColumnKind::Category(levels) => {
            let more = if levels.len() > TOLD { ", ..." } else { "" };
            let told = levels.iter().take(TOLD).cloned().collect::<Vec<_>>();
            format!("{} levels: {}{more}", levels.len(), told.join(", "))
        }
        ColumnKind::Flag => {
            let ones = known().sum::<f32>() / known().count().max(1) as f32;
            format!("{:.0}% are 1", 100.0 * ones)
        }
        ColumnKind::Number | ColumnKind::Count if known().next().is_none() => String::new(),
        ColumnKind::Number | ColumnKind::Count => format!(
            "{} to {}",
            known().fold(f32::INFINITY, f32::min),
            known().fold(f32::NEG_INFINITY, f32::max)
        ),
    }
}

fn ids(raw: &RawTable, column: &RawColumn) -> Result<Ids> {
    let of_row: Vec<String> = (0..raw.rows).map(|row| column.level(row)).collect();
    let wrong = |row: usize, problem: String| DataError::Table {
        path: raw.path.clone(),
        place: format!("row {}, id column `{}`", row + 1, column.name),
        problem,
    };
    let mut rows: HashMap<&str, usize> = HashMap::new();
    for (row, id) in of_row.iter().enumerate() {
        if id.is_empty() {
            return Err(wrong(row, "the row has no id; give it one".into()));
        }
        if let Some(first) = rows.insert(id, row) {
            let problem = format!(
                "`{id}` names row {} too; ids must differ: correct it, or name another column",
                first + 1
            );
            return Err(wrong(row, problem));
        }
    }
    Ok(Ids {
        name: column.name.clone(),
        of_row,
    })
}
