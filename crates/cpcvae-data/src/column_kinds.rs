//! The kinds of a table's columns: declared, or guessed from their cells.

use crate::cell::Cell;
use crate::column_guess::{FirstGuess, MOST_TEXTS, NoGuess, Seen};
use crate::column_values::ColumnCells;
use crate::count_test::CountTest;
use crate::features::blocks;
use crate::{Column, ColumnKind, KindName, Result, TableOptions};
use std::collections::BTreeSet;

/// A column that is understood, and why it is what it is.
pub(crate) struct Understood<'a> {
    pub(crate) cells: ColumnCells<'a>,
    pub(crate) column: Column,
    pub(crate) why: String,
}

/// What a second pass over the cells of a column is for.
enum Question {
    Levels(BTreeSet<String>),
    Counts(CountTest),
    None,
}

/// The columns with their kinds, those without any value left out with a warning.
pub(crate) fn understand<'a>(
    columns: Vec<ColumnCells<'a>>,
    rows: usize,
    options: &TableOptions,
    warnings: &mut Vec<String>,
) -> Result<Vec<Understood<'a>>> {
    let mut seen = vec![Seen::default(); columns.len()];
    each_cell(&columns, rows, |place, row, cell| {
        seen[place].see(row, cell)
    });
    let mut kinds = Vec::new();
    let mut questions = Vec::new();
    let mut kept = Vec::new();
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
                return Err(cells.bad_cell(row, "is text among numbers", &ColumnKind::Number));
            }
            (None, Err(NoGuess::FreeText(levels))) => {
                let more = if levels == MOST_TEXTS { " or more" } else { "" };
                return Err(cells.bad_column(&format!(
                    "it holds {levels}{more} different texts in {rows} rows, too many for a \
                     category (if it is one, declare it in `data.columns`)",
                )));
            }
        };
        questions.push(match kind.0 {
            KindName::Category => Question::Levels(BTreeSet::new()),
            _ => question,
        });
        kinds.push(kind);
        kept.push(cells);
    }
    answer(&kept, rows, &mut questions);
    let answered = kept.into_iter().zip(kinds).zip(questions);
    answered
        .map(|((cells, (kind, why)), question)| {
            let (kind, why, levels) = match question {
                Question::None => (kind, why, BTreeSet::new()),
                Question::Levels(levels) => (kind, why, levels),
                Question::Counts(test) => {
                    let guess = test.guess();
                    (guess.kind, guess.why, BTreeSet::new())
                }
            };
            let column = cells.column(kind, levels)?;
            Ok(Understood { cells, column, why })
        })
        .collect()
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
            Question::Counts(test) => test.see(cell),
            Question::Levels(levels) if cell != Cell::Missing && levels.len() < MOST_TEXTS => {
                levels.insert(columns[place].raw.level(row));
            }
            Question::Levels(_) | Question::None => {}
        }
    });
}

/// Calls `see` with the place of a column, a row and its cell, for all cells: a block of rows
/// after the other, since in large files a row's cells lie side by side.
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
