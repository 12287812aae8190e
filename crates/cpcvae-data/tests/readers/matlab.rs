//! MATLAB files in the layout of SVHN.

use super::{images, open_named, refused, write};
use cpcvae_data::ReadOptions;

fn element(kind: u32, bytes: &[u8]) -> Vec<u8> {
    let mut element = [kind.to_le_bytes(), (bytes.len() as u32).to_le_bytes()].concat();
    element.extend(bytes);
    element.resize(element.len().next_multiple_of(8), 0);
    element
}

/// A matrix element; `class` is MATLAB's, `kind` how its elements are stored.
fn matrix(name: &str, class: u8, sizes: &[i32], kind: u32, data: &[u8]) -> Vec<u8> {
    let sizes: Vec<u8> = sizes.iter().flat_map(|size| size.to_le_bytes()).collect();
    // A short name is stored inside its tag.
    let mut short = [1u16.to_le_bytes(), (name.len() as u16).to_le_bytes()].concat();
    short.extend(name.bytes());
    short.resize(8, 0);
    let parts = [
        element(6, &[class, 0, 0, 0, 0, 0, 0, 0]),
        element(5, &sizes),
        short,
        element(kind, data),
    ];
    element(14, &parts.concat())
}

pub fn file(elements: &[Vec<u8>]) -> Vec<u8> {
    let mut file = b"MATLAB 5.0 MAT-file, written by a test".to_vec();
    file.resize(124, b' ');
    file.extend([0, 1, b'I', b'M']);
    file.extend(elements.concat());
    file
}

fn compressed(matrix: &[u8]) -> Vec<u8> {
    let packed = write::zlib(matrix);
    let mut element = [15u32.to_le_bytes(), (packed.len() as u32).to_le_bytes()].concat();
    element.extend(packed);
    element
}

/// Two images of 2 x 1 pixels in colour. Stored with the first dimension fastest.
pub fn two_images() -> (Vec<u8>, Vec<u8>) {
    let x = matrix(
        "X",
        9,
        &[2, 1, 3, 2],
        2,
        &[1, 2, 3, 4, 5, 6, 11, 12, 13, 14, 15, 16],
    );
    (x, matrix("y", 6, &[2, 1], 2, &[10, 3]))
}

#[test]
fn images_are_turned_to_rows_of_pixels_and_ten_is_zero() {
    let (x, y) = two_images();
    for elements in [
        vec![x.clone(), y.clone()],
        vec![compressed(&x), compressed(&y)],
    ] {
        let set = images(open_named(
            "svhn.mat",
            &file(&elements),
            &ReadOptions::default(),
        ));
        assert_eq!(
            (set.height, set.width, set.channels, set.len()),
            (2, 1, 3, 2)
        );
        assert_eq!(set.image(0), [1, 3, 5, 2, 4, 6]);
        assert_eq!(set.image(1), [11, 13, 15, 12, 14, 16]);
        assert_eq!(set.labels, [Some("0".into()), Some("3".into())]);
    }
    // With a class 0, 10 stays 10.
    let y = matrix("y", 6, &[1, 2], 2, &[10, 0]);
    let set = images(open_named("a.mat", &file(&[x, y]), &ReadOptions::default()));
    assert_eq!(set.labels[0].as_deref(), Some("10"));
}

#[test]
fn what_is_not_such_a_file_is_explained() {
    let bad = |content: &[u8], parts: &[&str]| {
        refused(open_named("a.mat", content, &ReadOptions::default()), parts);
    };
    let (x, y) = two_images();
    bad(b"MATLAB 7.3 MAT-file, Platform", &["7.3", "-v7"]);
    bad(b"no header", &["by its name", "level 5"]);
    bad(
        &file(std::slice::from_ref(&y)),
        &["no numeric array `X`", "its arrays: y"],
    );
    let whole = file(&[x.clone(), y]);
    bad(&whole[..whole.len() - 8], &["cut short or damaged"]);
    bad(&whole[..60], &["cut short or damaged"]);
    let squeezed = file(&[compressed(&x)]);
    bad(&squeezed[..squeezed.len() - 6], &["cut short or damaged"]);
    let mut doubles = vec![0; 96];
    doubles[0] = 1;
    bad(
        &file(&[matrix("X", 6, &[2, 1, 3, 2], 9, &doubles)]),
        &["`X` is [2, 1, 3, 2] of F64", "uint8"],
    );
    bad(
        &file(&[x.clone(), matrix("y", 6, &[1, 1], 2, &[1])]),
        &["2 images", "1 labels"],
    );
    let tight = ReadOptions {
        most_bytes: 50,
        ..ReadOptions::default()
    };
    refused(
        open_named("a.mat", &squeezed, &tight),
        &["50 bytes", "`data.most_bytes`"],
    );
}
