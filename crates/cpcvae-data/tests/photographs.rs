//! SVHN and CelebA, where `CPCVAE_DATA` has their files.

use cpcvae_data::{Layout, Rows, open_celeba, open_svhn};
use std::path::PathBuf;

/// The folder of real data, if it has these files.
fn data_with(files: &[&str]) -> Option<PathBuf> {
    let folder = PathBuf::from(std::env::var_os("CPCVAE_DATA")?);
    let all = files.iter().all(|file| folder.join(file).is_file());
    all.then_some(folder)
}

#[test]
fn all_of_svhn_in_grey() {
    let Some(folder) = data_with(&["svhn/gray-train-images-idx3-ubyte.gz"]) else {
        return;
    };
    let source = open_svhn(folder).expect("whole files");
    let test = source.test.expect("the official test set");
    assert_eq!((source.rows.len(), test.len()), (73_257, 26_032));
    // As published: 4,948 zeros and 13,861 ones for training.
    let count = |class| {
        let rows = 0..source.rows.len() as u32;
        rows.filter(|row| source.rows.labels.class_of(*row) == Some(class))
            .count()
    };
    assert_eq!((count(0), count(1)), (4948, 13_861));
}

/// The official colour files give the same images as the grey files.
#[test]
fn colour_files_become_the_grey_ones() {
    let subset = ["subset_train_32x32.mat", "subset_test_32x32.mat"];
    let files = subset.map(|file| format!("svhn/{file}"));
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let Some(folder) = data_with(&files) else {
        return;
    };
    // Under the official names, in a folder without grey files.
    let official = tempfile::tempdir().expect("a temporary folder");
    for (file, name) in files.iter().zip(["train_32x32.mat", "test_32x32.mat"]) {
        std::fs::copy(folder.join(file), official.path().join(name)).expect("a copy");
    }
    let colour = open_svhn(official.path()).expect("the official layout");
    let grey = open_svhn(folder).expect("grey files");
    let mut sum = 0.0;
    for row in 0..500 {
        assert_eq!(
            colour.rows.labels.class_of(row),
            grey.rows.labels.class_of(row)
        );
        let pixels = |data: &cpcvae_data::Dataset| data.features.row(row as usize);
        let pairs = pixels(&colour.rows).into_iter().zip(pixels(&grey.rows));
        sum += pairs.map(|(a, b)| f64::from((a - b).abs())).sum::<f64>();
    }
    // The grey files were made from other crops of the same photographs.
    let mean = sum / (500.0 * 1024.0) * 255.0;
    assert!(mean < 0.5, "{mean} grey levels apart");
}

#[test]
fn a_part_of_celeba() {
    let files = ["celeba/img_align_celeba.zip", "celeba/list_attr_celeba.txt"];
    let Some(folder) = data_with(&files) else {
        return;
    };
    let source = open_celeba(&folder, false).expect("whole files");
    let test = source.test.expect("the last faces");
    let layout = Layout::Image {
        height: 64,
        width: 64,
        channels: 3,
    };
    assert_eq!(
        (&source.rows.layout, source.rows.features.columns()),
        (&layout, 64 * 64 * 3)
    );
    let count = |class| {
        let of = |data: &cpcvae_data::Dataset| {
            let rows = 0..data.len() as u32;
            rows.filter(|row| data.labels.class_of(*row) == Some(class))
                .count()
        };
        of(&source.rows) + of(&test)
    };
    assert_eq!(source.rows.class_names()[1], "woman smiling");
    let grey = open_celeba(&folder, true).expect("whole files");
    assert!(matches!(
        grey.rows.layout,
        Layout::Image { channels: 1, .. }
    ));
    assert_eq!(grey.rows.len(), source.rows.len());
    if source.rows.len() + test.len() == 10_000 {
        assert_eq!(
            [count(0), count(1), count(2), count(3)],
            [2618, 3165, 2560, 1657]
        );
    }
}
