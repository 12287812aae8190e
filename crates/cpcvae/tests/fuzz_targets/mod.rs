//! The fuzz targets: untrusted files of run folders, checkpoints and settings. `fuzz_corpora.rs`
//! mutates those of the corpora at random.

pub mod mutate;

use cpcvae::Error;
use cpcvae::config::{Layer, Request, RunConfig};
use cpcvae::plan::train_plan;
use cpcvae::prelude::*;
use cpcvae::prepare::Prepared;
use cpcvae::train::{Observer, Parameters, StepReport, TensorFile, TrainingInfo};
use safetensors::SafeTensors;
use std::fs;
use std::path::{Path, PathBuf};

/// The function that a fuzzer calls with its bytes.
pub type Target = fn(&Place, &[u8]);

/// The targets: name (also of the corpus folder) and function.
pub const TARGETS: [(&str, Target); 4] = [
    ("run-folder", run_folder),
    ("tensors", tensors),
    ("checkpoint", checkpoint),
    ("settings", settings),
];

/// Files of a run that hold text, and tensor files with a metadata text: the first byte of the
/// input selects which one is changed.
pub const FILES: [&str; 9] = [
    "config.toml",
    "split.json",
    "report.json",
    "metrics.jsonl",
    "model/answers.json",
    "model/model.safetensors",
    "model/codes.safetensors",
    "model/rows.safetensors",
    "model/members.safetensors",
];

/// The number of tensor files, which come last.
const TENSORS: usize = 5;

/// A finished run, a stopped one, and a folder for changed copies.
pub struct Place {
    folder: PathBuf,
    rows: Dataset,
}

/// Asks for a stop after a number of steps.
struct Stop(u64);

impl Observer for Stop {
    fn on_step(&mut self, report: &StepReport<'_>) {
        self.0 = self.0.saturating_sub(u64::from(report.step > 1));
    }

    fn wants_stop(&mut self) -> bool {
        self.0 == 0
    }
}

impl Watch for Stop {
    fn training(&self, _: &TrainingInfo) -> Box<dyn Observer> {
        Box::new(Stop(self.0))
    }
}

impl Place {
    /// Makes the runs in an existing folder, which is used for nothing else.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        let folder = folder.into();
        let path = folder.join("t.csv");
        let row = |row: usize| {
            let label = ["", "low", "high"][if row.is_multiple_of(2) {
                1 + row / 2 % 2
            } else {
                0
            }];
            let gap = if row.is_multiple_of(7) { "" } else { "1.5" };
            let town = ["Rome", "Bern"][row % 3 % 2];
            format!("{}.25,{gap},{town},{label}\n", row / 2 % 2 * 8 + row % 5)
        };
        let text: String = (0..60).map(row).collect();
        fs::write(&path, format!("a,b,town,kind\n{text}")).expect("writable");
        let rows = Dataset::read(&path, Label::column("kind")).expect("a table");
        let place = Self { folder, rows };
        place.estimator("whole").fit(&place.rows).expect("a run");
        let stopped = place.estimator("stopped");
        let stopped = stopped.fit_watched(&place.rows, &Stop(3));
        assert!(matches!(stopped, Err(Error::Stopped { .. })), "{stopped:?}");
        copy_run(&place.folder.join("whole"), &place.folder.join("asked"));
        place
    }

    fn estimator(&self, name: &str) -> Estimator {
        Estimator::named("cpc")
            .steps(8)
            .hold_out(false)
            .set("train.log_every", 1)
            .set("model.hidden", vec![6])
            .set("model.code", 2)
            .set("ensemble.members", "all")
            .set("ensemble.kept_rows", 100)
            .folder(self.folder.join(name))
    }

    /// The file of the finished run without checksums, as in the corpus.
    pub fn plain(&self, name: &str) -> Vec<u8> {
        let bytes = fs::read(self.folder.join("whole").join(name)).expect("a run has it");
        match bytes.strip_prefix(br#"{"crc32":""#) {
            Some(rest) => [b"{", &rest[10..]].concat(),
            None => bytes,
        }
    }

    /// The metadata text of a tensor file.
    pub fn about(&self, path: &str) -> String {
        let file = TensorFile::load(&self.folder.join(path)).expect("a run has it");
        file.about
    }

    /// Loads the finished run with one file changed, and calls all methods.
    fn ask_with(&self, name: &str, change: impl FnOnce(&Path)) {
        let path = self.folder.join("asked").join(name);
        change(&path);
        ask(&self.folder.join("asked"), self);
        // Only what was changed is put back: copying the whole run would take most of the time.
        fs::copy(self.folder.join("whole").join(name), path).expect("writable");
    }
}

/// An unchanged copy of a run, without the checksums of files that may be changed.
fn copy_run(from: &Path, to: &Path) {
    let _ = fs::remove_dir_all(to);
    copy_folder(from, to);
    let _ = fs::remove_file(to.join("files.json"));
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir(to).expect("writable");
    for entry in fs::read_dir(from).expect("readable") {
        let path = entry.expect("readable").path();
        let there = to.join(path.file_name().expect("named"));
        match path.is_dir() {
            true => copy_folder(&path, &there),
            false => fs::copy(&path, there).map(|_| ()).expect("writable"),
        }
    }
}

/// Loads the run and calls all of its methods.
fn ask(folder: &Path, place: &Place) {
    let Ok(fitted) = Fitted::load(folder) else {
        return;
    };
    let Ok(rows) = fitted.read(place.folder.join("t.csv")) else {
        return;
    };
    let few = rows.select(&[0, 1, 7]);
    let _ = fitted.predict(&few);
    let _ = fitted.impute(&few, Filling::Mean, 2);
    let _ = fitted.sample(3);
    let _ = fitted.suggest(&few, 2);
    let _ = fitted.evaluate(&few);
    let _ = (fitted.verdict(), fitted.html_report(&place.rows));
}

/// One file of a run with another text.
fn run_folder(place: &Place, bytes: &[u8]) {
    let Some((which, text)) = bytes.split_first() else {
        return;
    };
    let which = usize::from(*which) % FILES.len();
    place.ask_with(FILES[which], |path| {
        if which < TENSORS {
            fs::write(path, text).expect("writable");
        } else {
            let mut file = TensorFile::load(path).expect("a run has it");
            file.about = String::from_utf8_lossy(text).into_owned();
            file.save(path).expect("writable");
        }
    });
}

/// A tensor file with other bytes and, if it has one, a valid checksum.
fn tensors(place: &Place, bytes: &[u8]) {
    let Some((which, bytes)) = bytes.split_first() else {
        return;
    };
    let which = TENSORS + usize::from(*which) % (FILES.len() - TENSORS);
    place.ask_with(FILES[which], |path| match parsed(bytes) {
        Some(file) => file.save(path).expect("writable"),
        None => fs::write(path, bytes).expect("writable"),
    });
}

/// A checkpoint with another state of the loop, or with other bytes.
fn checkpoint(place: &Place, bytes: &[u8]) {
    let Some((which, rest)) = bytes.split_first() else {
        return;
    };
    let folder = place.folder.join("copy");
    copy_run(&place.folder.join("stopped"), &folder);
    let path = folder.join("checkpoints/last.safetensors");
    match parsed(rest).filter(|_| which % 2 == 1) {
        Some(file) => file.save(&path).expect("writable"),
        None => {
            let mut file = TensorFile::load(&path).expect("the run was stopped");
            file.about = String::from_utf8_lossy(rest).into_owned();
            file.save(&path).expect("writable");
        }
    }
    let _ = place.estimator("copy").resume(true).fit(&place.rows);
}

fn parsed(bytes: &[u8]) -> Option<TensorFile> {
    let (_, metadata) = SafeTensors::read_metadata(bytes).ok()?;
    let (_, about) = metadata
        .metadata()
        .as_ref()?
        .get("cpcvae")?
        .split_once(' ')?;
    let stored = SafeTensors::deserialize(bytes).ok()?;
    let values = |bytes: &[u8]| {
        let words = bytes.chunks_exact(4);
        words
            .map(|word| f32::from_le_bytes(word.try_into().expect("four bytes")))
            .collect()
    };
    let tensors = stored.iter().map(|(name, view)| {
        (
            name.to_string(),
            (view.shape().to_vec(), values(view.data())),
        )
    });
    let tensors: std::collections::BTreeMap<String, (Vec<usize>, Vec<f32>)> = tensors.collect();
    let fits =
        |(shape, values): &(Vec<usize>, Vec<f32>)| shape.iter().product::<usize>() == values.len();
    tensors.values().all(fits).then(|| TensorFile {
        tensors: Parameters(tensors),
        about: about.into(),
    })
}

/// Settings in the format of a run, and as overrides.
fn settings(place: &Place, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let whole = RunConfig::from_toml(&text, "settings");
    let mut request = Request::new(None);
    let asked = Layer::from_toml("settings", &text).and_then(|layer| {
        request.push(layer.context, layer.settings);
        request.settings_for(&place.rows)
    });
    for config in [whole, asked].into_iter().flatten() {
        let again = RunConfig::from_toml(&config.to_toml(), "settings").expect("as it was written");
        assert_eq!(again.to_toml(), config.to_toml());
        let source = Source::from(place.rows.clone());
        if let Ok(prepared) = Prepared::new(source, &config, None) {
            let _ = train_plan(&config, &prepared);
        }
    }
}
