//! Bad data: a clear error and a non-zero exit code, nothing overwritten, no panic.

mod sandbox;

use flate2::{Compression, write::GzEncoder};
use sandbox::{SMALL, Sandbox, two_clouds};
use std::io::Write;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("in memory");
    encoder.finish().expect("in memory")
}

/// `fit` on a table must fail, and must leave nothing behind.
fn refused(table: &str, arguments: &[&str]) -> String {
    let sandbox = Sandbox::new();
    sandbox.write("t.csv", table);
    let error = sandbox.error(&[&["fit", "t.csv", "--out", "run"], &SMALL[..], arguments].concat());
    assert_eq!(sandbox.files("run"), [], "{error}");
    // A second line may name flags.
    error.lines().next().unwrap_or_default().to_string()
}

#[test]
fn files_that_are_not_there() {
    let sandbox = Sandbox::new();
    assert_eq!(
        sandbox.error(&["fit", "mnits"]),
        "there is no file or folder `mnits`, and no built-in data set of that name (there are \
         half-moon, glyphs, mnist, svhn, norb, celeba)"
    );
    assert_eq!(
        sandbox.error(&["fit", "mnist"]),
        "the MNIST file train-images-idx3-ubyte (or train-images-idx3-ubyte.gz) not found: \
         looked in [DIR]/cache/cpcvae/mnist, [DIR]/cache/cpcvae/, \
         [DIR]/cache/cpcvae/MNIST/raw. Fetch it (`fetch_mnist`), or name another folder\n  \
         hint: `cpcvae data fetch mnist` fetches it; --data-dir names the folder that has it"
    );
    assert_eq!(
        sandbox.error(&["fit", "half-moon", "-c", "no.toml"]),
        "the settings in no.toml cannot be read\n  because: No such file or directory (os \
         error 2)"
    );
    assert_eq!(
        sandbox.error(&["evaluate", "no-run", "half-moon"]),
        "there is no run folder no-run; `cpcvae fit` makes one"
    );
    assert_eq!(
        sandbox.error(&["data", "info", "mnits"]),
        "there is no built-in data set `mnits`; the names are: half-moon, glyphs, mnist, svhn, norb, celeba"
    );
}

#[test]
fn tables_that_cannot_be_read() {
    let label = ["--label", "kind"];
    assert_eq!(refused("", &label), "t.csv: the file is empty");
    assert_eq!(
        refused("a,kind\n", &label),
        "t.csv: the table has a header, but no rows"
    );
    assert_eq!(
        refused("a,kind\n1,x\n2\n", &label),
        "t.csv, line 3: 1 cells where the header has 2; every line needs as many (is the \
         delimiter right?)"
    );
    assert_eq!(
        refused("a,kind\n1,x\nfoo,y\n", &label),
        "t.csv, row 2, column `a`: `foo` is text among numbers, and the column is read as a \
         number; correct it, leave it blank, call that value missing (`data.missing`), declare \
         another kind of column (`data.columns`), or leave the column out (`data.ignore`)"
    );
    assert_eq!(
        refused("a,kind\n1,x\ninf,y\n", &label),
        "t.csv, row 2, column `a`: `inf` is not a finite number, and the column is read as a \
         number; correct it, leave it blank, call that value missing (`data.missing`), declare \
         another kind of column (`data.columns`), or leave the column out (`data.ignore`)"
    );
    assert_eq!(
        refused("a,kind\n1,x\n,y\n", &label),
        "t.csv: 1 of 2 rows have no value in any feature column (rows 2); remove them"
    );
    assert_eq!(
        refused(&two_clouds(20, 5), &["--label", "kin"]),
        "t.csv, header: there is no label column `kin`; the columns are: id, width, height, \
         kind"
    );
    assert_eq!(
        refused(&two_clouds(20, 5), &[]),
        "t.csv: which column holds the labels? Name it; rows without a label are left blank in it; \
         columns that look like labels: `kind` (2 values, 50% of the rows blank)"
    );
}

#[test]
fn hints_name_the_flags_of_what_can_be_done() {
    let sandbox = Sandbox::new();
    let hint = |table: &str, arguments: &[&str]| {
        sandbox.write("t.csv", table);
        let error = sandbox.error(&[&["fit", "t.csv", "--out", "run"], arguments].concat());
        let (_, hint) = error.split_once("hint: ").expect("there is one");
        hint.to_string()
    };
    let label = ["--label", "kind"];
    assert_eq!(
        hint("a,kind\n1,x\nfoo,y\n", &label),
        "`--missing foo`, `--column a=category` or `--ignore a`"
    );
    let several = hint("a,b,kind\n1,2,x\nfoo,bar,y\n", &label);
    assert!(
        several.contains("--ignore NAME leaves a column out"),
        "{several}"
    );
    assert_eq!(
        hint(&two_clouds(20, 5), &[]),
        "--label COLUMN names it; --method vae trains without labels"
    );
}

#[test]
fn compressed_tables_that_are_damaged() {
    let sandbox = Sandbox::new();
    let whole = gzip(two_clouds(200, 50).as_bytes());
    sandbox.write("cut.csv.gz", &whole[..whole.len() / 2]);
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 0x55;
    sandbox.write("flipped.csv.gz", &flipped);
    for file in ["cut.csv.gz", "flipped.csv.gz"] {
        let error = sandbox.error(&["fit", file, "--label", "kind", "--out", "run"]);
        assert!(error.contains(file), "{error}");
        assert_eq!(sandbox.files("run"), []);
    }
    sandbox.write("whole.csv.gz", whole);
    sandbox.fit(&["whole.csv.gz", "--label", "kind", "--ignore", "id"]);
}

#[test]
fn labels_that_do_not_suffice() {
    let label = ["--label", "kind", "--ignore", "id"];
    let with = |more: &[&'static str]| [&label[..], more].concat();
    // All labels blank, one class, every row labelled, fewer labels than classes.
    assert_eq!(
        refused(&two_clouds(20, 0), &label),
        "cannot split the rows: no row of `t` has a label; name the label column, or check \
         which value marks unlabelled rows"
    );
    let one_class = two_clouds(20, 5).replace("red wine", "white");
    assert_eq!(
        refused(&one_class, &label),
        "cannot split the rows: all labels are `white`; telling classes apart needs at least \
         two"
    );
    assert_eq!(
        refused(&two_clouds(20, 10), &with(&["--labels", "20"])),
        "cannot split the rows: all 20 training rows are labelled and none is left \
         unlabelled; add rows without a label, use fewer of the labels, or choose a method \
         that learns from labels only"
    );
    assert_eq!(
        refused(&two_clouds(20, 5), &with(&["--labels", "1"])),
        "cannot split the rows: 1 labels cannot cover 2 classes; use at least one label a \
         class"
    );
    assert_eq!(
        refused(&two_clouds(20, 5), &with(&["--labels", "12"])),
        "cannot split the rows: 12 labels, equally many a class, need 6 of class `red wine`, \
         which has 5; use at most 10 labels, or all that there are"
    );
    assert_eq!(
        refused(&two_clouds(20, 5), &with(&["--test", "9"])),
        "cannot split the rows: 9 rows for validation and test were asked for, but of 10 rows \
         with a label 2 must stay for training, which leaves 8; hold out fewer rows"
    );
    assert_eq!(
        refused(&two_clouds(20, 5), &with(&["--task", "regress"])),
        "t.csv, row 1, label column `kind`: `red wine` is not a finite number; a \
         label to regress is a number, or blank when it is not known"
    );
}

#[test]
fn an_error_of_the_split_names_the_flags() {
    let sandbox = Sandbox::new();
    sandbox.write("t.csv", two_clouds(20, 10));
    let error = sandbox.error(&[
        "fit", "t.csv", "--label", "kind", "--ignore", "id", "--labels", "20",
    ]);
    assert!(
        error.contains("hint: --label names the label column, --labels N"),
        "{error}"
    );
}

#[test]
fn idx_files_that_are_damaged() {
    let sandbox = Sandbox::new();
    let images = "data/mnist/train-images-idx3-ubyte";
    let fit = [
        "fit",
        "mnist",
        "--data-dir",
        "data",
        "--validation",
        "0",
        "--out",
        "run",
    ];
    write_mnist(&sandbox, 4, 40);
    let whole = sandbox.read(images);
    let mut long = whole.clone();
    long.push(0);
    let mut magic = whole.clone();
    magic[2] = 9;
    sandbox.write(images, &whole[..whole.len() - 1]);
    assert_eq!(
        sandbox.error(&fit),
        "data/mnist/train-images-idx3-ubyte: the IDX header [40, 4, 4] asks for 640 bytes, \
         but only 639 follow: it is cut short; get the file again"
    );
    sandbox.write(images, long);
    assert_eq!(
        sandbox.error(&fit),
        "data/mnist/train-images-idx3-ubyte: the IDX header [40, 4, 4] asks for 640 bytes, \
         but more follow; get the file again"
    );
    sandbox.write(images, magic);
    assert_eq!(
        sandbox.error(&fit),
        "data/mnist/train-images-idx3-ubyte: IDX values of type 0x09 are not supported; only \
         unsigned bytes (0x08) are"
    );
    let compressed = gzip(&whole);
    sandbox.write(&format!("{images}.gz"), &compressed[..compressed.len() - 9]);
    let error = sandbox.error(&fit);
    assert!(error.contains("train-images-idx3-ubyte.gz"), "{error}");
    assert_eq!(sandbox.files("run"), []);
}

#[test]
fn images_of_another_size() {
    let sandbox = Sandbox::new();
    sandbox.fit(&[
        "glyphs",
        "--set",
        "data.rows=100",
        "--code",
        "8",
        "--out",
        "glyph",
    ]);
    write_mnist(&sandbox, 4, 40);
    assert_eq!(
        sandbox.error(&["predict", "glyph", "mnist", "--data-dir", "data"]),
        "`mnist` does not fit the model: it has images of 4 x 4 x 1, the model was trained \
         on images of 28 x 28 x 1"
    );
    // Small images train as well as large ones.
    sandbox.fit(&[
        "mnist",
        "--data-dir",
        "data",
        "--labels",
        "4",
        "--validation",
        "0",
        "--code",
        "8",
        "--out",
        "run",
    ]);
    sandbox.ok(&["evaluate", "run", "mnist", "--data-dir", "data"]);
}

/// Four IDX files of small grey squares in two classes.
fn write_mnist(sandbox: &Sandbox, side: u8, rows: u8) {
    for part in ["train", "t10k"] {
        let pixels = usize::from(side) * usize::from(side);
        let mut images = vec![0, 0, 8, 3, 0, 0, 0, rows, 0, 0, 0, side, 0, 0, 0, side];
        let mut labels = vec![0, 0, 8, 1, 0, 0, 0, rows];
        for row in 0..rows {
            images.extend(vec![(row % 2) * 200 + row; pixels]);
            labels.push(row % 2);
        }
        sandbox.write(&format!("data/mnist/{part}-images-idx3-ubyte"), images);
        sandbox.write(&format!("data/mnist/{part}-labels-idx1-ubyte"), labels);
    }
}
