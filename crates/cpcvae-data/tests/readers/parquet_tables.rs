//! Parquet, and the same data in three formats.

use super::{names, numbers, open_named, refused, table, texts, write};
use cpcvae_data::{Cells, RawTable, ReadOptions, Table, TableOptions};
use parquet::basic::Compression;
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type,
};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use std::sync::Arc;

pub type Group<'a> = SerializedRowGroupWriter<'a, Vec<u8>>;

pub fn file(schema: &str, codec: Compression, groups: usize, fill: impl Fn(&mut Group)) -> Vec<u8> {
    let schema = Arc::new(parquet::schema::parser::parse_message_type(schema).unwrap());
    let properties = Arc::new(WriterProperties::builder().set_compression(codec).build());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, properties).unwrap();
    for _ in 0..groups {
        let mut group = writer.next_row_group().unwrap();
        fill(&mut group);
        group.close().unwrap();
    }
    writer.into_inner().unwrap()
}

/// Writes the next column; `levels` has a 0 for every missing cell, or is `None` for a required
/// column.
pub fn column<T: DataType>(group: &mut Group, values: &[T::T], levels: Option<&[i16]>) {
    let mut column = group.next_column().unwrap().unwrap();
    column
        .typed::<T>()
        .write_batch(values, levels, None)
        .unwrap();
    column.close().unwrap();
}

pub fn animals(codec: Compression, groups: usize) -> Vec<u8> {
    let schema = "message schema {
        required double size; optional int64 age; optional boolean tame;
        optional binary kind (STRING); required int32 price (DECIMAL(6, 2));
        required int32 count (INTEGER(32, false)); required int64 __index_level_0__; }";
    file(schema, codec, groups, |group| {
        column::<DoubleType>(group, &[0.25, -1.5, 3e10], None);
        column::<Int64Type>(group, &[3, 9], Some(&[1, 0, 1]));
        column::<BoolType>(group, &[true, false], Some(&[1, 1, 0]));
        let kinds = ["cat", "dog"].map(ByteArray::from);
        column::<ByteArrayType>(group, &kinds, Some(&[1, 1, 0]));
        column::<Int32Type>(group, &[199, -5, 0], None);
        column::<Int32Type>(group, &[1, -1, 2], None);
        column::<Int64Type>(group, &[0, 1, 2], None);
    })
}

fn read(content: &[u8]) -> RawTable {
    table(open_named("t.parquet", content, &ReadOptions::default()))
}

#[test]
fn every_kind_of_column_under_every_compression() {
    use parquet::basic::{GzipLevel, ZstdLevel};
    let codecs = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::ZSTD(ZstdLevel::default()),
    ];
    for codec in codecs {
        let table = read(&animals(codec, 2));
        assert_eq!(
            names(&table),
            ["size", "age", "tame", "kind", "price", "count"]
        );
        assert_eq!(
            (table.rows, table.beside[0].name.as_str()),
            (6, "__index_level_0__")
        );
        let first = |name: &str| numbers(&table.column(name).unwrap().cells)[..3].to_vec();
        assert_eq!(first("size"), [0.25, -1.5, 3e10]);
        assert!(first("age")[1].is_nan() && first("age")[2] == 9.0);
        assert_eq!(first("price"), [1.99, -0.05, 0.0]);
        assert_eq!(first("count"), [1.0, 4294967295.0, 2.0]);
        let tame = &table.columns[2].cells;
        assert!(matches!(tame, Cells::PackedFlags(_)));
        assert_eq!(texts(tame), ["true", "false", "", "true", "false", ""]);
        let kinds = texts(&table.columns[3].cells);
        assert_eq!(kinds, ["cat", "dog", "", "cat", "dog", ""]);
    }
}

/// More rows than are converted at a time, in groups of different columns, through temporary files.
#[test]
fn a_table_in_a_file_is_the_table_in_memory() {
    let schema = "message schema { required float size; optional int64 age; optional boolean tame;
        optional binary kind (STRING); required int64 id; }";
    let rows = 300_000;
    let present: Vec<i16> = (0..rows).map(|row| i16::from(row % 3 > 0)).collect();
    let known = || (0..rows).filter(|row| row % 3 > 0);
    let content = file(schema, Compression::SNAPPY, 2, |group| {
        let sizes: Vec<f32> = (0..rows).map(|row| row as f32 / 3.0).collect();
        column::<FloatType>(group, &sizes, None);
        column::<Int64Type>(group, &known().collect::<Vec<_>>(), Some(&present));
        let tame: Vec<bool> = known().map(|row| row % 2 == 0).collect();
        column::<BoolType>(group, &tame, Some(&present));
        let kinds: Vec<ByteArray> = known()
            .map(|row| ByteArray::from(["cat", "dog"][row as usize % 2]))
            .collect();
        column::<ByteArrayType>(group, &kinds, Some(&present));
        let ids: Vec<i64> = (0..rows).map(|row| i64::MAX - row).collect();
        column::<Int64Type>(group, &ids, None);
    });
    let [memory, mapped] = [u64::MAX, 0].map(|memory_budget| {
        let options = ReadOptions {
            memory_budget,
            ..ReadOptions::default()
        };
        table(open_named("t.parquet", &content, &options))
    });
    assert_eq!((memory.rows, mapped.rows), (600_000, 600_000));
    for (one, other) in memory.columns.iter().zip(&mapped.columns) {
        for row in (0..600_000).step_by(1013).chain([299_999, 300_000]) {
            assert_eq!(one.text(row), other.text(row), "column {} {row}", one.name);
        }
    }
    let texts_of = |row: usize| -> Vec<String> {
        let columns = mapped.columns.iter();
        columns.map(|column| column.text(row)).collect()
    };
    let id = |row: i64| (i64::MAX - row).to_string();
    assert_eq!(texts_of(300_004), ["1.3333334", "4", "true", "cat", &id(4)]);
    assert_eq!(
        texts_of(299_999),
        ["99999.664", "299999", "false", "dog", &id(299_999)]
    );
    assert_eq!(texts_of(3), ["1", "", "", "", &id(3)]);
}

#[test]
fn cut_nested_and_empty_files_are_explained() {
    let refuse = |content: &[u8], parts: &[&str]| {
        refused(
            open_named("t.parquet", content, &ReadOptions::default()),
            parts,
        );
    };
    let whole = animals(Compression::SNAPPY, 1);
    for cut in [5, whole.len() / 2, whole.len() - 1] {
        refuse(&whole[..cut], &["t.parquet", "get the file again"]);
    }
    let none = animals(Compression::SNAPPY, 0);
    // A model may be asked about no rows, but learns nothing from them.
    let none = table(open_named("t.parquet", &none, &ReadOptions::default()));
    assert!(none.rows == 0 && none.columns.iter().all(|column| column.cells.is_empty()));
    let problem = Table::new(&none, &TableOptions::default()).unwrap_err();
    assert!(problem.to_string().contains("no rows"), "{problem}");
    let schema = "message schema { required int32 a; repeated int32 many; }";
    let nested = file(schema, Compression::UNCOMPRESSED, 1, |group| {
        column::<Int32Type>(group, &[1], None);
        let mut many = group.next_column().unwrap().unwrap();
        many.typed::<Int32Type>()
            .write_batch(&[1, 2], Some(&[1, 1]), Some(&[0, 1]))
            .unwrap();
        many.close().unwrap();
    });
    refuse(&nested, &["column `many`", "lists", "ignore"]);
    let ignore = ReadOptions {
        ignore: vec!["many".into()],
        ..ReadOptions::default()
    };
    assert_eq!(
        names(&table(open_named("t.parquet", &nested, &ignore))),
        ["a"]
    );
    let tight = ReadOptions {
        most_bytes: 10,
        ..ReadOptions::default()
    };
    refused(
        open_named("t.parquet", &whole, &tight),
        &["`data.most_bytes`"],
    );
}

#[test]
fn two_columns_of_one_name_are_refused() {
    let schema = "message schema { required int32 a; required int32 b; required int32 a; }";
    let twice = file(schema, Compression::UNCOMPRESSED, 1, |group| {
        for _ in 0..3 {
            column::<Int32Type>(group, &[1, 2], None);
        }
    });
    refused(
        open_named("t.parquet", &twice, &ReadOptions::default()),
        &["t.parquet, header", "two columns are named `a`"],
    );
}

#[test]
fn the_same_data_in_three_formats_is_the_same_table() {
    let size = [0.1f64, -2.5, 1e-7];
    let count = [7i64, 0, -3];
    let kind = ["a b", "", "ü"];
    let rows = (0..3).map(|row| format!("{},{},{}\n", size[row], count[row], kind[row]));
    let csv = format!("size,count,kind\n{}", rows.collect::<String>());
    let bytes = |list: [[u8; 8]; 3]| list.concat();
    let npz = write::zip(
        &[
            (
                "size.npy",
                &write::npy("'<f8'", false, &[3], &bytes(size.map(f64::to_le_bytes))),
            ),
            (
                "count.npy",
                &write::npy("'<i8'", false, &[3], &bytes(count.map(i64::to_le_bytes))),
            ),
            ("kind.npy", &write::npy_texts(&kind)),
        ],
        true,
    );
    let schema = "message schema { required double size; required int64 count;
        required binary kind (STRING); }";
    let parquet = file(schema, Compression::SNAPPY, 1, |group| {
        column::<DoubleType>(group, &size, None);
        column::<Int64Type>(group, &count, None);
        column::<ByteArrayType>(group, &kind.map(ByteArray::from), None);
    });
    let defaults = ReadOptions::default();
    for (name, content) in [
        ("t.csv", csv.into_bytes()),
        ("t.npz", npz),
        ("t.parquet", parquet),
    ] {
        let table = table(open_named(name, &content, &defaults));
        assert_eq!(names(&table), ["size", "count", "kind"], "{name}");
        assert_eq!(numbers(&table.columns[0].cells), size, "{name}");
        assert_eq!(numbers(&table.columns[1].cells), [7.0, 0.0, -3.0], "{name}");
        assert_eq!(texts(&table.columns[2].cells), kind, "{name}");
    }
}
