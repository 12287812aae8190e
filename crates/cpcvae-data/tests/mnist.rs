//! The real MNIST files, where the folder named by `CPCVAE_DATA` has them.

use cpcvae_data::catalog::{Presence, info};
use cpcvae_data::{Split, SplitPlan, open_mnist};

#[test]
fn the_official_files_open_and_split_as_in_the_paper() {
    let Some(folder) = std::env::var_os("CPCVAE_DATA") else {
        println!("skipped: CPCVAE_DATA does not name a folder with MNIST");
        return;
    };
    let source = open_mnist(&folder).unwrap();
    let test = source.test.unwrap();
    assert_eq!(
        (source.rows.len(), test.len(), source.rows.width()),
        (60_000, 10_000, 784)
    );
    assert_eq!(info("mnist", &folder).unwrap().presence, Presence::OnDisk);

    // The published class counts and first labels.
    let count = |class| {
        (0..60_000)
            .filter(|&row| source.rows.labels.class_of(row) == Some(class))
            .count()
    };
    let counts: Vec<usize> = (0..10).map(count).collect();
    assert_eq!(
        counts,
        [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
    );
    let first: Vec<_> = (0..5)
        .map(|row| test.labels.class_of(row).unwrap())
        .collect();
    assert_eq!(first, [7, 2, 1, 0, 4]);
    // The training images' well-known mean pixel.
    let mean = source
        .rows
        .features
        .matrix()
        .values
        .iter()
        .map(|&v| f64::from(v))
        .sum::<f64>()
        / (60_000.0 * 784.0);
    assert!((mean - 0.1307).abs() < 1e-4, "{mean}");

    let split = Split::draw(&source.rows, &SplitPlan::paper_mnist(100, 0)).unwrap();
    split.check(60_000).unwrap();
    let sizes = [
        split.labelled.len(),
        split.unlabelled.len(),
        split.validation.len(),
    ];
    assert_eq!(sizes, [100, 49_900, 10_000]);
}

#[cfg(feature = "fetch")]
#[test]
fn mnist_is_fetched_from_the_public() {
    if std::env::var_os("CPCVAE_TEST_NETWORK").is_none() {
        println!("skipped: CPCVAE_TEST_NETWORK is not set, so nothing is downloaded");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    cpcvae_data::fetch_mnist(folder.path(), &mut |sentence| println!("{sentence}")).unwrap();
    assert_eq!(open_mnist(folder.path()).unwrap().rows.len(), 60_000);
}
