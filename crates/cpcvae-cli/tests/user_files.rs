//! Users' own files and folders: every kind from `fit` to predictions.

mod sandbox;

use sandbox::{SMALL, Sandbox};

/// An uncompressed bitmap of 8-bit colour.
fn bitmap(side: usize, colour: impl Fn(usize, usize) -> [u8; 3]) -> Vec<u8> {
    let line = (3 * side).next_multiple_of(4);
    let size = 54 + line * side;
    let mut bytes = b"BM".to_vec();
    for word in [size, 0, 54, 40, side, side] {
        bytes.extend((word as u32).to_le_bytes());
    }
    bytes.extend([1, 0, 24, 0]);
    bytes.resize(54, 0);
    for y in (0..side).rev() {
        let start = bytes.len();
        for x in 0..side {
            let [red, green, blue] = colour(x, y);
            bytes.extend([blue, green, red]);
        }
        bytes.resize(start + line, 0);
    }
    bytes
}

/// Warm and cold images in folders of their class, and as many without one.
fn photos(sandbox: &Sandbox, each: usize) {
    for number in 0..each {
        let shade = (10 * number % 60) as u8;
        let warm = bitmap(8, |x, _| [250 - shade, 20 + 2 * x as u8, shade]);
        let cold = bitmap(8, |_, y| [shade, 20 + 2 * y as u8, 250 - shade]);
        sandbox.write(&format!("photos/warm/{number}.bmp"), &warm);
        sandbox.write(&format!("photos/cold/{number}.bmp"), &cold);
        let unknown = if number % 2 == 0 { &warm } else { &cold };
        sandbox.write(&format!("photos/unlabeled/{number}.bmp"), unknown);
    }
}

/// The array as a NumPy file.
fn npy(kind: &str, shape: &str, bytes: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}");
    let header = format!("{header:<117}\n");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(bytes);
    file
}

const QUICK: [&str; 3] = ["--no-crossfit", "--out", "run"];

#[test]
fn a_folder_of_images_from_fit_to_every_answer() {
    let sandbox = Sandbox::new();
    photos(&sandbox, 12);
    sandbox.write("photos/warm/broken.bmp", b"BM");
    let fit = ["fit", "photos", "--size", "6", "--test", "0"];
    let answer = sandbox.run(&[&fit[..], &QUICK, &SMALL].concat());
    assert_eq!(answer.code, 0, "{answer:?}");
    for part in [
        "36 images of 6 x 6 pixels in colour, 24 of them with a label (2 classes)",
        "`warm/broken.bmp` is left out",
    ] {
        assert!(answer.err.contains(part), "{}", answer.err);
    }
    let config = String::from_utf8(sandbox.read("run/config.toml")).expect("text");
    assert!(config.contains("size = 6"), "{config}");
    assert!(config.contains("likelihood = \"noise-normal\""), "{config}");
    assert!(config.contains("source = \"ensemble\""), "{config}");

    // Images of another size and without folders are converted to the model's size.
    sandbox.write("new/a.bmp", bitmap(20, |_, _| [240, 30, 20]));
    sandbox.write("new/b.bmp", bitmap(20, |_, _| [20, 30, 240]));
    let predicted = sandbox.ok(&["predict", "run", "new"]);
    let lines: Vec<&str> = predicted.lines().collect();
    assert!(
        lines[0].starts_with("row,file,label,p_cold,p_warm"),
        "{predicted}"
    );
    assert!(lines[1].starts_with("0,a.bmp,") && lines[2].starts_with("1,b.bmp,"));
    assert!(sandbox.ok(&["encode", "run", "new"]).contains("1,b.bmp,"));
    assert!(
        sandbox
            .ok(&["score", "run", "new", "--samples", "2"])
            .contains("0,a.bmp,")
    );
    let evaluated = sandbox.ok(&["evaluate", "run", "photos"]);
    assert!(evaluated.contains("36 (24 with a label)"), "{evaluated}");
    let suggested = sandbox.ok(&["suggest", "run", "photos", "-n", "40"]);
    assert_eq!(suggested.lines().count(), 13, "{suggested}");
    assert!(
        suggested
            .lines()
            .skip(1)
            .all(|line| line.contains("unlabeled/"))
    );
    sandbox.ok(&["reconstruct", "run", "photos", "--out", "grid.png"]);

    let strict = sandbox.error(&["predict", "run", "photos", "--strict"]);
    assert!(strict.contains("broken.bmp"), "{strict}");
    let error = sandbox.error(&["evaluate", "run", "new"]);
    assert!(error.contains("no image has a label") && error.contains("--labels-file"));
    let error = sandbox.error(&["impute", "run", "photos"]);
    assert_eq!(
        error,
        "missing cells are filled in tables, and this model was trained on images"
    );
    let error = sandbox.error(&["fit", "new", "--out", "none"]);
    assert!(error.contains("no image has a label") && error.contains("--method vae"));
    sandbox.write("t.csv", "a\n1\n");
    let error = sandbox.error(&["predict", "run", "t.csv"]);
    assert!(error.contains("is a table, but the model was trained on images of 6 x 6"));
}

#[test]
fn grey_and_contrast_are_the_models_own() {
    let sandbox = Sandbox::new();
    photos(&sandbox, 8);
    sandbox.write(
        "labels.csv",
        "file,mood\nwarm/0.bmp,hot\nwarm/1.bmp,hot\ncold/0.bmp,icy\n",
    );
    let fit = ["photos", "--gray", "--contrast", "--test", "0"];
    let labels = ["--labels-file", "labels.csv", "--label", "mood"];
    sandbox.fit(&[&fit[..], &labels, &QUICK].concat());
    // Contrasts are made alike, so a brighter copy of an image is the same to the model.
    let draw = |light: u8| bitmap(8, move |x, y| [light + 8 * x as u8, light + 8 * y as u8, 0]);
    sandbox.write("new/dark.bmp", draw(0));
    sandbox.write("new/bright.bmp", draw(80));
    let text = sandbox.ok(&["predict", "run", "new"]);
    let cells: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(cells[0][2..5], ["label", "p_hot", "p_icy"]);
    assert_eq!(cells[1][2..5], cells[2][2..5], "{text}");
    let evaluated = sandbox.ok(&["evaluate", "run", "photos"]);
    assert!(evaluated.contains("24 (3 with a label)"), "{evaluated}");
    let suggested = sandbox.ok(&["suggest", "run", "photos", "-n", "99"]);
    assert_eq!(suggested.lines().count(), 22, "{suggested}");
}

#[test]
fn arrays_are_tables_or_images() {
    let sandbox = Sandbox::new();
    let pixels: Vec<u8> = (0..20 * 16).map(|i| (i * 7 % 251) as u8).collect();
    sandbox.write("images.npy", npy("|u1", "(20, 4, 4)", &pixels));
    sandbox.fit(&["images.npy", "--method", "vae", "--out", "images"]);
    let config = String::from_utf8(sandbox.read("images/config.toml")).expect("text");
    assert!(config.contains("likelihood = \"noise-normal\""), "{config}");
    let predicted = sandbox.ok(&["encode", "images", "images.npy"]);
    assert!(
        predicted.starts_with("row,mean_0"),
        "numbered images have no names: {predicted}"
    );

    let numbers: Vec<u8> = (0..60u16)
        .flat_map(|i| (f32::from(i * 13 % 29) / 10.0).to_le_bytes())
        .collect();
    sandbox.write("rows.npy", npy("<f4", "(20, 3)", &numbers));
    sandbox.fit(&["rows.npy", "--method", "vae", "--out", "rows"]);
    let codes = sandbox.ok(&["encode", "rows", "rows.npy"]);
    assert_eq!(codes.lines().count(), 21);
    let filled = sandbox.ok(&["impute", "rows", "rows.npy"]);
    assert!(filled.starts_with("x0,x1,x2\n0,1.3,2.6\n"), "{filled}");
    let error = sandbox.error(&["encode", "rows", "images.npy"]);
    assert!(
        error.contains("holds images, but the model was trained on the table"),
        "{error}"
    );
}
