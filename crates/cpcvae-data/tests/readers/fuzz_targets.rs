//! The fuzz targets: untrusted bytes as a file of each format. `fuzz/` runs them under libFuzzer;
//! `cargo test` reads the corpora with them.

use cpcvae_data::{
    DataConfig, Layout, Opened, RawTable, ReadOptions, Split, Table, TableOptions, TaskSetting,
    UserFile, open_path,
};
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// The function that a fuzzer calls with its bytes.
pub type Target = fn(&Place, &[u8]);

/// The targets: name (also of the corpus folder) and function.
pub const TARGETS: [(&str, Target); 14] = [
    ("csv", |place, bytes| place.open("t.csv", bytes)),
    ("gz", |place, bytes| place.open("t.csv.gz", bytes)),
    ("zst", |place, bytes| place.open("t.csv.zst", bytes)),
    ("parquet", |place, bytes| place.open("t.parquet", bytes)),
    ("npy", |place, bytes| place.open("t.npy", bytes)),
    ("npz", |place, bytes| place.open("t.npz", bytes)),
    ("h5ad", |place, bytes| place.open("t.h5ad", bytes)),
    ("zip", |place, bytes| place.open("t.zip", bytes)),
    ("idx", |place, bytes| {
        place.open("t-images-idx3-ubyte", bytes)
    }),
    ("mat", |place, bytes| place.open("t.mat", bytes)),
    ("image", image),
    ("image-labels", image_labels),
    ("labels", labels),
    ("split", |place, bytes| {
        let _ = Split::load(place.write("split.json", bytes));
    }),
];

/// A folder where files are written before they are opened.
pub struct Place {
    folder: PathBuf,
    /// Files that stay open: creating one for every input would take longer than reading it.
    files: Mutex<HashMap<PathBuf, File>>,
}

impl Place {
    /// An existing folder, used for nothing else.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            files: Mutex::default(),
        }
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.folder.join(name);
        let mut files = self.files.lock().expect("one thread");
        let file = files.entry(path.clone()).or_insert_with(|| {
            let folder = path.parent().expect("it is in the folder");
            fs::create_dir_all(folder).expect("the folder can be written to");
            File::create(&path).expect("the folder can be written to")
        });
        file.rewind().expect("it is a file");
        file.write_all(bytes).expect("there is space");
        file.set_len(bytes.len() as u64).expect("it is a file");
        path
    }

    /// Reads a file of that name, and processes it as `fit` would.
    fn open(&self, name: &str, bytes: &[u8]) {
        read(&self.write(name, bytes), &limits());
    }
}

/// Small limits, so that files that ask for more are refused.
fn limits() -> ReadOptions {
    ReadOptions {
        most_bytes: 4 << 20,
        most_memory: 64 << 20,
        ..ReadOptions::default()
    }
}

fn read(path: &Path, options: &ReadOptions) {
    match open_path(path, options) {
        Ok(Opened::Table(raw)) => understand(&raw),
        Ok(Opened::Images(images)) => {
            let _ = images.to_dataset();
        }
        Ok(Opened::ImagesWithTest { rows, test }) => {
            let _ = (rows.to_dataset(), test.to_dataset());
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Reads a table without labels, with its last column as label, and with its columns given, as for
/// new rows of a model.
fn understand(raw: &RawTable) {
    let Ok(table) = Table::new(raw, &TableOptions::default()) else {
        return;
    };
    let _ = table.data.check_values();
    let Layout::Columns(columns) = &table.data.layout else {
        panic!("a table has columns");
    };
    let known = TableOptions {
        features: Some(columns.clone()),
        ..TableOptions::default()
    };
    let again = Table::new(raw, &known).expect("a table has the columns that were found in it");
    assert_eq!(again.data.len(), table.data.len());
    let last = raw.columns.iter().chain(&raw.beside).last();
    let _ = Table::new(
        raw,
        &TableOptions {
            labels: last.map(|column| column.name.clone()).into_iter().collect(),
            ..TableOptions::default()
        },
    );
}

/// One image by its content; the first byte chooses the extension.
fn image(place: &Place, bytes: &[u8]) {
    let Some((kind, rest)) = bytes.split_first() else {
        return;
    };
    let ending = ["png", "jpg", "bmp", "tif"][usize::from(kind % 4)];
    place.write(&format!("{ending}/a.{ending}"), rest);
    let sized = ReadOptions {
        size: (kind & 4 != 0).then_some(3),
        gray: kind & 8 != 0,
        ..limits()
    };
    read(&place.folder.join(ending), &sized);
}

/// The table of labels of two images.
fn image_labels(place: &Place, bytes: &[u8]) {
    let folder = place.folder.join("labelled");
    if !folder.exists() {
        fs::create_dir(&folder).expect("the folder can be written to");
        let one_pixel = Layout::Image {
            height: 1,
            width: 1,
            channels: 1,
        };
        let png = cpcvae_data::png(&[0.5], &one_pixel).expect("a pixel");
        for name in ["a.png", "b.png"] {
            fs::write(folder.join(name), &png).expect("the folder can be written to");
        }
    }
    let options = ReadOptions {
        labels_file: Some(place.write("labels.txt", bytes)),
        ..limits()
    };
    read(&folder, &options);
}

/// Labels, one a line: as classes, as numbers, and as guessed.
fn labels(place: &Place, bytes: &[u8]) {
    let mut text = "x,label\n".to_string();
    let lines = String::from_utf8_lossy(bytes);
    for (row, label) in lines.lines().take(2000).enumerate() {
        text += &format!("{row},\"{}\"\n", label.replace('"', "\"\""));
    }
    let path = place.write("l.csv", text.as_bytes());
    for task in [
        TaskSetting::Auto,
        TaskSetting::Classify,
        TaskSetting::Regress,
    ] {
        let data = DataConfig {
            label: vec!["label".into()],
            task,
            ..DataConfig::of(&path.display().to_string())
        };
        let opened = UserFile::open(&path, &data, true);
        let _ = opened.and_then(|file| file.into_source(&data));
    }
}
