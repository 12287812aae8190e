//! Pseudo-labels of real images from a few labels, without a network; skipped with a message where
//! the folder named by `CPCVAE_DATA` does not have the images.
//!
//! `cargo test --release -p cpcvae --test pseudo_label -- --nocapture` prints the figures; with
//! `CPCVAE_ALL_ROWS=1` those of 50,000 images, which take a minute.

use cpcvae::pseudo_label::{ComparedFeatures, Propagation, ensemble, propagate};
use cpcvae_data::{Source, choose_labels, open_mnist, open_svhn};
use std::path::PathBuf;

/// Probabilities from (features, their width, labels, number of classes).
type Classify = fn(&[f32], usize, &[(u32, u32)], usize) -> Vec<f32>;

/// The accuracy on the first rows with `per_class` labels a class, by pixels and by HOG.
fn found(source: &Source, rows: u32, per_class: usize, classify: Classify) -> [f64; 2] {
    let rows: Vec<u32> = (0..rows).collect();
    let data = source.rows.select(&rows);
    let classes = data.class_names().len();
    let class = |row: u32| data.labels.class_of(row).expect("all rows have a class");
    let chosen = choose_labels(&data, &rows, per_class * classes, 0);
    let labels: Vec<(u32, u32)> = chosen.iter().map(|row| (*row, class(*row))).collect();
    [ComparedFeatures::Values, ComparedFeatures::Hog].map(|features| {
        let compared = features.of(data.features.matrix(), &data.layout);
        let class_probs = classify(&compared.values, compared.columns, &labels, classes);
        let is_right = |row: &u32| {
            let class_probs = &class_probs[*row as usize * classes..][..classes];
            let own = class_probs[class(*row) as usize];
            class_probs.iter().all(|p| *p <= own)
        };
        rows.iter().filter(|row| is_right(row)).count() as f64 / rows.len() as f64
    })
}

fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("CPCVAE_DATA").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("skipped: CPCVAE_DATA does not name a folder with MNIST and SVHN");
    }
    folder
}

/// The number of rows to predict.
fn rows(few: u32) -> u32 {
    match std::env::var_os("CPCVAE_ALL_ROWS") {
        Some(_) => 50_000,
        None => few,
    }
}

#[test]
fn hog_tells_more_of_digits_than_pixels() {
    let Some(source) = folder().and_then(|folder| open_mnist(&folder).ok()) else {
        return;
    };
    let propagated: Classify = |features, width, labels, classes| {
        let options = Propagation {
            neighbours: 10,
            alpha: Some(0.999),
        };
        propagate(features, width, labels, classes, &options)
    };
    let [pixels, hog] = found(&source, rows(5000), 10, propagated);
    println!("MNIST, 100 labels: {pixels:.4} by pixels, {hog:.4} by HOG");
    assert!(hog > pixels + 0.01, "{hog} {pixels}");
}

#[test]
fn hog_tells_more_of_house_numbers_than_pixels() {
    let Some(source) = folder().and_then(|folder| open_svhn(&folder).ok()) else {
        return;
    };
    let of_ensemble: Classify =
        |features, width, labels, classes| ensemble(features, width, labels, classes, 10, None);
    let [pixels, hog] = found(&source, rows(4000), 100, of_ensemble);
    println!("SVHN, 1000 labels: {pixels:.4} by pixels, {hog:.4} by HOG");
    assert!(hog > pixels + 0.1, "{hog} {pixels}");
}
