//! The roles and kinds of the columns of a table: labels, ids and features.

use crate::column_kinds::{Understood, understand};
use crate::column_values::ColumnCells;
use crate::label_cells::{LabelCells, rare_classes};
use crate::reader::name_of;
use crate::table_roles::Roles;
use crate::table_values::measure_values;
use crate::{
    Column, DataError, Dataset, Ids, KindName, Labels, Layout, MEMORY_BUDGET, MissingValues,
    RawColumn, RawTable, Result,
};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// At most this many rows, values or names are listed in a message.
pub(crate) const MOST_LISTED: usize = 5;

/// What is to be learned from the label column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Task {
    /// Labels are classes.
    Classify,
    /// Labels are numbers.
    Regress,
}

/// The task chosen for the labels of a table, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenTask {
    /// The task.
    pub task: Task,
    /// Why it was chosen, in words.
    pub why: String,
}

impl ChosenTask {
    pub(crate) fn new(task: Task, why: &str) -> ChosenTask {
        let why = why.into();
        ChosenTask { task, why }
    }
}

/// What the caller declares about the columns of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableOptions {
    /// The label column; several for a continuous label of several dimensions;
    /// none for a table without labels.
    pub labels: Vec<String>,
    /// What the labels are. When not given it is guessed: numbers that hardly
    /// repeat are a regression, anything else classes. See [`Table::task`].
    pub task: Option<Task>,
    /// The offsets of continuous labels ([`Labels::offsets`]), such as a trained model's. When not
    /// given, they are found in the data; where `features` are given, there are none.
    pub label_offsets: Option<Vec<f64>>,
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
    pub kinds: Vec<(String, KindName)>,
    /// Values of features that mean "missing", next to blank, NA, N/A, NaN, null and `?`.
    pub missing: Vec<String>,
    /// Above this many bytes of values, values that the reader left in a file stay there.
    pub memory_budget: u64,
}

impl Default for TableOptions {
    fn default() -> TableOptions {
        TableOptions {
            labels: Vec::new(),
            task: None,
            label_offsets: None,
            unlabelled_value: None,
            ignore: Vec::new(),
            id: None,
            features: None,
            kinds: Vec::new(),
            missing: Vec::new(),
            memory_budget: MEMORY_BUDGET,
        }
    }
}

/// A table with the roles and kinds of its columns.
#[derive(Clone, Debug)]
pub struct Table {
    /// The rows.
    pub data: Dataset,
    /// The kind of each feature column with its reason, for display.
    pub columns: Vec<ColumnReport>,
    /// What is learnt from the labels and why, for display; `None` for a table without labels.
    /// Numbers are regressed where they hardly repeat: fractions with more than 20 distinct values
    /// or more than half as many as rows; whole numbers with more than 20 distinct values and fewer
    /// than 3 rows a value (2 where they run from 0 or 1 without a gap, 10 where they are far
    /// apart: less than half of the numbers between them occur).
    pub task: Option<ChosenTask>,
    /// Warnings for the user; each a sentence.
    pub warnings: Vec<String>,
}

/// A summary of a column, for display.
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
    /// Assigns roles and kinds to the columns of a table: as the options say, and by a guess where
    /// they say nothing. A column is guessed to be
    ///
    /// - a flag, where it holds only true/false, or only 0 and 1;
    /// - a category, where it holds text that repeats (at most 50 levels);
    /// - a count, where it holds whole numbers that cannot well be anything else: never negative,
    ///   the largest above 20, the variance more than twice the mean, skewed, and 1 by far the
    ///   most frequent value after 0;
    /// - a number, where it holds any other numbers, or dates or times, which count days or
    ///   seconds. When in doubt, it is a number.
    ///
    /// Text that hardly repeats is left out with a warning.
    pub fn new(raw: &RawTable, options: &TableOptions) -> Result<Table> {
        // A model may be asked about zero rows, but cannot be trained on them.
        if raw.rows == 0 && options.features.is_none() {
            let problem = "the table has a header, but no rows";
            return Err(DataError::content(&raw.path, problem));
        }
        let roles = Roles::new(raw, options)?;
        let missing = MissingValues::new(&options.missing);
        let cells = roles.features.iter().map(|column| ColumnCells {
            path: &raw.path,
            raw: column,
            missing: &missing,
            of_model: options.features.is_some(),
        });
        let mut warnings = Vec::new();
        let columns = match &options.features {
            Some(known) => of_model(cells, known),
            None => understand(cells.collect(), raw.rows, options, &mut warnings)?,
        };
        if columns.is_empty() {
            let problem = format!(
                "no column is left for the features: {}",
                warnings.join("; ")
            );
            return Err(DataError::content(&raw.path, problem));
        }
        let values = measure_values(raw.rows, &columns, options.memory_budget)?;
        for (understood, stats) in columns.iter().zip(&values.stats) {
            warnings.extend(stats.warnings(&understood.column, options.features.is_none()));
        }
        match (values.empty_rows(raw.rows), &options.features) {
            (None, _) => {}
            // When a model is asked about many rows, a few empty ones are only worth a warning.
            (Some(problem), Some(_)) => warnings.push(problem),
            (Some(problem), None) => {
                return Err(DataError::content(&raw.path, problem + "; remove them"));
            }
        }
        let (labels, task) = match roles.labels.is_empty() {
            true => (Labels::None, None),
            false => {
                let cells = LabelCells::new(options, &roles.labels, raw.rows);
                let (labels, task) = cells.labels(&raw.path)?;
                (labels, Some(task))
            }
        };
        warnings.extend(rare_classes(&labels));
        let (layout, reports) = columns
            .into_iter()
            .zip(&values.stats)
            .map(|(understood, stats)| {
                let report = stats.report(&understood.column, understood.why, raw.rows);
                (understood.column, report)
            })
            .unzip();
        let layout = Layout::Columns(layout);
        let mut data = Dataset::new(name_of(&raw.path), values.features, layout, labels)?;
        data.ids = roles.id.map(|column| ids(raw, column)).transpose()?;
        Ok(Table {
            data,
            columns: reports,
            task,
            warnings,
        })
    }
}

/// Columns whose kinds come from a model.
fn of_model<'a>(
    cells: impl Iterator<Item = ColumnCells<'a>>,
    known: &[Column],
) -> Vec<Understood<'a>> {
    let understood = |(cells, column): (_, &Column)| Understood {
        cells,
        column: column.clone(),
        why: "as in the model".into(),
    };
    cells.zip(known).map(understood).collect()
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
