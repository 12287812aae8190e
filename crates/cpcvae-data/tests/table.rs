//! How the columns of a table are interpreted, and what is refused.

use cpcvae_data::{
    Cells, Column, ColumnKind, KindName, Layout, RawColumn, RawTable, Table, TableOptions,
};

/// A table of text cells; the first line names the columns.
fn raw(text: &str) -> RawTable {
    let mut lines = text.lines();
    let names = lines.next().unwrap_or_default().split(',');
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    let column = |(place, name): (usize, &str)| RawColumn {
        name: name.into(),
        cells: Cells::Texts(rows.iter().map(|row| row[place].into()).collect()),
    };
    RawTable {
        path: "t.csv".into(),
        columns: names.enumerate().map(column).collect(),
        beside: Vec::new(),
        rows: rows.len(),
    }
}

fn declared(kinds: &[(&str, KindName)]) -> TableOptions {
    TableOptions {
        kinds: kinds
            .iter()
            .map(|(name, kind)| (name.to_string(), *kind))
            .collect(),
        ..TableOptions::default()
    }
}

fn refused(text: &str, options: &TableOptions) -> String {
    Table::new(&raw(text), options).unwrap_err().to_string()
}

fn columns(table: &Table) -> &[Column] {
    match &table.data.layout {
        Layout::Columns(columns) => columns,
        Layout::Image { .. } => panic!("a table has columns"),
    }
}

fn levels(names: &[&str]) -> ColumnKind {
    ColumnKind::Category(names.iter().map(|name| name.to_string()).collect())
}

const PEOPLE: &str = "age,smoker,town,visits\n31,true,Rome,0\n?,FALSE,Oslo,2\n45.5,,Rome,NA\n";

#[test]
fn kinds_are_guessed_and_missing_cells_are_nan() {
    let table = Table::new(&raw(PEOPLE), &TableOptions::default()).unwrap();
    let kinds: Vec<&ColumnKind> = columns(&table).iter().map(|column| &column.kind).collect();
    let number = &ColumnKind::Number;
    assert_eq!(
        kinds,
        [
            number,
            &ColumnKind::Flag,
            &levels(&["Oslo", "Rome"]),
            number
        ]
    );
    let values = &table.data.features.matrix().values;
    assert_eq!((values[0], values[1], values[2]), (31.0, 1.0, 1.0));
    assert!(values[4].is_nan() && values[9].is_nan() && values[11].is_nan());
    assert_eq!(values[6], 0.0);
    let report = &table.columns[2];
    assert_eq!(
        (report.kind, report.range.as_str()),
        ("category", "2 levels: Oslo, Rome")
    );
    assert!((table.columns[0].missing - 1.0 / 3.0).abs() < 1e-9);
    assert!(table.warnings.is_empty(), "{:?}", table.warnings);
}

#[test]
fn what_is_declared_is_not_guessed() {
    let options = declared(&[
        ("age", KindName::Category),
        ("visits", KindName::Count),
        ("smoker", KindName::Ignore),
    ]);
    let table = Table::new(&raw(PEOPLE), &options).unwrap();
    assert_eq!(columns(&table)[0].kind, levels(&["31", "45.5"]));
    assert_eq!(columns(&table)[2].kind, ColumnKind::Count);
    assert_eq!(columns(&table).len(), 3);
    let message = refused(PEOPLE, &declared(&[("vists", KindName::Count)]));
    assert!(
        message.contains("no declared column `vists`; the columns are: age"),
        "{message}"
    );
    let message = refused(PEOPLE, &declared(&[("age", KindName::Count)]));
    assert!(
        message.contains("row 3, column `age`: `45.5` is not a count"),
        "{message}"
    );
    let message = refused(PEOPLE, &declared(&[("town", KindName::Flag)]));
    assert!(
        message.contains("row 1, column `town`: `Rome` is not a number"),
        "{message}"
    );
}

#[test]
fn whole_numbers_as_levels_keep_their_order_and_their_zeros() {
    let codes = "code\n10\n9\n02\n9.0\n";
    let table = Table::new(&raw(codes), &declared(&[("code", KindName::Category)])).unwrap();
    assert_eq!(columns(&table)[0].kind, levels(&["02", "9", "10"]));
    assert_eq!(table.data.features.matrix().values, [2.0, 1.0, 0.0, 1.0]);
}

#[test]
fn text_among_numbers_is_named_and_can_be_called_missing() {
    let table = "x\n1\n2\nbroken\n";
    let message = refused(table, &TableOptions::default());
    for part in [
        "t.csv, row 3, column `x`: `broken` is text among numbers",
        "`data.missing`",
        "`data.columns`",
        "`data.ignore`",
    ] {
        assert!(message.contains(part), "{message}");
    }
    let options = TableOptions {
        missing: vec!["broken".into(), "2.0".into()],
        ..TableOptions::default()
    };
    let message = refused(table, &options);
    assert!(message.contains("2 of 3 rows have no value"), "{message}");
    let two = "x,z\n1,1\n2,1\nbroken,3\n";
    let values = Table::new(&raw(two), &options)
        .unwrap()
        .data
        .features
        .matrix()
        .values;
    assert!(values[2].is_nan() && values[4].is_nan() && values[0] == 1.0);
}

#[test]
fn ids_and_free_text_are_no_categories() {
    let mut text = String::from("name,x\n");
    for row in 0..40 {
        text += &format!("n{row},{row}\n");
    }
    let table = Table::new(&raw(&text), &TableOptions::default()).unwrap();
    assert_eq!((table.data.width(), table.warnings.len()), (1, 1));
    let warning = &table.warnings[0];
    for part in [
        "column `name` holds 40 different texts in 40 rows",
        "is left out",
        "`data.ignore`",
        "`data.id`",
        "`data.columns`",
    ] {
        assert!(warning.contains(part), "{warning}");
    }
    let only_text: String = text
        .lines()
        .map(|line| line.split(',').next().unwrap().to_owned() + "\n")
        .collect();
    let message = refused(&only_text, &TableOptions::default());
    assert!(
        message.contains("no column is left for the features: column `name` holds 40"),
        "{message}"
    );
    let options = TableOptions {
        id: Some("name".into()),
        ..TableOptions::default()
    };
    let data = Table::new(&raw(&text), &options).unwrap().data;
    assert_eq!(data.width(), 1);
    assert_eq!(data.ids.unwrap().of_row[39], "n39");
    let message = refused(&text.replace("n7,", "n3,"), &options);
    assert!(
        message.contains("row 8, id column `name`: `n3` names row 4 too"),
        "{message}"
    );
    let message = refused(&text.replace("n7,", ","), &options);
    assert!(
        message.contains("row 8, id column `name`: the row has no id"),
        "{message}"
    );
}

#[test]
fn all_bad_columns_are_told_at_once() {
    // Text among numbers, and a number that is infinite.
    let message = refused(
        "a,b,c\n1,1,x\n2,2,y\nbad,3,x\n4,oops,y\n",
        &TableOptions::default(),
    );
    assert!(
        message.starts_with("t.csv: 2 columns cannot be used as they are:\n  row 3, column `a`:"),
        "{message}"
    );
    assert!(
        message.contains("\n  row 4, column `b`: `oops` is text among numbers"),
        "{message}"
    );
    let counts = declared(&[("a", KindName::Count), ("c", KindName::Flag)]);
    let message = refused("a,b,c\n1,1,1\n-2,inf,7\n-3,1,8\n", &counts);
    for part in [
        "3 columns cannot",
        "\n  row 2, column `a`: `-2` is not a count",
        "\n  row 2, column `b`: `inf` is not a finite number",
        "\n  row 2, column `c`: `7` is not a flag",
    ] {
        assert!(message.contains(part), "{message}");
    }
    assert!(
        !message.contains("row 3"),
        "the first of each column: {message}"
    );
}

#[test]
fn a_models_columns_are_read_as_the_model_knows_them() {
    let model = vec![
        Column::new("town", levels(&["Bern", "Rome"])),
        Column::new("visits", ColumnKind::Count),
    ];
    let options = TableOptions {
        features: Some(model.clone()),
        ..TableOptions::default()
    };
    let table = Table::new(&raw(PEOPLE), &options).unwrap();
    assert_eq!(columns(&table), model);
    assert!(
        table.data.features.matrix().values[2].is_nan(),
        "Oslo is not known"
    );
    assert_eq!(table.data.features.matrix().values[0], 1.0);
    assert_eq!(
        table.warnings,
        [
            "column `town`: the model does not know `Oslo` (first in row 2); 1 cells count as missing"
        ]
    );
    let message = refused("town,age\nRome,1\n", &options);
    assert!(
        message.contains("no feature column `visits`; the columns are: town, age"),
        "{message}"
    );
}

#[test]
fn columns_that_tell_nothing_are_said() {
    let options = TableOptions {
        labels: vec!["y".into()],
        ..TableOptions::default()
    };
    let table = Table::new(&raw("a,b,c,y\n1,,x,u\n2,NA,x,u\n3,,x,v\n"), &options).unwrap();
    let names: Vec<&str> = columns(&table)
        .iter()
        .map(|column| column.name.as_str())
        .collect();
    assert_eq!(names, ["a", "c"]);
    assert_eq!(
        table.warnings,
        [
            "column `b` has no values and is left out",
            "column `c` has the same value in every row; nothing can be learnt from it",
            "only one row has the label `v`: too few to learn from and to test on",
        ]
    );
}

#[test]
fn columns_beside_are_features_only_when_asked_for() {
    let mut table = raw("x\n1\n2\n3\n");
    table.beside = vec![
        RawColumn {
            name: "batch".into(),
            cells: Cells::Flags(vec![Some(true), Some(false), None]),
        },
        RawColumn {
            name: "depth".into(),
            cells: Cells::Numbers(vec![4.0, f64::NAN, 6.0]),
        },
    ];
    let plain = Table::new(&table, &TableOptions::default()).unwrap();
    assert_eq!(plain.data.width(), 1);
    let asked = Table::new(&table, &declared(&[("batch", KindName::Flag)])).unwrap();
    assert_eq!(
        asked.data.features.matrix().values[..4],
        [1.0, 1.0, 2.0, 0.0]
    );
    let labelled = TableOptions {
        labels: vec!["depth".into()],
        ..TableOptions::default()
    };
    let labelled = Table::new(&table, &labelled).unwrap();
    assert_eq!(labelled.data.class_names(), ["4", "6"]);
    assert_eq!(labelled.data.labelled_rows(), [0, 2]);
}
