//! Numbers that are large against their spread: no precision is lost in 32 bits.

use cpcvae_data::{
    Cells, Column, Dataset, Layout, NumberKind, PackedNumbers, RawColumn, RawTable, Rows,
    Standardizer, Table, TableOptions, Task,
};

/// Unix times within 40 seconds.
fn time(row: usize) -> f64 {
    1.7e9 - 20.0 + (row * 13 % 41) as f64 + 0.25
}

fn column(name: &str, cells: Cells) -> RawColumn {
    RawColumn {
        name: name.into(),
        cells,
    }
}

/// The same table as text, and as packed numbers; `y` is 100 seconds after `t`.
fn tables(rows: usize) -> [RawTable; 2] {
    let text = |after: f64| {
        (0..rows)
            .map(|row| (time(row) + after).to_string())
            .collect()
    };
    let packed = |after: f64| {
        let bytes = (0..rows).flat_map(|row| (time(row) + after).to_le_bytes());
        let bytes: Vec<u8> = bytes.collect();
        let kind = (NumberKind::F64, false);
        PackedNumbers::new(bytes.into(), kind, 0, 8, rows).unwrap()
    };
    let table = |columns| RawTable {
        path: "t.csv".into(),
        columns,
        beside: Vec::new(),
        rows,
    };
    [
        table(vec![
            column("t", Cells::Texts(text(0.0))),
            column("y", Cells::Texts(text(100.0))),
        ]),
        table(vec![
            column("t", Cells::Packed(packed(0.0))),
            column("y", Cells::Packed(packed(100.0))),
        ]),
    ]
}

fn columns(data: &Dataset) -> &[Column] {
    match &data.layout {
        Layout::Columns(columns) => columns,
        Layout::Image { .. } => panic!("a table has columns"),
    }
}

#[test]
fn a_feature_keeps_its_spread_and_is_written_as_it_was() {
    for raw in tables(41) {
        // In memory, and left in the file.
        for memory_budget in [u64::MAX, 0] {
            let options = TableOptions {
                ignore: vec!["y".into()],
                memory_budget,
                ..TableOptions::default()
            };
            let table = Table::new(&raw, &options).unwrap();
            let data = table.data;
            for row in 0..41 {
                let cell = columns(&data)[0].cell(data.features.row(row)[0]);
                assert_eq!(cell, time(row).to_string());
            }
            assert_eq!(table.columns[0].range, "1699999980.25 to 1700000020.25");
            let all: Vec<u32> = (0..41).collect();
            let scale = Standardizer::fit(&data.features, &all).unwrap().scale[0];
            assert!((scale - 11.83).abs() < 0.01, "{scale}");
        }
    }
}

#[test]
fn a_target_keeps_its_spread_and_its_offset_is_known() {
    for raw in tables(41) {
        let options = TableOptions {
            labels: vec!["y".into()],
            ..TableOptions::default()
        };
        let table = Table::new(&raw, &options).unwrap();
        assert_eq!(table.task.unwrap().task, Task::Regress);
        let labels = table.data.labels;
        let offset = labels.offsets()[0];
        for row in 0..41 {
            let value = labels.values_of(row).unwrap()[0];
            assert_eq!(offset + f64::from(value), time(row as usize) + 100.0);
        }
        // Another table for the same model: the model's offset is subtracted from its labels.
        let known = TableOptions {
            features: Some(columns(&table_of(&raw)).to_vec()),
            task: Some(Task::Regress),
            label_offsets: Some(vec![offset]),
            ..options
        };
        let first = RawTable {
            rows: 1,
            ..raw.clone()
        };
        let labels = Table::new(&first, &known).unwrap().data.labels;
        assert_eq!(
            offset + f64::from(labels.values_of(0).unwrap()[0]),
            time(0) + 100.0
        );
    }
}

fn table_of(raw: &RawTable) -> Dataset {
    let options = TableOptions {
        ignore: vec!["y".into()],
        ..TableOptions::default()
    };
    Table::new(raw, &options).unwrap().data
}

#[test]
fn new_rows_are_read_with_the_offset_of_the_model() {
    let [raw, _] = tables(41);
    let known = columns(&table_of(&raw)).to_vec();
    let text = serde_json::to_string(&known).unwrap();
    let from_card: Vec<Column> = serde_json::from_str(&text).unwrap();
    assert_eq!(from_card, known);
    let new = RawTable {
        columns: vec![column(
            "t",
            Cells::Texts(vec!["1700000007.5".into(), "5".into()]),
        )],
        rows: 2,
        ..raw
    };
    let options = TableOptions {
        features: Some(from_card),
        ..TableOptions::default()
    };
    let data = Table::new(&new, &options).unwrap().data;
    assert_eq!(
        columns(&data)[0].cell(data.features.row(0)[0]),
        "1700000007.5"
    );
}

#[test]
fn other_columns_are_as_they_were() {
    let texts = ["0.1", "16777217", "-3e-40", "1e30"]
        .map(String::from)
        .to_vec();
    let raw = RawTable {
        path: "t.csv".into(),
        columns: vec![column("x", Cells::Texts(texts.clone()))],
        beside: Vec::new(),
        rows: 4,
    };
    let data = Table::new(&raw, &TableOptions::default()).unwrap().data;
    let expected: Vec<f32> = texts.iter().map(|text| text.parse().unwrap()).collect();
    assert_eq!(data.features.part(0..4).values, expected);
    assert_eq!(columns(&data), [Column::number("x")]);
}

/// 1,700,000,003 and 1,700,000,004 are one number in 32 bits, and only one of them is missing.
#[test]
fn missing_values_are_compared_with_all_digits() {
    let texts = ["1700000003", "1700000004", "1700000005"].map(String::from);
    let numbers = Cells::Numbers(vec![1700000003.0, 1700000004.0, 1700000005.0]);
    for cells in [Cells::Texts(texts.to_vec()), numbers] {
        let raw = RawTable {
            path: "t.csv".into(),
            columns: vec![
                column("x", cells),
                column("z", Cells::Numbers(vec![1.0, 2.0, 3.0])),
            ],
            beside: Vec::new(),
            rows: 3,
        };
        let options = TableOptions {
            missing: vec!["1700000004".into()],
            ..TableOptions::default()
        };
        let data = Table::new(&raw, &options).unwrap().data;
        let cells: Vec<String> = (0..3)
            .map(|row| columns(&data)[0].cell(data.features.row(row)[0]))
            .collect();
        assert_eq!(cells, ["1700000003", "", "1700000005"]);
    }
}
