//! Damaged files of every format: an error or a result, never a panic.

use super::{matlab, open_named, write};
use cpcvae_data::ReadOptions;
use proptest::prelude::*;

fn whole_files() -> Vec<(&'static str, Vec<u8>)> {
    let (x, y) = matlab::two_images();
    let x_npy = write::npy_f32(&[3, 2], &[1.0; 6]);
    let y_npy = write::npy_texts(&["a", "b", "c"]);
    let arrays: &[(&str, &[u8])] = &[("X.npy", &x_npy), ("y.npy", &y_npy)];
    let png = write::png(5, 4, &[1, 2, 3]);
    vec![
        ("t.csv", b"a;b\n\"1\";2\n3;4\n".to_vec()),
        ("t.csv.gz", write::gzip(b"a,b\n1,2\n")),
        ("t.csv.zst", write::zstd(b"a,b\n1,2\n")),
        ("t.npy", x_npy.clone()),
        ("t.npz", write::zip(arrays, true)),
        ("t.npz", write::zip(arrays, false)),
        (
            "t.zip",
            write::zip(&[("a.png", &png), ("b/b.png", &png)], true),
        ),
        ("t.mat", matlab::file(&[x, y])),
        #[cfg(feature = "h5ad")]
        ("t.h5ad", super::anndata::file("dense", 3)),
        #[cfg(feature = "h5ad")]
        ("t.h5ad", super::anndata::file("csr_matrix", 3)),
        #[cfg(feature = "parquet")]
        (
            "t.parquet",
            super::parquet_tables::animals(parquet::basic::Compression::SNAPPY, 2),
        ),
    ]
}

/// How many damaged copies of each file are tried; the environment may raise it.
fn cases() -> u32 {
    let asked = std::env::var("CPCVAE_CASES")
        .ok()
        .and_then(|cases| cases.parse().ok());
    asked.unwrap_or(24)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn changed_and_cut_files(
        places in prop::collection::vec((0.0f64..1.0, any::<u8>()), 1..4),
        cut in prop::option::of(0.0f64..1.0),
    ) {
        let options = ReadOptions { most_bytes: 1 << 20, ..ReadOptions::default() };
        for (name, mut file) in whole_files() {
            for (place, byte) in &places {
                let place = (place * file.len() as f64) as usize;
                file[place] = *byte;
            }
            if let Some(cut) = cut {
                file.truncate((cut * file.len() as f64) as usize);
            }
            if let Err(message) = open_named(name, &file, &options) {
                prop_assert!(message.contains(name), "{}", message);
            }
        }
    }
}
