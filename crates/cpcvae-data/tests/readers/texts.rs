//! CSV and TSV, plain and compressed.

use super::{names, open_named, refused, table, texts_of, write};
use cpcvae_data::{FileKind, ReadOptions};

fn defaults() -> ReadOptions {
    ReadOptions::default()
}

fn read(content: &str) -> cpcvae_data::RawTable {
    table(open_named("table.csv", content.as_bytes(), &defaults()))
}

#[test]
fn cells_are_texts_as_typed_and_trimmed() {
    let table = read("id, kind ,size\n007, cat ,1.50\n8,,x\n");
    assert_eq!(names(&table), ["id", "kind", "size"]);
    assert_eq!((table.rows, table.beside.len()), (2, 0));
    assert_eq!(table.columns[0].cells, texts_of(&["007", "8"]));
    assert_eq!(table.column("kind").unwrap().cells, texts_of(&["cat", ""]));
    assert_eq!(table.columns[2].cells, texts_of(&["1.50", "x"]));
}

#[test]
fn the_delimiter_is_found_or_given() {
    for content in [
        "a;b,c;d\n1;2;3\n",
        "\u{feff}a\tb,c\td\n1\t2\t3\n",
        "\"a;;;\",b,d\n1,2,3\n",
    ] {
        let table = read(content);
        assert_eq!(table.columns.len(), 3, "{content}");
        assert!(table.columns[0].name.starts_with('a'), "{content}");
        assert_eq!(table.columns[1].cells, texts_of(&["2"]), "{content}");
    }
    // In a .tsv, commas are text, however many there are.
    let tsv = table(open_named(
        "t.tsv.gz",
        &write::gzip(b"a,b,c\td\n1\t2\n"),
        &defaults(),
    ));
    assert_eq!(names(&tsv), ["a,b,c", "d"]);
    let bar = ReadOptions {
        delimiter: Some('|'),
        ..defaults()
    };
    assert_eq!(
        names(&table(open_named("t.csv", b"a|b,c\n1|2\n", &bar))),
        ["a", "b,c"]
    );
    let wide = ReadOptions {
        delimiter: Some('→'),
        ..defaults()
    };
    refused(
        open_named("t.csv", b"a\n1\n", &wide),
        &["t.csv", "one ASCII character"],
    );
}

#[test]
fn compressed_tables_read_like_plain_ones_whatever_their_name() {
    let plain: String =
        (0..3000).fold("a,b\n".into(), |text, i| text + &format!("{i},{}\n", i * 7));
    let expected = read(&plain).columns;
    let halves = plain.split_at(4001);
    let members = [
        write::gzip(halves.0.as_bytes()),
        write::gzip(halves.1.as_bytes()),
    ]
    .concat();
    let frames = [
        write::zstd(halves.0.as_bytes()),
        write::zstd(halves.1.as_bytes()),
    ]
    .concat();
    for content in [
        write::gzip(plain.as_bytes()),
        members,
        write::zstd(plain.as_bytes()),
        frames,
    ] {
        assert_eq!(
            table(open_named("odd.name", &content, &defaults())).columns,
            expected
        );
    }
}

#[test]
fn cut_and_endless_compressed_files_are_refused() {
    // Numbers that hardly compress, so that the cut is in the middle of data.
    let plain: String = (0..40_000u64).fold("a\n".into(), |text, i| {
        text + &format!("{}\n", i.wrapping_mul(6364136223846793005) >> 20)
    });
    for whole in [write::gzip(plain.as_bytes()), write::zstd(plain.as_bytes())] {
        for cut in [whole.len() / 2, whole.len() - 1] {
            refused(
                open_named("t.csv.gz", &whole[..cut], &defaults()),
                &["t.csv.gz", "cut short or damaged"],
            );
        }
        let tight = ReadOptions {
            most_bytes: 100_000,
            ..defaults()
        };
        refused(
            open_named("t.csv", &whole, &tight),
            &["limit of 100000 bytes", "`data.most_bytes`"],
        );
        let enough = ReadOptions {
            most_bytes: plain.len() as u64,
            ..defaults()
        };
        assert_eq!(table(open_named("t.csv", &whole, &enough)).rows, 40_000);
    }
}

#[test]
fn bad_tables_are_explained() {
    let bad = |content: &[u8], parts: &[&str]| {
        refused(open_named("t.csv", content, &defaults()), parts);
    };
    bad(b"", &["t.csv: the file is empty"]);
    bad(b"\n\n", &["the file is empty; it needs a header line"]);
    // Nothing can be learnt from zero rows, but a model can be asked about them.
    assert_eq!(table(open_named("t.csv", b"a,b\n", &defaults())).rows, 0);
    bad(
        b"1,2.5\n3,4\n",
        &["header", "numbers only", "add a header line"],
    );
    bad(b"a,b,a\n1,2,3\n", &["two columns are named `a`"]);
    bad(
        b"a,b\n1,2\n3\n",
        &["t.csv, line 3: 1 cells where the header has 2"],
    );
    bad(b"a,b\n1,caf\xe9\n", &["line 2", "not UTF-8"]);
    bad(b"\xff\xfea\0,\0", &["UTF-16", "UTF-8"]);
    bad(&[7, 0, 1, 2, 0], &["unknown kind of file", "Parquet"]);
    bad(&write::gzip(b""), &["the compressed file is empty"]);
    bad(
        &write::gzip(b"PAR1...."),
        &["Parquet", "decompress it first"],
    );
    bad(
        &write::zip(&[("[Content_Types].xml", b"x")], true),
        &["Excel", "CSV"],
    );
    refused(
        open_named("t.parquet", b"a,b\n1,2\n", &defaults()),
        &["by its name this is a Parquet"],
    );
    assert!(
        FileKind::of("/nowhere/t.csv")
            .unwrap_err()
            .to_string()
            .contains("/nowhere/t.csv")
    );
}

#[test]
fn ignored_columns_are_not_read_and_must_be_there() {
    let ignore = |name: &str| ReadOptions {
        ignore: vec![name.into()],
        ..defaults()
    };
    let kept = table(open_named("t.csv", b",a\n0,1\n", &ignore("")));
    assert_eq!(names(&kept), ["a"]);
    refused(
        open_named("t.csv", b"age,b\n0,1\n", &ignore("agee")),
        &["no column `agee` to ignore", "age, b"],
    );
    refused(
        open_named("t.csv", b"a\n0\n", &ignore("a")),
        &["all columns", "ignored"],
    );
}

#[test]
fn a_format_that_is_not_built_in_names_the_feature() {
    let open = |name: &str, content: &[u8]| open_named(name, content, &defaults());
    if cfg!(not(feature = "parquet")) {
        refused(
            open("t.parquet", b"PAR1..PAR1"),
            &["--features parquet", "CSV"],
        );
    }
    if cfg!(not(feature = "h5ad")) {
        refused(
            open("t.h5ad", b"\x89HDF\r\n\x1a\n.."),
            &["--features h5ad", "NPZ"],
        );
    }
}

/// A small file that unpacks to more than may be in memory, though to less than the limit on files.
#[test]
fn what_is_kept_in_memory_is_limited_while_it_is_read() {
    let tight = ReadOptions {
        most_memory: 1 << 20,
        ..ReadOptions::default()
    };
    let rows = "1,2\n".repeat(100_000);
    for file in [write::zstd, write::gzip, |text: &[u8]| text.to_vec()] {
        let many = file(format!("a,b\n{rows}").as_bytes());
        refused(
            open_named("t.csv", &many, &tight),
            &[
                "t.csv",
                "1048576 bytes of memory",
                "Parquet",
                "CPCVAE_MEMORY",
            ],
        );
        let open_quote = file(format!("a,b\n\"{rows}").as_bytes());
        refused(
            open_named("t.csv", &open_quote, &tight),
            &["t.csv", "a row of the table is longer than 131072", "quote"],
        );
    }
}
