//! NPY and NPZ.

use super::{images, names, numbers, open_named, refused, table, texts_of, write};
use cpcvae_data::{Cells, ReadOptions};

fn defaults() -> ReadOptions {
    ReadOptions::default()
}

fn named(features: Option<&str>, labels: &[&str]) -> ReadOptions {
    ReadOptions {
        features_name: features.map(String::from),
        label_names: labels.iter().map(|name| name.to_string()).collect(),
        ..defaults()
    }
}

#[test]
fn features_and_labels_of_an_npz() {
    let x = write::npy_f32(&[3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, f32::NAN]);
    let y = write::npy_texts(&["T cell", "", "Bé"]);
    for compressed in [false, true] {
        let file = write::zip(
            &[("X.npy", &x), ("y.npy", &y), ("readme.txt", b"hi")],
            compressed,
        );
        let table = table(open_named("cells.npz", &file, &defaults()));
        assert_eq!((names(&table), table.rows), (vec!["x0", "x1"], 3));
        assert_eq!(numbers(&table.columns[0].cells), [1.0, 3.0, 5.0]);
        assert!(numbers(&table.columns[1].cells)[2].is_nan());
        assert_eq!(table.beside[0].name, "y");
        assert_eq!(table.beside[0].cells, texts_of(&["T cell", "", "Bé"]));
    }
}

#[test]
fn arrays_are_chosen_by_name() {
    let x = write::npy_f32(&[2, 1], &[1.0, 2.0]);
    let other = write::npy_f32(&[3, 1], &[1.0, 2.0, 3.0]);
    let labels = write::npy("'>i2'", false, &[2, 1], &[0, 7, 1, 0]);
    let flags = write::npy("'|b1'", false, &[2], &[1, 0]);
    let files: &[(&str, &[u8])] = &[
        ("x_train.npy", &x),
        ("x_test.npy", &other),
        ("label.npy", &labels),
        ("male.npy", &flags),
    ];
    let file = write::zip(files, true);
    let table = table(open_named(
        "a.npz",
        &file,
        &named(Some("x_train"), &["label"]),
    ));
    assert_eq!(names(&table), ["x_train0"]);
    assert_eq!(numbers(&table.column("label").unwrap().cells), [7.0, 256.0]);
    assert_eq!(
        table.column("male").unwrap().cells,
        Cells::Flags(vec![Some(true), Some(false)])
    );
    refused(
        open_named("a.npz", &file, &defaults()),
        &[
            "x_test",
            "`data.features_name`",
            "x_train [2, 1]",
            "male [2]",
        ],
    );
    refused(
        open_named("a.npz", &file, &named(Some("x"), &[])),
        &["no array `x`", "x_train"],
    );
    refused(
        open_named("a.npz", &file, &named(None, &["z"])),
        &["no array `z`"],
    );
}

#[test]
fn columns_of_their_own_need_no_matrix() {
    let age = write::npy(
        "'<i8'",
        false,
        &[2],
        &[[3, 0, 0, 0, 0, 0, 0, 0], [255; 8]].concat(),
    );
    let id = write::npy(
        "'<u8'",
        false,
        &[2],
        &[[255; 8], [254, 255, 255, 255, 255, 255, 255, 255]].concat(),
    );
    let file = write::zip(&[("age.npy", &age), ("id.npy", &id)], false);
    let table = table(open_named("a.npz", &file, &defaults()));
    assert_eq!(table.columns[0].cells, Cells::Numbers(vec![3.0, -1.0]));
    // Whole numbers beyond the precision of an f64 keep their digits.
    assert_eq!(
        table.columns[1].cells,
        texts_of(&["18446744073709551615", "18446744073709551614"])
    );
}

#[test]
fn a_single_array_in_either_order() {
    let c_order = write::npy("'|u1'", false, &[2, 3], &[1, 2, 3, 4, 5, 6]);
    let fortran = write::npy("'|u1'", true, &[2, 3], &[1, 4, 2, 5, 3, 6]);
    for file in [c_order, fortran] {
        let table = table(open_named("x.npy", &file, &defaults()));
        assert_eq!(names(&table), ["x0", "x1", "x2"]);
        assert_eq!(numbers(&table.columns[1].cells), [2.0, 5.0]);
    }
    let half = write::npy("'<f2'", false, &[1, 2], &[0x00, 0x3e, 0x00, 0xc0]);
    let table = table(open_named("x.npy", &half, &defaults()));
    assert_eq!(numbers(&table.columns[0].cells), [1.5]);
}

#[test]
fn bytes_of_three_or_four_dimensions_are_images() {
    let x = write::npy("'|u1'", false, &[2, 1, 2, 3], &(0..12).collect::<Vec<u8>>());
    let y = write::npy("'|i1'", false, &[2], &[255, 4]);
    let file = write::zip(&[("X.npy", &x), ("y.npy", &y)], true);
    let set = images(open_named("a.npz", &file, &defaults()));
    assert_eq!(
        (set.height, set.width, set.channels, set.len()),
        (1, 2, 3, 2)
    );
    assert_eq!(set.image(1), [6, 7, 8, 9, 10, 11]);
    assert_eq!(set.labels, [None, Some("4".into())], "-1 is not labelled");
    let single = write::npy("'|u1'", false, &[2, 2, 2], &[9; 8]);
    assert_eq!(
        images(open_named("a.npy", &single, &defaults())).channels,
        1
    );
    let floats = write::npy_f32(&[1, 2, 2], &[0.0; 4]);
    refused(
        open_named("a.npy", &floats, &defaults()),
        &["[1, 2, 2]", "uint8"],
    );
}

#[test]
fn arrays_that_cannot_be_read_are_explained() {
    let bad = |descr: &str, parts: &[&str]| {
        let file = write::npy(descr, false, &[1, 1], &[0; 64]);
        refused(open_named("x.npy", &file, &defaults()), parts);
    };
    bad("[('a', '<f4'), ('b', '<i2')]", &["structures", "field"]);
    bad("'|O'", &["Python objects", "astype"]);
    bad("'<c8'", &["`<c8`", "float32"]);
    bad("'<M8[ns]'", &["`<M8[ns]`"]);
    let whole = write::npy_f32(&[2, 2], &[1.0; 4]);
    refused(
        open_named("x.npy", &whole[..whole.len() - 1], &defaults()),
        &["cut short"],
    );
    refused(
        open_named("x.npy", &whole[..9], &defaults()),
        &["cut short"],
    );
    let huge = write::npy("'<f8'", false, &[usize::MAX / 2, 3], &[]);
    refused(open_named("x.npy", &huge, &defaults()), &["cut short"]);
    // Found by the fuzzer: a small file that would be a large table.
    for texts in ["'<U0'", "'|S0'"] {
        let empty = write::npy(texts, false, &[1 << 60], &[]);
        refused(open_named("x.npy", &empty, &defaults()), &["no bytes"]);
    }
    let none = write::npy_f32(&[0, 3], &[]);
    refused(open_named("x.npy", &none, &defaults()), &["no rows"]);
    refused(
        open_named(
            "x.npz",
            &write::zip(&[("a.npy", b"hello hello")], true),
            &defaults(),
        ),
        &["array `a`", "not a NumPy array"],
    );
}

#[test]
fn a_wrong_checksum_is_noticed() {
    let x = write::npy_f32(&[3, 2], &[1.5; 6]);
    for compressed in [false, true] {
        let mut file = write::zip(&[("X.npy", &x)], compressed);
        open_named("x.npz", &file, &defaults()).unwrap();
        // The checksums of the array's header and of the archive's list.
        let mut crc = flate2::Crc::new();
        crc.update(&x);
        let right = crc.sum().to_le_bytes();
        for place in 0..file.len() - 4 {
            if file[place..place + 4] == right {
                file[place] ^= 1;
            }
        }
        refused(
            open_named("x.npz", &file, &defaults()),
            &["x.npz", "damaged", "again"],
        );
    }
}

#[test]
fn a_cut_or_endless_npz_is_refused() {
    let x = write::npy("'|u1'", false, &[1000, 1000], &vec![0; 1_000_000]);
    let file = write::zip(&[("X.npy", &x)], true);
    assert!(
        file.len() < 10_000,
        "a small file that unpacks to a million"
    );
    let tight = ReadOptions {
        most_bytes: 999_999,
        ..defaults()
    };
    refused(
        open_named("x.npz", &file, &tight),
        &["999999 bytes", "`data.most_bytes`"],
    );
    refused(
        open_named("x.npz", &file[..file.len() / 2], &defaults()),
        &["x.npz", "cut short or damaged"],
    );
    // A wrong size: both headers declare less than there is.
    let size = (x.len() as u32).to_le_bytes();
    let mut lying = file.clone();
    for place in 0..lying.len() - 4 {
        if lying[place..place + 4] == size {
            lying[place..place + 4].copy_from_slice(&1000u32.to_le_bytes());
        }
    }
    assert_ne!(lying, file);
    assert!(open_named("x.npz", &lying, &tight).is_err());
}
