//! Event files for TensorBoard: every term, validation and samples of a training.

mod events;
mod pictures;
#[doc(hidden)]
pub mod proto;
#[doc(hidden)]
pub mod record;

use crate::error::Result;
use crate::estimator::Fitted;
use crate::infer::{CodeSource, Evaluation};
use crate::train::{ConstraintReport, EvaluationReport, Observer, StepReport, TrainingInfo, Watch};
use events::EventFile;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Follows a `fit` and writes event files, one folder per training: `DIR/cpc` for the model itself,
/// `DIR/cpc-1-of-5` and so on for those of the folds. Everything is passed on to another watch.
///
/// An error in writing a file does not end a training: see [`TensorBoard::finish`].
///
/// ```
/// use cpcvae::prelude::*;
/// use cpcvae::tensorboard::TensorBoard;
/// # let rows: Vec<[f32; 2]> =
/// #     (0..60).map(|i| [(i % 2 * 9 + i % 5) as f32, (i % 7) as f32]).collect();
/// # let labels = (0..60).map(|i| (i < 20).then_some(["low", "high"][i % 2]));
/// # let data = Dataset::from_rows(&rows, Labels::classes(labels))?;
/// # let folder = std::env::temp_dir().join(format!("cpcvae-doc-board-{}", std::process::id()));
/// let board = TensorBoard::new(&folder, &Silent);
/// let fitted = Pc::new().steps(50).hold_out(false).fit_watched(&data, &board)?;
/// board.finish(&fitted)?;
/// assert_eq!(std::fs::read_dir(folder.join("pc")).expect("a folder").count(), 1);
/// # std::fs::remove_dir_all(&folder).ok();
/// # Ok::<(), cpcvae::Error>(())
/// ```
pub struct TensorBoard<'a> {
    folder: PathBuf,
    inner: &'a dyn Watch,
    problem: Problem,
    /// The model's own file, which is continued after its training.
    own: Arc<Mutex<Option<EventFile>>>,
}

/// The first error.
type Problem = Arc<Mutex<Option<crate::Error>>>;

impl<'a> TensorBoard<'a> {
    /// Writes into the folder, which is created with the first file.
    pub fn new(folder: impl AsRef<Path>, inner: &'a dyn Watch) -> Self {
        Self {
            folder: folder.as_ref().into(),
            inner,
            problem: Problem::default(),
            own: Arc::default(),
        }
    }

    /// The first error in writing, if there was one.
    pub fn problem(&self) -> Result<()> {
        lock(&self.problem).take().map_or(Ok(()), Err)
    }

    /// Adds the final figures on test rows and on held-out labels, and samples of an image model.
    /// Returns the first error in writing, if there was one.
    pub fn finish(&self, fitted: &Fitted) -> Result<()> {
        self.problem()?;
        let report = fitted.report();
        let step = report.fit.kept_step;
        let mut own = lock(&self.own);
        let file = match own.as_mut() {
            Some(file) => file,
            // Nothing was trained: a finished run was opened.
            None => own.insert(EventFile::new(&self.folder.join(&fitted.card().method))?),
        };
        let test = report.test.iter().flat_map(|test| figures("test", test));
        let held_out = fitted.calibration().held_out.iter();
        let held_out = held_out.filter_map(|figures| {
            let accuracy = figures.accuracy.as_ref()?;
            Some(("held_out/accuracy".to_string(), accuracy.value))
        });
        let numbers: Vec<(String, f64)> = test.chain(held_out).collect();
        if !numbers.is_empty() {
            file.numbers(step, numbers.into_iter())?;
        }
        let inference = &fitted.trained().inference;
        match pictures::samples(inference, CodeSource::Fitted)? {
            Some(picture) => file.image(step, "samples/of the kept model", picture),
            None => Ok(()),
        }
    }
}

impl Watch for TensorBoard<'_> {
    fn training(&self, training: &TrainingInfo) -> Box<dyn Observer> {
        let inner = self.inner.training(training);
        let is_own = training.parts == 1 && lock(&self.own).is_none();
        let name = match training.parts {
            1 => training.name.clone(),
            parts => format!("{}-{}-of-{parts}", training.name, training.part + 1),
        };
        let plain = |c: char| if c.is_alphanumeric() { c } else { '-' };
        let name: String = name.chars().map(plain).collect();
        let file = match EventFile::new(&self.folder.join(name)) {
            Ok(file) => Some(file),
            Err(problem) => {
                lock(&self.problem).get_or_insert(problem);
                None
            }
        };
        let place = match is_own {
            true => Arc::clone(&self.own),
            false => Arc::default(),
        };
        *lock(&place) = file;
        Box::new(Follower {
            inner,
            file: place,
            problem: Arc::clone(&self.problem),
        })
    }

    fn note(&self, text: &str) {
        self.inner.note(text);
    }
}

/// Observes one training.
struct Follower {
    inner: Box<dyn Observer>,
    file: Arc<Mutex<Option<EventFile>>>,
    problem: Problem,
}

impl Follower {
    /// Writes, unless writing has failed before.
    fn write(&self, write: impl FnOnce(&mut EventFile) -> Result<()>) {
        let mut file = lock(&self.file);
        let Some(Err(problem)) = file.as_mut().map(write) else {
            return;
        };
        *file = None;
        lock(&self.problem).get_or_insert(problem);
    }
}

impl Observer for Follower {
    fn on_step(&mut self, report: &StepReport<'_>) {
        let terms = report.terms.iter();
        let terms = terms.map(|(name, value)| (format!("train/{name}"), f64::from(*value)));
        let multiplier = report
            .multiplier
            .map(|lambda| ("train/multiplier".into(), lambda));
        let loss = ("train/loss".to_string(), f64::from(report.loss));
        let numbers = std::iter::once(loss).chain(terms).chain(multiplier);
        self.write(|file| file.numbers(report.step, numbers));
        self.inner.on_step(report);
    }

    fn on_evaluation(&mut self, report: &EvaluationReport<'_>) {
        let numbers = figures("validation", report.validation);
        self.write(|file| {
            file.numbers(report.step, numbers)?;
            match pictures::samples(report.model, CodeSource::Prior)? {
                Some(picture) => file.image(report.step, "samples/from the prior", picture),
                None => Ok(()),
            }
        });
        self.inner.on_evaluation(report);
    }

    fn on_constraint(&mut self, report: &ConstraintReport) {
        self.inner.on_constraint(report);
    }

    fn wants_stop(&mut self) -> bool {
        self.inner.wants_stop()
    }
}

/// Figures by their names.
fn figures(of: &str, evaluation: &Evaluation) -> impl Iterator<Item = (String, f64)> {
    let named = [
        ("accuracy", evaluation.accuracy),
        ("log_loss", evaluation.log_loss),
        ("rmse", evaluation.rmse),
        ("r_squared", evaluation.r_squared),
        ("elbo", evaluation.elbo),
    ];
    let of = of.to_string();
    let known = named
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)));
    known.map(move |(name, value)| (format!("{of}/{name}"), value))
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
