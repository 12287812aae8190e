//! Which columns of a table look like labels, and which one names the rows.

use crate::{MissingValues, RawColumn, RawTable};
use std::collections::HashSet;

/// Names that label columns often have.
const LABEL_NAMES: [&str; 16] = [
    "class",
    "label",
    "labels",
    "target",
    "y",
    "species",
    "category",
    "diagnosis",
    "outcome",
    "kind",
    "type",
    "cell_type",
    "celltype",
    "group",
    "response",
    "status",
];
/// Names that columns of ids often have, and how they end.
const ID_NAMES: [&str; 9] = [
    "id",
    "uuid",
    "guid",
    "key",
    "index",
    "identifier",
    "barcode",
    "name",
    "unnamed: 0",
];
const ID_ENDINGS: [&str; 4] = ["_id", " id", "-id", ".id"];
/// A column of classes has at most this many different values.
const MOST_CLASSES: usize = 100;
/// Rows that are looked at.
const ROWS: usize = 20_000;
/// Columns that are named.
const LISTED: usize = 3;

/// The columns that look most like labels, each with the reasons, the likeliest first.
pub(crate) fn likely_labels(raw: &RawTable) -> Vec<String> {
    let missing = MissingValues::new(&[]);
    let all = raw.columns.iter().chain(&raw.beside);
    let columns = raw.columns.len();
    let mut found: Vec<(i32, String)> = Vec::new();
    for (place, column) in all.enumerate() {
        let is_named = is_one_of(&column.name, &LABEL_NAMES);
        let Some(sample) = ColumnSample::at(column, raw.rows, &missing) else {
            continue;
        };
        let is_blank = sample.blank >= 0.2 && sample.blank < 1.0;
        let is_few =
            (2..=MOST_CLASSES).contains(&sample.values) && 2 * sample.values <= sample.known;
        // The name alone is not enough if the column has no values.
        if sample.values < 2 || !(is_named || is_few && (is_blank || sample.is_text)) {
            continue;
        }
        let is_outermost = place == 0 || place + 1 == columns;
        let score = 4 * i32::from(is_named)
            + 2 * i32::from(is_blank && is_few)
            + i32::from(is_few)
            + i32::from(sample.is_text)
            + i32::from(is_outermost);
        let blank = match sample.blank {
            0.0 => String::new(),
            share => format!(", {:.0}% of the rows blank", 100.0 * share),
        };
        let values = match sample.values > MOST_CLASSES {
            true => "many values".into(),
            false => format!("{} values", sample.values),
        };
        found.push((score, format!("`{}` ({values}{blank})", column.name)));
    }
    found.sort_by_key(|(score, _)| -score);
    let names = found.into_iter().take(LISTED);
    names.map(|(_, text)| text).collect()
}

/// The column that names the rows, by its own name and because all of its cells are distinct;
/// `None` where there is none. `taken` are columns with another role.
pub(crate) fn likely_id<'a>(raw: &'a RawTable, taken: &[String]) -> Option<&'a str> {
    let missing = MissingValues::new(&[]);
    let is_free = |column: &&RawColumn| !taken.contains(&column.name);
    let is_named = |column: &&RawColumn| {
        let name = column.name.trim().to_lowercase();
        is_one_of(&name, &ID_NAMES) || ID_ENDINGS.iter().any(|ending| name.ends_with(ending))
    };
    let mut named = raw.columns.iter().filter(is_free).filter(is_named);
    named
        .find(|column| {
            let mut seen = HashSet::with_capacity(raw.rows);
            (0..raw.rows).all(|row| {
                let text = column.text(row);
                // Measurements have a fraction, row numbers do not.
                let is_name = !(text.contains('.') && text.parse::<f64>().is_ok());
                is_name && !column.is_missing(row, &missing) && seen.insert(text)
            })
        })
        .filter(|_| raw.rows > 1)
        .map(|column| column.name.as_str())
}

fn is_one_of(name: &str, names: &[&str]) -> bool {
    let name = name.trim().to_lowercase();
    names.contains(&name.as_str())
}

/// What the first cells of a column look like.
struct ColumnSample {
    /// Different values, counted up to one more than [`MOST_CLASSES`].
    values: usize,
    /// Cells that are not blank.
    known: usize,
    /// Share of blank cells.
    blank: f64,
    /// Whether a value is no number.
    is_text: bool,
}

impl ColumnSample {
    fn at(column: &RawColumn, rows: usize, missing: &MissingValues) -> Option<Self> {
        let rows = rows.min(ROWS);
        let mut values = HashSet::new();
        let (mut known, mut is_text) = (0, false);
        for row in (0..rows).filter(|row| !column.is_missing(*row, missing)) {
            known += 1;
            if values.len() <= MOST_CLASSES {
                let text = column.text(row);
                is_text |= text.parse::<f64>().is_err();
                values.insert(text);
            }
        }
        (rows > 0).then(|| Self {
            values: values.len(),
            known,
            blank: 1.0 - known as f64 / rows as f64,
            is_text,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Opened, ReadOptions, open_path};

    fn table(text: &str) -> RawTable {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.csv");
        std::fs::write(&path, text).unwrap();
        match open_path(&path, &ReadOptions::default()).unwrap() {
            Opened::Table(raw) => raw,
            other => panic!("a table: {other:?}"),
        }
    }

    #[test]
    fn labels_are_known_by_name_by_blanks_and_by_few_values() {
        let rows = (0..40).map(|i| {
            let grade = if i % 4 == 0 {
                ["a", "b"][i / 4 % 2]
            } else {
                ""
            };
            format!(
                "{}.5,{grade},{},{}\n",
                i,
                ["red", "blue"][i % 2],
                i * 7 % 40
            )
        });
        let text = format!("length,grade,colour,age\n{}", rows.collect::<String>());
        let found = likely_labels(&table(&text));
        assert_eq!(
            found,
            [
                "`grade` (2 values, 75% of the rows blank)",
                "`colour` (2 values)"
            ]
        );
        let named = text.replace("colour", "class");
        assert_eq!(likely_labels(&table(&named))[0], "`class` (2 values)");
    }

    #[test]
    fn a_table_of_measurements_has_no_likely_label() {
        let rows: String = (0..30).map(|i| format!("{}.25,{}.5\n", i, i * i)).collect();
        assert!(likely_labels(&table(&format!("a,b\n{rows}"))).is_empty());
    }

    #[test]
    fn ids_are_known_by_name_and_all_different() {
        let raw = table("patient_id,age,id\n7,30,1\n8,30,1\n9,41,2\n");
        assert_eq!(likely_id(&raw, &[]), Some("patient_id"));
        assert_eq!(
            likely_id(&raw, &["patient_id".into()]),
            None,
            "`id` repeats"
        );
        let measured = table("id,b\n0.5,1\n0.25,2\n");
        assert_eq!(likely_id(&measured, &[]), None, "fractions are measured");
    }
}
