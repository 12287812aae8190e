//! Labels of images: from a table, and from the IDX files beside them.

use super::images::folder;
use super::{images, open, refused, write};
use cpcvae_data::{FileKind, Idx, Opened, ReadOptions, write_idx};
use std::path::Path;

fn defaults() -> ReadOptions {
    ReadOptions::default()
}

fn with_table(content: &str, label_names: &[&str]) -> Result<Opened, String> {
    let there = folder(&[
        ("images/one/1.png", write::png(1, 1, &[1])),
        ("images/two/2.png", write::png(1, 1, &[2])),
        ("images/two/3.png", write::png(1, 1, &[3])),
        ("labels.csv", content.into()),
    ]);
    let options = ReadOptions {
        labels_file: Some(there.path().join("labels.csv")),
        label_names: label_names.iter().map(|name| name.to_string()).collect(),
        ..defaults()
    };
    open(&there.path().join("images"), &options)
}

#[test]
fn labels_come_from_a_table() {
    let some =
        |labels: [&str; 3]| labels.map(|label| (!label.is_empty()).then(|| label.to_string()));
    let by_path = images(with_table(
        "label,file\ncat,one/1.png\ndog,3.png\nowl,gone.png\n",
        &[],
    ));
    assert_eq!(by_path.labels, some(["cat", "", "dog"]));
    assert_eq!(by_path.skipped[0].0, "gone.png");
    let by_id = images(with_table(
        "image_id,age,kind\n1,3,a\n2,4,\n3,5,b\n",
        &["kind"],
    ));
    assert_eq!(by_id.labels, some(["a", "", "b"]));
    let celeba = "3\nMale Smiling\n1.png -1  1\n2.png  1 1\n3.png -1 -1\n";
    assert_eq!(
        images(with_table(celeba, &["Smiling"])).labels,
        some(["1", "1", "-1"])
    );
    let both = images(with_table(celeba, &["Male", "Smiling"]));
    assert_eq!(
        both.labels,
        some([
            "Male=-1 Smiling=1",
            "Male=1 Smiling=1",
            "Male=-1 Smiling=-1"
        ])
    );
}

#[test]
fn tables_of_labels_that_do_not_fit_are_explained() {
    refused(
        with_table("file,label\n8.png,a\n", &[]),
        &["none of its files", "`8.png`", "`one/1.png`"],
    );
    refused(
        with_table("file,label\n1.png,a\n1.png,b\n", &[]),
        &["`1.png` is there twice"],
    );
    refused(
        with_table("file,age,size\n1.png,a,b\n", &[]),
        &["which column is the label", "age"],
    );
    refused(
        with_table("file,age,size\n1.png,a,b\n", &["kind"]),
        &["no label column `kind`"],
    );
    refused(
        with_table("1\nMale Smiling\n1.png 1\n", &["Male"]),
        &["line 3", "2 values for 2 names"],
    );
    let there = folder(&[
        ("images/a/1.png", write::png(1, 1, &[1])),
        ("images/b/1.png", write::png(1, 1, &[2])),
        ("labels.csv", b"file,label\n1.png,x\n".to_vec()),
    ]);
    let options = ReadOptions {
        labels_file: Some(there.path().join("labels.csv")),
        ..defaults()
    };
    refused(
        open(&there.path().join("images"), &options),
        &["`1.png` could be", "`b/1.png`"],
    );
}

fn write_pair(folder: &Path, prefix: &str, count: usize, labels: &[u8]) {
    let images = Idx {
        sizes: vec![count, 2, 2],
        bytes: (0..count as u8 * 4).collect(),
    };
    let labels = Idx {
        sizes: vec![labels.len()],
        bytes: labels.to_vec(),
    };
    write_idx(
        folder.join(format!("{prefix}-images-idx3-ubyte.gz")),
        &images,
    )
    .unwrap();
    write_idx(
        folder.join(format!("{prefix}-labels-idx1-ubyte.gz")),
        &labels,
    )
    .unwrap();
}

#[test]
fn idx_pairs_and_folders_of_four() {
    let there = tempfile::tempdir().unwrap();
    let there = there.path();
    write_pair(there, "train", 2, &[7, 10]);
    let images_file = there.join("train-images-idx3-ubyte.gz");
    let set = images(open(&images_file, &defaults()));
    assert_eq!(set.labels, [Some("7".into()), Some("10".into())]);
    assert_eq!(set.to_dataset().unwrap().class_names(), ["7", "10"]);
    let small = ReadOptions {
        size: Some(1),
        ..defaults()
    };
    assert_eq!(images(open(&images_file, &small)).pixels.len(), 2);

    let labels_file = there.join("train-labels-idx1-ubyte.gz");
    refused(open(&labels_file, &defaults()), &["holds labels"]);
    write_pair(there, "t10k", 1, &[3]);
    let Ok(Opened::ImagesWithTest { rows, test }) = open(there, &defaults()) else {
        panic!("not two sets");
    };
    assert_eq!(
        (rows.len(), test.len(), &test.labels[0]),
        (2, 1, &Some("3".into()))
    );

    // A folder around that folder is not such a folder.
    assert_eq!(FileKind::of(there).unwrap(), FileKind::IdxFolder);
    let around = tempfile::tempdir().unwrap();
    std::fs::create_dir(around.path().join("mnist")).unwrap();
    write_pair(&around.path().join("mnist"), "train", 1, &[3]);
    write_pair(&around.path().join("mnist"), "t10k", 1, &[3]);
    assert_eq!(FileKind::of(around.path()).unwrap(), FileKind::ImageFolder);

    let other = ReadOptions {
        labels_file: Some(there.join("t10k-labels-idx1-ubyte.gz")),
        ..defaults()
    };
    refused(open(&images_file, &other), &["2 images", "1 labels"]);
    std::fs::remove_file(&labels_file).unwrap();
    assert_eq!(images(open(&images_file, &defaults())).labels, [None, None]);
}
