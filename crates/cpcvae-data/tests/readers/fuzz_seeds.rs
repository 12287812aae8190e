//! Makes the seed files of the fuzzers: small ones of every format, no real data. `CPCVAE_UPDATE=1
//! cargo test --release -p cpcvae-data --all-features --test readers seeds` rewrites them.

use super::fuzz_corpora::corpora;
use super::{matlab, write};
use std::fs;

fn seeds() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let table =
        b"size;kind;when;n\n1,5;cat;2024-01-03;1\n;dog;2024-02-29;2\n-3e10;cat;;\n".to_vec();
    let mixed =
        b"id,a,b,c,label\nr1,1.5,true,NaN,x\nr2,?,false,1700000000,\nr3,2,true,3,-1\n".to_vec();
    let counts: String = (0..60)
        .map(|row| format!("{},{}\n", row * row % 97, row % 3))
        .collect();
    let (x, y) = matlab::two_images();
    let x_npy = write::npy_f32(&[3, 2], &[1.0, f32::NAN, -3.5, 0.0, 1e30, 6.0]);
    let y_npy = write::npy_texts(&["a", "", "c"]);
    let arrays: &[(&str, &[u8])] = &[("X.npy", &x_npy), ("y.npy", &y_npy)];
    let (grey, colour) = (write::png(3, 2, &[7]), write::png(3, 2, &[1, 2, 3]));
    let images: &[(&str, &[u8])] = &[("a/1.png", &grey), ("b/2.png", &grey)];
    let idx = [
        &[0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 2][..],
        &[9; 8],
    ]
    .concat();
    let with_kind = |kind: u8, image: &[u8]| [&[kind], image].concat();
    let encoded = |format| {
        let pixels: Vec<u8> = (0..27).map(|value| value * 9).collect();
        let image = image::RgbImage::from_raw(3, 3, pixels).expect("nine pixels");
        let mut bytes = std::io::Cursor::new(Vec::new());
        image
            .write_to(&mut bytes, format)
            .expect("it can be written");
        bytes.into_inner()
    };
    let mut seeds = vec![
        ("csv", "table", table.clone()),
        ("csv", "mixed", mixed.clone()),
        ("csv", "counts", [b"n,kind\n", counts.as_bytes()].concat()),
        (
            "csv",
            "quotes",
            b"a,b\n\"x, y\",\"1\"\"2\"\n\"z\n\",3\n".to_vec(),
        ),
        ("gz", "table", write::gzip(&table)),
        ("zst", "table", write::zstd(&mixed)),
        ("npy", "floats", x_npy.clone()),
        ("npy", "texts", y_npy.clone()),
        (
            "npy",
            "bytes",
            write::npy("'|u1'", true, &[2, 3, 2], &[5; 12]),
        ),
        ("npz", "packed", write::zip(arrays, true)),
        ("npz", "stored", write::zip(arrays, false)),
        ("zip", "images", write::zip(images, true)),
        ("idx", "images", idx.clone()),
        ("idx", "images.gz", write::gzip(&idx)),
        ("mat", "two", matlab::file(&[x, y])),
        ("image", "grey.png", with_kind(0, &grey)),
        ("image", "colour.png", with_kind(12, &colour)),
        (
            "image",
            "colour.jpg",
            with_kind(1, &encoded(image::ImageFormat::Jpeg)),
        ),
        (
            "image",
            "colour.bmp",
            with_kind(6, &encoded(image::ImageFormat::Bmp)),
        ),
        (
            "image",
            "colour.tif",
            with_kind(3, &encoded(image::ImageFormat::Tiff)),
        ),
        (
            "image-labels",
            "table",
            b"file,label\na.png,cat\nb.png,dog\n".to_vec(),
        ),
        (
            "image-labels",
            "attributes",
            b"2\nSmiling Young\na.png  1 -1\nb.png -1  1\n".to_vec(),
        ),
        (
            "labels",
            "classes",
            b"cat\ndog\n\ncat\nNaN\n-1\ndog\ncat\n".to_vec(),
        ),
        (
            "labels",
            "numbers",
            b"1.5\n2.25\n\n-3e4\n1e400\n7\n".to_vec(),
        ),
        (
            "labels",
            "large",
            b"1700000001\n1700000020\n1700000003\n\n1699999999\n".to_vec(),
        ),
        (
            "split",
            "rows",
            br#"{"labelled":[0,2],"unlabelled":[1],"validation":[],"test":[3]}"#.to_vec(),
        ),
    ];
    #[cfg(feature = "h5ad")]
    for kind in ["dense", "csr_matrix", "csc_matrix"] {
        seeds.push(("h5ad", kind, super::anndata::file(kind, 3)));
    }
    #[cfg(feature = "parquet")]
    for (name, codec) in [
        ("plain", parquet::basic::Compression::UNCOMPRESSED),
        ("snappy", parquet::basic::Compression::SNAPPY),
    ] {
        seeds.push(("parquet", name, super::parquet_tables::animals(codec, 2)));
    }
    seeds
}

#[test]
fn seeds_are_those_of_the_corpora() {
    for (target, name, bytes) in seeds() {
        let path = corpora().join(target).join(name);
        if std::env::var_os("CPCVAE_UPDATE").is_some() {
            fs::create_dir_all(path.parent().expect("a folder")).expect("writable");
            fs::write(&path, &bytes).expect("writable");
        }
        assert!(
            path.exists(),
            "{} is not there; see fuzz/README.md",
            path.display()
        );
    }
}
