//! Values in temporary files equal those in memory.

use super::{numbers, open_named, table, texts, write};
use cpcvae_data::{
    Cells, Features, KindName, Opened, RawTable, ReadOptions, Rows, Table, TableOptions,
};

fn budget(memory_budget: u64) -> ReadOptions {
    ReadOptions {
        memory_budget,
        ..ReadOptions::default()
    }
}

/// The values of two tables are the same, missing cells included.
fn assert_same(one: &Features, other: &Features) {
    let bits = |features: &Features| -> Vec<u32> {
        let values = features.matrix().values;
        values.iter().map(|value| value.to_bits()).collect()
    };
    assert_eq!((one.rows(), one.columns()), (other.rows(), other.columns()));
    assert_eq!(bits(one), bits(other));
}

/// The table with its values in memory, and left in the file.
fn both_ways(raw: &RawTable, options: &TableOptions) -> [Table; 2] {
    [u64::MAX, 0].map(|memory_budget| {
        let options = TableOptions {
            memory_budget,
            ..options.clone()
        };
        Table::new(raw, &options).unwrap()
    })
}

#[test]
fn an_array_is_the_same_table_in_its_file_and_in_memory() {
    // A number, a flag, a level, a number with a value that means "missing", a label.
    let cells = |row: usize| {
        let level = [3.0, 5.0, f32::NAN][row % 3];
        [
            row as f32 / 7.0,
            (row % 2) as f32,
            level,
            (row % 5) as f32,
            (row % 2) as f32,
        ]
    };
    let values: Vec<f32> = (0..40).flat_map(cells).collect();
    let raw = table(open_named(
        "x.npy",
        &write::npy_f32(&[40, 5], &values),
        &budget(0),
    ));
    let options = TableOptions {
        labels: vec!["x4".into()],
        kinds: vec![("x2".into(), KindName::Category)],
        missing: vec!["4".into()],
        ..TableOptions::default()
    };
    let [memory, file] = both_ways(&raw, &options);
    assert_same(&memory.data.features, &file.data.features);
    assert_eq!(memory.data.features.row(3)[..3], [3.0 / 7.0, 1.0, 0.0]);
    assert!(memory.data.features.row(4)[3].is_nan(), "4 means missing");
    assert_eq!(memory.columns, file.columns);
    assert_eq!(memory.data.labels, file.data.labels);
    let of_model = TableOptions {
        features: Some(match &memory.data.layout {
            cpcvae_data::Layout::Columns(columns) => columns.iter().rev().cloned().collect(),
            cpcvae_data::Layout::Image { .. } => panic!("a table has columns"),
        }),
        ..options
    };
    let [memory, file] = both_ways(&raw, &of_model);
    assert_same(&memory.data.features, &file.data.features);
}

#[test]
fn flags_in_an_array_stay_flags() {
    let file = write::npy("'|b1'", false, &[3, 2], &[1, 0, 0, 0, 1, 1]);
    let raw = table(open_named("x.npy", &file, &budget(0)));
    assert!(matches!(raw.columns[0].cells, Cells::PackedFlags(_)));
    assert_eq!(texts(&raw.columns[0].cells), ["true", "false", "true"]);
    let [memory, file] = both_ways(&raw, &TableOptions::default());
    assert_eq!(memory.columns[1].kind, "flag");
    assert_same(&memory.data.features, &file.data.features);
}

#[test]
fn a_compressed_array_unpacks_to_a_file_or_to_memory() {
    let x = write::npy_f32(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let file = write::zip(&[("X.npy", &x)], true);
    for memory_budget in [0, 1 << 20] {
        let raw = table(open_named("x.npz", &file, &budget(memory_budget)));
        assert_eq!(numbers(&raw.columns[1].cells), [2.0, 5.0]);
    }
}

#[test]
fn images_are_the_same_in_a_file_and_in_memory() {
    let pixels: Vec<u8> = (0..2 * 4 * 6 * 3).map(|value| value as u8).collect();
    let file = write::npy("'|u1'", false, &[2, 4, 6, 3], &pixels);
    let [memory, mapped] = [1 << 20, 0].map(|memory_budget| {
        let options = ReadOptions {
            size: Some(4),
            gray: true,
            ..budget(memory_budget)
        };
        match open_named("x.npy", &file, &options) {
            Ok(Opened::Images(set)) => set.to_dataset().unwrap(),
            other => panic!("{other:?}"),
        }
    });
    assert_eq!(memory.features.columns(), 16);
    assert_same(&memory.features, &mapped.features);
}
