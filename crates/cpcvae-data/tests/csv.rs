//! Tables as users write them, good and bad.

use cpcvae_data::{
    Column, ColumnKind, Dataset, Labels, Layout, Opened, ReadOptions, Table, TableOptions, Task,
    open_path, read_csv,
};
use flate2::{Compression, write::GzEncoder};
use proptest::prelude::*;
use std::io::Write;

fn read_named(name: &str, content: &[u8], options: &TableOptions) -> Result<Dataset, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    let without_folder = |error: cpcvae_data::DataError| {
        error
            .to_string()
            .replace(&format!("{}/", folder.path().display()), "")
    };
    read_csv(&path, options).map_err(without_folder)
}

fn read(content: &str, options: &TableOptions) -> Result<Dataset, String> {
    read_named("table.csv", content.as_bytes(), options)
}

fn label(column: &str) -> TableOptions {
    TableOptions {
        labels: vec![column.into()],
        ..TableOptions::default()
    }
}

fn strings(list: &[&str]) -> Vec<String> {
    list.iter().map(|s| s.to_string()).collect()
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_table_with_gaps_in_its_labels() {
    let table =
        "age, member ,kind\n31,true,cat\n 2.5 ,False,\n-7e1,1,dog\n0,0,NA\n1,1,NaN\n1,1,-1\n";
    let data = read(table, &label("kind")).unwrap();
    assert_eq!(data.name, "table");
    let member = Column::new("member", ColumnKind::Flag);
    assert_eq!(data.layout, Layout::Columns(vec!["age".into(), member]));
    assert_eq!(
        data.features.matrix().values[..6],
        [31.0, 1.0, 2.5, 0.0, -70.0, 1.0]
    );
    assert_eq!(data.class_names(), ["cat", "dog"]);
    assert_eq!(data.labelled_rows(), [0, 2]);
    assert_eq!(data.labels.class_of(2), Some(1));
}

#[test]
fn whole_numbers_are_classes_in_numeric_order() {
    // Tools write 3 as 3.0 once a column has gaps.
    let data = read("x,y\n1,10\n1,3.0\n1,\n1,3\n1,-1.0\n1,2", &label("y")).unwrap();
    assert_eq!(data.class_names(), ["2", "3", "10"]);
    let classes: Vec<_> = (0..6).map(|row| data.labels.class_of(row)).collect();
    assert_eq!(classes, [Some(2), Some(1), None, Some(1), None, Some(0)]);
}

#[test]
fn a_named_value_replaces_minus_one() {
    let options = TableOptions {
        unlabelled_value: Some("?".into()),
        ..label("y")
    };
    let data = read("x,y\n1,-1\n2,?\n3,1\n", &options).unwrap();
    assert_eq!(data.class_names(), ["-1", "1"]);
    assert_eq!(data.labelled_rows(), [0, 2]);
    let options = TableOptions {
        unlabelled_value: Some("-99".into()),
        ..label("y")
    };
    assert_eq!(
        read("x,y\n1,-99.0\n2,4\n", &options)
            .unwrap()
            .labelled_rows(),
        [1]
    );
    // Without the name, one of the classes -1 and 1 would be lost silently.
    let message = read("x,y\n1,-1\n2,\n3,1\n", &label("y")).unwrap_err();
    assert!(message.contains("only `1` besides -1"), "{message}");
}

#[test]
fn numbers_that_hardly_repeat_are_values() {
    let data = read("x,y\n1,0.5\n2,-1\n3,\n4,2.25\n", &label("y")).unwrap();
    let of_row = vec![Some(vec![0.5]), Some(vec![-1.0]), None, Some(vec![2.25])];
    assert_eq!(
        data.labels,
        Labels::Values {
            names: strings(&["y"]),
            of_row,
            offsets: Vec::new(),
        }
    );

    let grades = "x,y\n1,1.5\n2,1.5\n3,2.5\n4,2.5\n5,1.5\n";
    assert_eq!(
        read(grades, &label("y")).unwrap().class_names(),
        ["1.5", "2.5"]
    );
    let regress = TableOptions {
        task: Some(Task::Regress),
        ..label("y")
    };
    assert_eq!(read(grades, &regress).unwrap().labels.dimensions(), 1);
    let message = read("x,y\n1,2\n2,high\n", &regress).unwrap_err();
    assert!(
        message.contains("row 2, label column `y`: `high` is not a finite number"),
        "{message}"
    );
}

#[test]
fn a_label_may_have_several_dimensions() {
    let options = TableOptions {
        labels: strings(&["v", "u"]),
        ..TableOptions::default()
    };
    let data = read("u,x,v\n1,5,2\n3,6,\n", &options).unwrap();
    assert_eq!(data.labels.values_of(0), Some(&[2.0, 1.0][..]));
    assert_eq!(
        data.labelled_rows(),
        [0],
        "a label with a gap does not count"
    );
    let classify = TableOptions {
        task: Some(Task::Classify),
        ..options
    };
    assert!(
        read("u,x,v\n1,5,2\n", &classify)
            .unwrap_err()
            .contains("a class is one column")
    );
}

#[test]
fn columns_are_matched_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new.tsv");
    std::fs::write(&path, "note\tb\ta\nhello\t2\t1\nyou\t4\t3\n").unwrap();
    let of_model = |names: &[&str]| TableOptions {
        features: Some(names.iter().copied().map(Column::from).collect()),
        ..TableOptions::default()
    };
    let data = read_csv(&path, &of_model(&["a", "b"])).unwrap();
    assert_eq!(data.features.matrix().values, [1.0, 2.0, 3.0, 4.0]);
    assert_eq!((data.labels, data.name.as_str()), (Labels::None, "new"));
    let message = read_csv(&path, &of_model(&["a", "c", "d"]))
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("no feature column `c`, `d`; the columns are: note, b, a"),
        "{message}"
    );
}

#[test]
fn among_many_columns_the_nearest_are_told() {
    let header: Vec<String> = (0..100)
        .map(|i| format!("gene {i}"))
        .chain(["cell type".into()])
        .collect();
    let cells = vec!["1"; 101].join(",");
    let message = read(
        &format!("{}\n{cells}\n", header.join(",")),
        &label("celltype"),
    )
    .unwrap_err();
    assert!(
        message.contains("the nearest of its 101 columns are: cell type"),
        "{message}"
    );
    assert!(message.len() < 300, "{message}");
}

#[test]
fn columns_may_be_ignored_and_the_delimiter_chosen() {
    let options = TableOptions {
        ignore: strings(&["id", ""]),
        ..TableOptions::default()
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    std::fs::write(&path, ";id;x\n0;one;1\n1;two;2\n").unwrap();
    let with_semicolons = ReadOptions {
        delimiter: Some(';'),
        ..ReadOptions::default()
    };
    let Opened::Table(raw) = open_path(&path, &with_semicolons).unwrap() else {
        panic!("a table");
    };
    let data = Table::new(&raw, &options).unwrap().data;
    assert_eq!(data.features.matrix().values, [1.0, 2.0]);
    let message = read(
        "a,b\n1,2\n",
        &TableOptions {
            ignore: strings(&["c"]),
            ..TableOptions::default()
        },
    )
    .unwrap_err();
    assert!(message.contains("no ignored column `c`"), "{message}");
}

#[test]
fn a_byte_order_mark_and_windows_lines_are_no_matter() {
    let data = read("\u{feff}a,b\r\n1,2\r\n", &TableOptions::default()).unwrap();
    let names = [0, 1].map(|column| data.layout.column_name(column));
    assert_eq!(names, ["a", "b"]);
}

#[test]
fn every_mistake_says_where_and_what() {
    let cases = [
        (
            "a,y\n1,0\n2,1\nx1,1\n",
            "row 3, column `a`: `x1` is text among numbers",
        ),
        (
            "a,y\n1,0\n,1\n",
            "1 of 2 rows have no value in any feature column (rows 2)",
        ),
        (
            "a,y\n1e99,0\n",
            "row 1, column `a`: `1e99` is not a finite number",
        ),
        (
            "a,y\n-2e30,0\n",
            "row 1, column `a`: `-2e30` is beyond 1e30",
        ),
        (
            "a,y\n1,0\n1,2,3\n",
            "table.csv, line 3: 3 cells where the header has 2",
        ),
        (
            "a,b\n1,0\n",
            "table.csv, header: there is no label column `y`; the columns are: a, b",
        ),
        ("a,a,y\n1,1,0\n", "two columns are named `a`"),
        ("1,2,3\n4,5,6\n", "the first line holds numbers only"),
        (",y\n1,0\n", "column 1 has no name"),
        ("y\n0\n", "no column is left for the features"),
        ("a,y\n", "the table has a header, but no rows"),
        ("", "the file is empty"),
    ];
    for (table, expected) in cases {
        let message = read(table, &label("y")).unwrap_err();
        assert!(message.contains(expected), "{table:?} gives: {message}");
    }
    let message = read_named("t.csv", b"a,y\n\xff\xfe,1\n", &label("y")).unwrap_err();
    assert!(
        message.contains("t.csv, line 2: not UTF-8 text"),
        "{message}"
    );
    let message = read(
        "a,y\n1,0\n",
        &TableOptions {
            features: Some(vec!["y".into()]),
            ..label("y")
        },
    )
    .unwrap_err();
    assert!(
        message.contains("cannot be a feature and the label"),
        "{message}"
    );
    let missing = read_csv("/nowhere/t.csv", &label("y"))
        .unwrap_err()
        .to_string();
    assert!(missing.contains("cannot open /nowhere/t.csv"), "{missing}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read_plain_or_gzip_and_a_cut_gzip_is_noticed(
        rows in prop::collection::vec((any::<f32>().prop_filter("within 1e30", |v| v.abs() < 1e30), prop::option::of(0u32..4)), 1..20),
        cut in 0.05f64..1.0,
    ) {
        let mut table = "x,class\n".to_string();
        for (value, class) in &rows {
            table += &format!("{value},{}\n", class.map_or(String::new(), |class| format!("c{class}")));
        }
        let packed = gzip(table.as_bytes());
        for content in [table.as_bytes(), &packed] {
            let data = read_named("t.csv", content, &label("class")).unwrap();
            for (i, (value, class)) in rows.iter().enumerate() {
                prop_assert_eq!(data.features.row(i), &[*value]);
                let name = data.labels.class_of(i as u32).map(|class| data.class_names()[class as usize].clone());
                prop_assert_eq!(name, class.map(|class| format!("c{class}")));
            }
        }
        // From two bytes on it is recognised as gzip, and then every cut must be reported.
        let kept = ((packed.len() as f64 * cut) as usize).max(2);
        let message = read_named("t.csv", &packed[..kept.min(packed.len() - 1)], &label("class")).unwrap_err();
        prop_assert!(message.contains("cut short or damaged"), "{}", message);
    }

    #[test]
    fn arbitrary_bytes_never_panic(
        header in any::<bool>(), packed in any::<bool>(), tail in prop::collection::vec(any::<u8>(), 0..80),
    ) {
        let start: &[u8] = match (header, packed) {
            (true, _) => b"x,y\n1,",
            (_, true) => &[0x1f, 0x8b, 8],
            _ => b"",
        };
        if let Ok(data) = read_named("t.csv", &[start, &tail].concat(), &label("y")) {
            prop_assert!(data.check_values().is_ok() && !data.is_empty());
        }
    }
}
