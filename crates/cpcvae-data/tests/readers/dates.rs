//! Dates and times, alike in CSV and Parquet.

use super::parquet_tables::{column, file};
use super::{open_named, table};
use cpcvae_data::{Column, Layout, ReadOptions, Table, TableOptions};
use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};

fn understood(name: &str, content: &[u8]) -> Table {
    let raw = table(open_named(name, content, &ReadOptions::default()));
    Table::new(&raw, &TableOptions::default()).unwrap()
}

fn columns(table: &Table) -> &[Column] {
    match &table.data.layout {
        Layout::Columns(columns) => columns,
        Layout::Image { .. } => panic!("a table has columns"),
    }
}

fn cells(table: &Table) -> Vec<Vec<String>> {
    let row = |row: usize| {
        let values = table.data.features.row(row);
        let cells = columns(table).iter().zip(values);
        cells.map(|(column, value)| column.cell(value)).collect()
    };
    (0..table.data.len()).map(row).collect()
}

/// Dates of birth; times of arrival, without time zone and in UTC; dates of signature, stored as
/// times but always midnight.
const CSV: &str = "born,came,seen,signed,kind\n\
    2020-03-28,2021-01-02 03:04:05,2021-01-02T03:04:05.25+00:00,2021-01-02,a\n\
    ,2021-06-02 03:04:06,2021-01-03T05:04:05+02:00,2021-01-03,b\n\
    1969-12-31,,2021-01-04T03:04:05Z,,a\n";

fn parquet() -> Vec<u8> {
    let schema = "message schema { optional int32 born (DATE);
        optional int64 came (TIMESTAMP(MICROS, false)); required int64 seen (TIMESTAMP(MILLIS, true));
        optional int64 signed (TIMESTAMP(NANOS, false)); required binary kind (STRING); }";
    let nanos = |seconds: i64| seconds * 1_000_000_000;
    file(schema, Compression::UNCOMPRESSED, 1, |group| {
        column::<Int32Type>(group, &[18349, -1], Some(&[1, 0, 1]));
        let came = [1_609_556_645_000_000, 1_622_603_046_000_000];
        column::<Int64Type>(group, &came, Some(&[1, 1, 0]));
        let seen = [1_609_556_645_250, 1_609_643_045_000, 1_609_729_445_000];
        column::<Int64Type>(group, &seen, None);
        let signed = [nanos(1_609_545_600), nanos(1_609_632_000)];
        column::<Int64Type>(group, &signed, Some(&[1, 1, 0]));
        column::<ByteArrayType>(group, &["a", "b", "a"].map(ByteArray::from), None);
    })
}

#[test]
fn the_same_dates_in_two_formats_are_the_same_columns() {
    let (csv, parquet) = (
        understood("t.csv", CSV.as_bytes()),
        understood("t.parquet", &parquet()),
    );
    assert_eq!(columns(&csv), columns(&parquet));
    assert_eq!(cells(&csv), cells(&parquet));
    assert_eq!(
        cells(&csv),
        [
            [
                "2020-03-28",
                "2021-01-02T03:04:05",
                "2021-01-02T03:04:05.25Z",
                "2021-01-02",
                "a"
            ],
            [
                "",
                "2021-06-02T03:04:06",
                "2021-01-03T03:04:05Z",
                "2021-01-03",
                "b"
            ],
            ["1969-12-31", "", "2021-01-04T03:04:05Z", "", "a"],
        ]
    );
    let why: Vec<&str> = csv
        .columns
        .iter()
        .map(|column| column.why.as_str())
        .collect();
    assert_eq!(why[..4], ["dates", "times", "times", "dates"]);
    assert_eq!(csv.columns[0].range, "1969-12-31 to 2020-03-28");
}

#[test]
fn a_model_of_one_format_reads_the_other() {
    let known = columns(&understood("t.csv", CSV.as_bytes())).to_vec();
    let text = serde_json::to_string(&known).unwrap();
    let options = TableOptions {
        features: Some(serde_json::from_str(&text).unwrap()),
        ..TableOptions::default()
    };
    let raw = table(open_named("t.parquet", &parquet(), &ReadOptions::default()));
    let read = Table::new(&raw, &options).unwrap();
    assert_eq!(cells(&read), cells(&understood("t.csv", CSV.as_bytes())));
    let wrong = CSV.replace("2020-03-28,", "17,");
    let raw = table(open_named(
        "t.csv",
        wrong.as_bytes(),
        &ReadOptions::default(),
    ));
    let message = Table::new(&raw, &options).unwrap_err().to_string();
    assert!(
        message.contains("row 1, column `born`: `17` is not a date"),
        "{message}"
    );
}

#[test]
fn a_made_up_date_is_a_day_between_the_first_and_the_last() {
    let table = understood("t.csv", CSV.as_bytes());
    let born = &columns(&table)[0];
    let value = table.data.features.row(0)[0];
    assert_eq!(born.cell(born.nearest(value - 0.4)), "2020-03-28");
    assert_eq!(born.cell(born.nearest(value + 500.0)), "2020-03-28");
    assert_eq!(born.cell(born.nearest(value - 1e9)), "1969-12-31");
}

#[test]
fn odd_cells_among_dates_are_named_and_a_few_dates_among_texts_are_texts() {
    let options = ReadOptions::default();
    let odd = "d\n2020-01-01\n2020-01-02\nsoon\n";
    let raw = table(open_named("t.csv", odd.as_bytes(), &options));
    let message = Table::new(&raw, &TableOptions::default())
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("row 3, column `d`: `soon` is not a date"),
        "{message}"
    );
    let texts = "d\nsoon\nlate\nsoon\n2020-01-01\n";
    let table = understood("t.csv", texts.as_bytes());
    assert_eq!(table.columns[0].range, "3 levels: 2020-01-01, late, soon");
}

/// The range and unit of columns whose numbers are all whole, and the values generated for them.
#[test]
fn whole_numbers_are_remembered_with_their_range() {
    let table = understood("t.csv", b"grade,size\n1,0.5\n5,2\n,3\n3.0,4\n");
    let [grade, size] = columns(&table) else {
        panic!("two columns")
    };
    assert_eq!((grade.whole, size.whole), (Some([1.0, 5.0]), None));
    assert_eq!(grade.cell(grade.nearest(6.45)), "5");
    assert_eq!(grade.cell(grade.nearest(2.4)), "2");
    assert_eq!(size.cell(size.nearest(6.45)), "6.45");
}
