//! Folders and zips of images.

use super::{images, open, open_named, refused, write};
use cpcvae_data::{Opened, ReadOptions};

fn defaults() -> ReadOptions {
    ReadOptions::default()
}

pub fn folder(files: &[(&str, Vec<u8>)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    folder
}

fn zipped(files: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let files: Vec<(&str, &[u8])> = files
        .iter()
        .map(|(name, file)| (*name, &file[..]))
        .collect();
    write::zip(&files, true)
}

fn animals() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("dogs/deep/b.png", write::png(2, 3, &[200])),
        ("cats/a.PNG", write::png(2, 3, &[10])),
        ("unlabeled/c.png", write::png(2, 3, &[30, 40, 50])),
        ("d.png", write::png(2, 3, &[60])),
        (".hidden/e.png", vec![1]),
        ("__MACOSX/cats/a.png", vec![1]),
        ("cats/notes.txt", b"hello".to_vec()),
    ]
}

#[test]
fn sub_folders_are_classes_in_folders_and_zips_alike() {
    let files = animals();
    let there = folder(&files);
    let from_folder = images(open(there.path(), &defaults()));
    let from_zip = images(open_named("animals.zip", &zipped(&files), &defaults()));
    for set in [from_folder, from_zip] {
        assert_eq!(
            set.files,
            ["cats/a.PNG", "d.png", "dogs/deep/b.png", "unlabeled/c.png"]
        );
        assert_eq!(
            set.labels,
            [Some("cats".into()), None, Some("dogs".into()), None]
        );
        // One image is in colour, so all are.
        assert_eq!((set.height, set.width, set.channels), (3, 2, 3));
        assert_eq!(set.image(0), [10; 18]);
        assert_eq!(set.image(3)[..3], [30, 40, 50]);
        assert_eq!(set.class_names(), ["cats", "dogs"]);
        assert!(set.skipped.is_empty());
    }
}

#[test]
fn a_folder_around_everything_is_no_class() {
    let files = vec![
        ("img/1.png", write::png(1, 1, &[1])),
        ("img/2.png", write::png(1, 1, &[2])),
    ];
    let set = images(open_named("a.zip", &zipped(&files), &defaults()));
    assert_eq!(
        (set.files.join(" "), set.labels),
        ("1.png 2.png".into(), vec![None, None])
    );
}

#[test]
fn train_and_test_are_no_classes() {
    let there = folder(&[
        ("set/train/cat/1.png", write::png(1, 1, &[1])),
        ("set/train/unlabelled/2.png", write::png(1, 1, &[2])),
        ("set/test/cat/3.png", write::png(1, 1, &[3])),
    ]);
    let Ok(Opened::ImagesWithTest { rows, test }) = open(there.path(), &defaults()) else {
        panic!("not two sets");
    };
    assert_eq!(rows.labels, [Some("cat".into()), None]);
    assert_eq!(
        (test.labels, test.pixels.to_vec()),
        (vec![Some("cat".into())], vec![3])
    );
}

#[test]
fn sizes_must_agree_or_be_given() {
    let there = folder(&[
        ("a.png", write::png(4, 4, &[10])),
        ("b.png", write::png(9, 6, &[20, 20, 20])),
    ]);
    refused(
        open(there.path(), &defaults()),
        &["`a.png` is 4x4", "`b.png` 9x6", "`data.size`"],
    );
    let fitted = ReadOptions {
        size: Some(3),
        gray: true,
        ..defaults()
    };
    let set = images(open(there.path(), &fitted));
    assert_eq!((set.height, set.width, set.channels), (3, 3, 1));
    assert_eq!((set.image(0), set.image(1)), (&[10; 9][..], &[20; 9][..]));
    let mapped = ReadOptions {
        memory_budget: 1,
        ..fitted
    };
    assert_eq!(
        images(open(there.path(), &mapped)).pixels[..],
        set.pixels[..]
    );
    let none = ReadOptions {
        size: Some(0),
        ..defaults()
    };
    refused(open(there.path(), &none), &["`data.size` must be"]);
}

#[test]
fn a_damaged_image_is_named_and_left_out_or_refused() {
    let whole = write::png(40, 40, &[1, 2, 3]);
    let files = vec![
        ("cats/a.png", whole.clone()),
        ("cats/cut.png", whole[..whole.len() / 2].to_vec()),
        ("cats/empty.jpg", Vec::new()),
        ("dogs/new.webp", b"RIFF".to_vec()),
    ];
    for opened in [
        open(folder(&files).path(), &defaults()),
        open_named("a.zip", &zipped(&files), &defaults()),
    ] {
        let set = images(opened);
        assert_eq!(
            (set.files.join(" "), set.labels.len(), set.pixels.len()),
            ("cats/a.png".into(), 1, 4800)
        );
        let skipped: Vec<&str> = set.skipped.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(skipped, ["cats/cut.png", "cats/empty.jpg", "dogs/new.webp"]);
        assert!(
            set.skipped[2].1.contains("convert it to PNG"),
            "{:?}",
            set.skipped
        );
    }
    let strict = ReadOptions {
        strict: true,
        ..defaults()
    };
    refused(
        open(folder(&files).path(), &strict),
        &["`cats/cut.png` cannot be decoded", "`data.strict = false`"],
    );
    refused(
        open(folder(&files[1..3]).path(), &defaults()),
        &["none of 2 images", "`cut.png`"],
    );
    refused(open(folder(&[]).path(), &defaults()), &["no images here"]);
    refused(
        open_named("a.png", &whole, &defaults()),
        &["one image", "folder"],
    );
}

#[test]
fn a_jpeg_that_is_cut_short_is_left_out() {
    let whole = write::jpeg(64, 48);
    let cut = whole[..whole.len() * 2 / 3].to_vec();
    let without_end = whole[..whole.len() - 2].to_vec();
    let files = vec![("a.jpg", whole), ("b.jpg", cut), ("c.jpg", without_end)];
    for opened in [
        open(folder(&files).path(), &defaults()),
        open_named("a.zip", &zipped(&files), &defaults()),
    ] {
        let set = images(opened);
        assert_eq!(set.files, ["a.jpg"]);
        let skipped: Vec<&str> = set.skipped.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(skipped, ["b.jpg", "c.jpg"]);
        assert!(set.skipped[0].1.contains("cut short"), "{:?}", set.skipped);
    }
}

/// A PNG of one pixel whose header claims another size.
fn claiming(width: u32, height: u32) -> Vec<u8> {
    let mut file = write::png(1, 1, &[1, 2, 3]);
    file[16..20].copy_from_slice(&width.to_be_bytes());
    file[20..24].copy_from_slice(&height.to_be_bytes());
    let mut crc = flate2::Crc::new();
    crc.update(&file[12..29]);
    file[29..33].copy_from_slice(&crc.sum().to_be_bytes());
    file
}

#[test]
fn an_image_of_too_many_pixels_is_left_out_before_it_is_decoded() {
    let files = vec![
        ("a.png", claiming(20_000, 10_000)),
        ("b.png", write::png(4, 4, &[1])),
    ];
    let sized = ReadOptions {
        size: Some(2),
        ..defaults()
    };
    for opened in [
        open(folder(&files).path(), &sized),
        open_named("a.zip", &zipped(&files), &sized),
    ] {
        let set = images(opened);
        assert_eq!(set.files, ["b.png"]);
        let why = &set.skipped[0].1;
        assert!(
            why.contains("20000x10000 pixels take 600000000 bytes"),
            "{why}"
        );
    }
    // By default a share of the machine's memory.
    let tight = ReadOptions {
        most_memory: 1 << 16,
        ..defaults()
    };
    let large = [("a.png", write::png(200, 200, &[1]))];
    refused(
        open(folder(&large).path(), &tight),
        &["200x200 pixels take"],
    );
}

#[cfg(unix)]
#[test]
fn pipes_among_images_are_named_and_not_waited_for() {
    let there = folder(&[("cats/a.png", write::png(1, 1, &[1]))]);
    let path = there.path().to_path_buf();
    super::pipes::pipe(&path, "b.png", Vec::new());
    let set = super::pipes::soon(move || images(open(&path, &defaults())));
    assert_eq!(set.files, ["a.png"]);
    let (name, why) = &set.skipped[0];
    assert_eq!(
        (name.as_str(), why.as_str()),
        ("b.png", "it is not a regular file")
    );
}

#[cfg(unix)]
#[test]
fn a_folder_is_read_once_however_many_links_lead_to_it() {
    use std::os::unix::fs::symlink;
    let there = folder(&[
        ("set/dogs/a.png", write::png(1, 1, &[1])),
        ("set/cats/b.png", write::png(1, 1, &[2])),
        ("elsewhere/c.png", write::png(1, 1, &[3])),
    ]);
    let set = there.path().join("set");
    symlink(&set, set.join("dogs/round")).unwrap();
    symlink(set.join("dogs"), set.join("also dogs")).unwrap();
    symlink(there.path().join("elsewhere"), set.join("birds")).unwrap();
    let found = images(open(&set, &defaults()));
    assert_eq!(found.files, ["birds/c.png", "cats/b.png", "dogs/a.png"]);
    let skipped: Vec<&str> = found.skipped.iter().map(|(name, _)| &name[..]).collect();
    assert_eq!(skipped, ["also dogs", "dogs/round"]);
}

#[test]
fn a_zip_that_unpacks_to_too_much_is_refused() {
    let files = vec![("a.bmp", vec![0; 1 << 20]), ("b.bmp", vec![0; 1 << 20])];
    let tight = ReadOptions {
        most_bytes: 2 << 20,
        ..defaults()
    };
    refused(
        open_named("a.zip", &zipped(&files), &tight),
        &["none of 2 images"],
    );
    let tighter = ReadOptions {
        most_bytes: (2 << 20) - 1,
        ..defaults()
    };
    refused(
        open_named("a.zip", &zipped(&files), &tighter),
        &["`data.most_bytes`"],
    );
    // An image whose header claims an enormous size.
    let mut huge = write::png(1, 1, &[1]);
    huge[16..24].copy_from_slice(&[0, 1, 0x86, 0xa0, 0, 1, 0x86, 0xa0]);
    let mut crc = flate2::Crc::new();
    crc.update(&huge[12..29]);
    let crc = crc.sum();
    huge[29..33].copy_from_slice(&crc.to_be_bytes());
    refused(
        open(
            folder(&[("a.png", huge)]).path(),
            &ReadOptions {
                size: Some(2),
                ..defaults()
            },
        ),
        &["none of 1 images"],
    );
}
