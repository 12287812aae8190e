//! The task for a label column: classes or numbers, and why.

use cpcvae_data::{Cells, Labels, RawColumn, RawTable, Table, TableOptions, Task};

fn with_labels(labels: Vec<String>, options: TableOptions) -> Table {
    let rows = labels.len();
    let column = |name: &str, cells: Vec<String>| RawColumn {
        name: name.into(),
        cells: Cells::Texts(cells),
    };
    let x = (0..rows).map(|row| format!("{}.5", row % 7)).collect();
    let raw = RawTable {
        path: "t.csv".into(),
        columns: vec![column("x", x), column("y", labels)],
        beside: Vec::new(),
        rows,
    };
    let options = TableOptions {
        labels: vec!["y".into()],
        ..options
    };
    Table::new(&raw, &options).unwrap()
}

fn task_of(labels: impl Iterator<Item = String>) -> (Task, String) {
    let table = with_labels(labels.collect(), TableOptions::default());
    let chosen = table.task.expect("there are labels");
    let as_found = match table.data.labels {
        Labels::Classes { .. } => Task::Classify,
        Labels::Values { .. } => Task::Regress,
        Labels::None => panic!("there are labels"),
    };
    assert_eq!(chosen.task, as_found);
    (chosen.task, chosen.why)
}

fn whole(rows: usize, value: impl Fn(usize) -> usize) -> (Task, String) {
    task_of((0..rows).map(|row| value(row).to_string()))
}

#[test]
fn whole_numbers_that_hardly_repeat_are_regressed() {
    // 124 prices in 300 rows; and in 1,000 rows, where they are far apart.
    let (task, why) = whole(300, |row| 100 + 37 * (row % 124));
    assert_eq!(task, Task::Regress);
    assert!(
        why.contains("124 different") && why.contains("300"),
        "{why}"
    );
    assert_eq!(whole(1000, |row| 100 + 37 * (row % 124)).0, Task::Regress);
    assert_eq!(whole(60, |row| row).0, Task::Regress);
}

#[test]
fn codes_that_repeat_stay_classes() {
    assert_eq!(whole(30, |row| row % 10).0, Task::Classify);
    let (task, why) = whole(260, |row| 1 + row % 26);
    assert_eq!(task, Task::Classify);
    assert!(why.contains("26 different"), "{why}");
    // Two labels of each of 40 people, numbered without a gap.
    assert_eq!(whole(80, |row| row % 40).0, Task::Classify);
    assert_eq!(whole(900, |row| 1950 + row % 70).0, Task::Classify);
    // Article numbers are far apart, but repeat.
    assert_eq!(whole(900, |row| 1000 + 83 * (row % 30)).0, Task::Classify);
    let (task, why) = task_of(["cat", "dog", ""].map(String::from).into_iter());
    assert_eq!((task, why.contains("text")), (Task::Classify, true));
}

/// In 32 bits these are 10 whole numbers.
#[test]
fn a_fraction_that_32_bits_drop_is_still_a_fraction() {
    let (task, why) = task_of((0..300).map(|row| format!("{}.25", 100_000_000 + row % 50)));
    assert_eq!(task, Task::Regress, "{why}");
}

#[test]
fn what_was_asked_for_is_not_guessed() {
    let options = TableOptions {
        task: Some(Task::Classify),
        ..TableOptions::default()
    };
    let labels = (0..60).map(|row| row.to_string()).collect();
    let table = with_labels(labels, options);
    assert_eq!(table.data.class_names().len(), 60);
    assert_eq!(table.task.unwrap().why, "as asked for");
}
