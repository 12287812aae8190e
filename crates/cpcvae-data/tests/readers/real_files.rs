//! Real files, where the folder named by `CPCVAE_DATA` has them.

use super::{images, names, numbers, open, table};
use cpcvae_data::{Cells, Grey, ReadOptions};
use std::collections::HashSet;
use std::path::PathBuf;

fn real(file: &str) -> Option<PathBuf> {
    let path = std::env::var_os("CPCVAE_DATA").map(|folder| PathBuf::from(folder).join(file));
    let path = path.filter(|path| path.exists());
    if path.is_none() {
        println!("skipped: CPCVAE_DATA does not name a folder with {file}");
    }
    path
}

#[test]
fn svhn_in_colour_normalises_to_the_grey_images() {
    let Some(path) = real("svhn/subset_test_32x32.mat") else {
        return;
    };
    let set = images(open(&path, &ReadOptions::default()));
    assert_eq!(
        (set.len(), set.height, set.width, set.channels),
        (1500, 32, 32, 3)
    );
    assert_eq!(set.class_names().join(""), "0123456789");
    let Some(grey) = real("svhn/gray-test-images-idx3-ubyte.gz") else {
        return;
    };
    let grey = images(open(&grey, &ReadOptions::default()));
    assert_eq!(grey.labels[..1500], set.labels[..]);
    // The grey files were made by another program from the same images.
    let normalised = set
        .contrast_normalised(Some(Grey::Luminance), 1 << 30)
        .unwrap();
    let pairs = normalised.pixels.iter().zip(grey.pixels.iter());
    let difference: u64 = pairs.map(|(a, b)| u64::from(a.abs_diff(*b))).sum();
    let mean = difference as f64 / normalised.pixels.len() as f64;
    assert!(
        mean < 0.01,
        "the mean difference is {mean} of 255 grey levels"
    );
}

#[test]
fn blood_cells_are_the_same_in_npz_and_h5ad() {
    let Some(path) = real("pbmc/pbmc68k_reduced.npz") else {
        return;
    };
    let arrays = table(open(&path, &ReadOptions::default()));
    assert_eq!(
        (
            arrays.rows,
            arrays.columns.len(),
            arrays.beside[0].name.as_str()
        ),
        (700, 765, "y")
    );
    if cfg!(not(feature = "h5ad")) {
        return;
    }
    let Some(path) = real("pbmc/pbmc68k_reduced.h5ad") else {
        return;
    };
    let cells = table(open(&path, &ReadOptions::default()));
    assert_eq!((cells.rows, cells.columns.len()), (700, 765));
    assert_eq!(names(&cells)[..2], ["HES4", "TNFRSF4"]);
    for (a, b) in arrays.columns.iter().zip(&cells.columns) {
        assert_eq!(numbers(&a.cells), numbers(&b.cells), "{}", b.name);
    }
    // The labels are the same classes, as numbers in one file and as names in the other.
    let Cells::Texts(kinds) = &cells.column("bulk_labels").unwrap().cells else {
        panic!("labels are texts");
    };
    let numbered = numbers(&arrays.beside[0].cells);
    let pairs: HashSet<(u64, &String)> = numbered.iter().map(|y| *y as u64).zip(kinds).collect();
    assert_eq!(pairs.len(), 10);
    assert_eq!(
        pairs
            .iter()
            .map(|(_, kind)| kind)
            .collect::<HashSet<_>>()
            .len(),
        10
    );
}

#[test]
fn celeba_in_its_zip_with_its_list_of_attributes() {
    let Some(path) = real("celeba/img_align_celeba.zip") else {
        return;
    };
    let options = ReadOptions {
        size: Some(64),
        gray: true,
        labels_file: real("celeba/list_attr_celeba.txt"),
        label_names: vec!["Male".into(), "Smiling".into()],
        ..ReadOptions::default()
    };
    let set = images(open(&path, &options));
    assert_eq!(
        (set.len(), set.height, set.channels, set.skipped.len()),
        (10_000, 64, 1, 0)
    );
    let count = |label: &str| {
        set.labels
            .iter()
            .flatten()
            .filter(|found| *found == label)
            .count()
    };
    let counts = set
        .class_names()
        .iter()
        .map(|name| count(name))
        .collect::<Vec<_>>();
    assert_eq!(counts, [2618, 3165, 2560, 1657]);
}

#[test]
fn tables_of_two_thousand_to_twenty_thousand_rows() {
    for (file, rows, columns) in [
        ("tabular/letter.csv.gz", 20_000, 17),
        ("tabular/optdigits.csv.gz", 5_620, 63),
    ] {
        let Some(path) = real(file) else { return };
        let table = table(open(&path, &ReadOptions::default()));
        assert_eq!((table.rows, table.columns.len()), (rows, columns));
        assert_eq!(names(&table).last(), Some(&"class"));
    }
}
