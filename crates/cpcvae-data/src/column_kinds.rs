//! The kinds of a table's columns: declared, or guessed from their cells.

use crate::cell::Cell;
use crate::column_guess::{FirstGuess, MOST_TEXTS, NoGuess, Seen};
use crate::column_values::ColumnCells;
use crate::count_test::CountTest;
use crate::features::blocks;
use crate::{Column, DataError, KindName, Result, TableOptions, TimeUnit};
use std::collections::BTreeSet;

/// A column with its kind and the reason for it.
pub(crate) struct Understood<'a> {
    pub(crate) cells: ColumnCells<'a>,
    pub(crate) column: Column,
    pub(crate) why: String,
}

/// The reason for a second pass over the cells of a column.
enum Question {
    Levels(BTreeSet<String>),
    Counts(CountTest),
    None,
}

/// The columns with their kinds. Columns without any value and columns of text that hardly repeats
/// are left out with a warning. All columns that cannot be used are reported at once.
pub(crate) fn understand<'a>(
    columns: Vec<ColumnCells<'a>>,
    rows: usize,
    options: &TableOptions,
    warnings: &mut Vec<String>,
) -> Result<Vec<Understood<'a>>> {
    let mut seen = vec![Seen::default(); columns.len()];
    each_cell(&columns, rows, |place, row, cell| {
        seen[place].add(row, cell)
    });
    let mut kinds = Vec::new();
    let mut questions = Vec::new();
    let (mut kept, mut seen_of_kept) = (Vec::new(), Vec::new());
    let mut errors = Vec::new();
    let path = columns.first().map(|cells| cells.path);
    for (cells, seen) in columns.into_iter().zip(seen) {
        let name = &cells.raw.name;
        let declared = options.kinds.iter().find(|(column, _)| column == name);
        let (kind, question) = match (declared, seen.guess()) {
            (_, Err(NoGuess::Empty)) => {
                warnings.push(format!("column `{name}` has no values and is left out"));
                continue;
            }
            (Some((_, kind)), _) => ((*kind, "as declared".to_string()), Question::None),
            (None, Ok(FirstGuess::Sure(guess))) => ((guess.kind, guess.why), Question::None),
            (None, Ok(FirstGuess::PerhapsCounts(test))) => {
                ((KindName::Number, String::new()), Question::Counts(test))
            }
            (None, Err(NoGuess::Mixed(row))) => {
                let column = Column::number(name);
                errors.push(cells.bad_cell(row, "is text among numbers", &column));
                continue;
            }
            (None, Err(NoGuess::MixedDates(row))) => {
                let mut column = Column::number(name);
                column.time = Some(TimeUnit::Days);
                errors.push(cells.bad_cell(
                    row,
                    "is not a date, but most of the column's cells are",
                    &column,
                ));
                continue;
            }
            (None, Err(NoGuess::FreeText(levels))) => {
                let more = if levels == MOST_TEXTS { " or more" } else { "" };
                warnings.push(format!(
                    "column `{name}` holds {levels}{more} different texts in {rows} rows, too many \
                     for a category, and is left out (name rows by it in `data.id`, declare it a \
                     category in `data.columns`, or leave it out in silence in `data.ignore`)",
                ));
                continue;
            }
        };
        questions.push(match kind.0 {
            KindName::Category => Question::Levels(BTreeSet::new()),
            _ => question,
        });
        kinds.push(kind);
        kept.push(cells);
        seen_of_kept.push(seen);
    }
    answer(&kept, rows, &mut questions);
    let answered = kept.into_iter().zip(kinds).zip(questions).zip(seen_of_kept);
    let mut understood = Vec::new();
    for (((cells, (kind, why)), question), seen) in answered {
        let (kind, why, levels) = match question {
            Question::None => (kind, why, BTreeSet::new()),
            Question::Levels(levels) => (kind, why, levels),
            Question::Counts(test) => {
                let guess = test.guess();
                (guess.kind, guess.why, BTreeSet::new())
            }
        };
        match cells.column(kind, levels) {
            Ok(column) => understood.push(Understood {
                column: seen.describe(column),
                cells,
                why,
            }),
            Err(error) => errors.push(error),
        }
    }
    match path.and_then(|path| DataError::of_columns(path, errors)) {
        Some(error) => Err(error),
        None => Ok(understood),
    }
}

/// The second pass, over those columns that need it.
fn answer(columns: &[ColumnCells], rows: usize, questions: &mut [Question]) {
    let asked = columns.iter().zip(questions);
    let (columns, mut questions): (Vec<ColumnCells>, Vec<&mut Question>) = asked
        .filter(|(_, question)| !matches!(question, Question::None))
        .map(|(column, question)| (*column, question))
        .unzip();
    each_cell(&columns, rows, |place, row, cell| {
        match &mut *questions[place] {
            Question::Counts(test) => test.add(cell),
            Question::Levels(levels) if cell != Cell::Missing && levels.len() < MOST_TEXTS => {
                levels.insert(columns[place].raw.level(row));
            }
            Question::Levels(_) | Question::None => {}
        }
    });
}

/// Calls `see` with the number of a column, a row and its cell, for all cells, block of rows by
/// block of rows: in large files a row's cells are adjacent.
fn each_cell<'a>(
    columns: &[ColumnCells<'a>],
    rows: usize,
    mut see: impl FnMut(usize, usize, Cell<'a>),
) {
    if columns.is_empty() {
        return;
    }
    for block in blocks(rows, columns.len()) {
        for (place, column) in columns.iter().enumerate() {
            for row in block.clone() {
                see(place, row, column.cell(row));
            }
        }
    }
}
