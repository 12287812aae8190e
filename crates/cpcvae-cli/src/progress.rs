//! Progress of training: a bar on a terminal, lines in a log.

use crate::overall_progress::OverallProgress;
use cpcvae::infer::Evaluation;
use cpcvae::train::{
    ConstraintReport, EvaluationReport, Observer, StepReport, TrainingInfo, Watch,
};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const BAR: &str = "{prefix}{bar:24} {percent}%{wide_msg}";
/// Resolution of the bar for a training.
const PARTS: f64 = 1000.0;
/// A log gets a line after this time,
const LONG: Duration = Duration::from_secs(5);
/// or at every 5 %, but not more often than this.
const SHORT: Duration = Duration::from_secs(1);

/// A watch that shows the progress of a complete `fit`.
pub(crate) struct Screen {
    quiet: bool,
    stop: Arc<AtomicBool>,
    /// Of trainings in parallel, one is shown.
    is_shown: Arc<AtomicBool>,
    /// Whether the name of a training is shown even if it is the only one of its kind.
    is_titled: bool,
    overall: Arc<Mutex<OverallProgress>>,
}

impl Screen {
    /// Shows progress unless quiet; trainings stop once `stop` is set.
    pub(crate) fn new(quiet: bool, stop: Arc<AtomicBool>) -> Self {
        Self {
            quiet,
            stop,
            is_shown: Arc::new(AtomicBool::new(false)),
            is_titled: false,
            overall: Arc::default(),
        }
    }

    /// Whether a stop was asked for.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    /// The same with the name of every training: for commands that train several models.
    pub(crate) fn titled(self) -> Self {
        Self {
            is_titled: true,
            ..self
        }
    }
}

impl Watch for Screen {
    fn training(&self, training: &TrainingInfo) -> Box<dyn Observer> {
        let title = match training.parts {
            1 if self.is_titled => training.name.clone(),
            1 => String::new(),
            parts => format!("{} {}/{parts}", training.name, training.part + 1),
        };
        let is_first = !self.is_shown.swap(true, Ordering::SeqCst);
        let quiet = self.quiet || !is_first;
        let mut progress = Progress::new(&title, quiet, Arc::clone(&self.stop), &self.overall);
        progress.is_shown = is_first.then(|| Arc::clone(&self.is_shown));
        Box::new(progress)
    }

    fn plan(&self, trainings: usize) {
        locked(&self.overall).plan(trainings);
    }

    fn note(&self, text: &str) {
        if !self.quiet {
            crate::printer::say(text);
        }
    }
}

/// Shows progress and handles Ctrl-C.
pub(crate) struct Progress {
    display: Display,
    stop: Arc<AtomicBool>,
    validation: String,
    /// Set to false at the end, so that another training is shown.
    is_shown: Option<Arc<AtomicBool>>,
    overall: Arc<Mutex<OverallProgress>>,
    training: usize,
}

/// The data is consistent even if a thread panicked while holding the lock.
fn locked(overall: &Mutex<OverallProgress>) -> std::sync::MutexGuard<'_, OverallProgress> {
    overall
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl Drop for Progress {
    fn drop(&mut self) {
        locked(&self.overall).ends(self.training);
        self.finish();
        if let Some(is_shown) = &self.is_shown {
            is_shown.store(false, Ordering::SeqCst);
        }
    }
}

enum Display {
    Nothing,
    Bar(ProgressBar),
    Lines(Lines),
}

struct Lines {
    name: String,
    last: Option<(u64, Instant)>,
}

impl Progress {
    /// Progress under a name, which may be empty; training stops once `stop` is set.
    fn new(
        name: &str,
        quiet: bool,
        stop: Arc<AtomicBool>,
        overall: &Arc<Mutex<OverallProgress>>,
    ) -> Self {
        let display = if quiet {
            Display::Nothing
        } else if std::io::stderr().is_terminal() {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template(BAR).expect("the template is fixed");
            bar.set_style(style.progress_chars("━╸ "));
            if !name.is_empty() {
                bar.set_prefix(format!("{name:<13}"));
            }
            Display::Bar(bar)
        } else {
            Display::Lines(Lines {
                name: name.into(),
                last: None,
            })
        };
        Self {
            display,
            stop,
            validation: String::new(),
            is_shown: None,
            training: locked(overall).begin(),
            overall: Arc::clone(overall),
        }
    }

    /// Removes the bar from the screen.
    pub(crate) fn finish(&self) {
        if let Display::Bar(bar) = &self.display {
            bar.finish_and_clear();
        }
    }
}

impl Observer for Progress {
    fn on_step(&mut self, report: &StepReport<'_>) {
        let terms = || {
            let terms = report.terms.iter();
            let terms: Vec<String> = terms
                .map(|(name, value)| format!("{name} {value:.3}"))
                .collect();
            format!("{}{}", self.validation, terms.join(", "))
        };
        let (done, trainings, left) = {
            let mut overall = locked(&self.overall);
            let share = report.step as f64 / report.steps.max(1) as f64;
            overall.is_at(self.training, share);
            let left = overall
                .seconds_left()
                .map(|seconds| format!(", {seconds:.0} s left"));
            let (done, trainings) = overall.done();
            (done, trainings, left.unwrap_or_default())
        };
        match &mut self.display {
            Display::Nothing => {}
            Display::Bar(bar) => {
                bar.set_length((PARTS * trainings as f64) as u64);
                bar.set_position((PARTS * done) as u64);
                let (step, steps) = (report.step, report.steps);
                bar.set_message(format!("{left}  step {step}/{steps}: {}", terms()));
            }
            Display::Lines(lines) => lines.on_step(report, &left, terms),
        }
    }

    fn on_evaluation(&mut self, report: &EvaluationReport<'_>) {
        self.validation = format!("validation {}, ", quality(report.validation));
    }

    fn on_constraint(&mut self, report: &ConstraintReport) {
        let line = constraint(report);
        match &self.display {
            Display::Nothing => {}
            Display::Bar(bar) => bar.println(line),
            Display::Lines(_) => crate::printer::say(line),
        }
    }

    fn wants_stop(&mut self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }
}

impl Lines {
    /// `left` is the remaining time of the complete command.
    fn on_step(&mut self, report: &StepReport<'_>, left: &str, terms: impl Fn() -> String) {
        let now = Instant::now();
        if let Some((step, at)) = self.last {
            let marks = |step| 20 * step / report.steps.max(1);
            let waited = now - at;
            let is_mark = marks(step) < marks(report.step) && waited >= SHORT;
            if waited < LONG && !is_mark && report.step != report.steps {
                return;
            }
        }
        self.last = Some((report.step, now));
        let name = match self.name.as_str() {
            "" => String::new(),
            name => format!("{name}: "),
        };
        crate::printer::say(format!(
            "{name}step {}/{}{left}: {}",
            report.step,
            report.steps,
            terms()
        ));
    }
}

/// The main figure in words.
pub(crate) fn quality(evaluation: &Evaluation) -> String {
    match (evaluation.accuracy, evaluation.r_squared, evaluation.elbo) {
        (Some(accuracy), ..) => format!("accuracy {}", crate::printer::percent(accuracy)),
        (_, Some(r_squared), _) => format!("R2 {r_squared:.3}"),
        (.., Some(elbo)) => format!("ELBO {elbo:.3}"),
        _ => "not measured".into(),
    }
}

/// Whether a constraint holds, in words.
pub(crate) fn constraint(report: &ConstraintReport) -> String {
    use cpcvae::train::ConstraintMeasure;
    let (name, relation) = match (report.measure, report.satisfied) {
        (ConstraintMeasure::Loss, true) => ("loss", "<="),
        (ConstraintMeasure::Loss, false) => ("loss", ">"),
        (ConstraintMeasure::Accuracy, true) => ("accuracy", ">="),
        (ConstraintMeasure::Accuracy, false) => ("accuracy", "<"),
    };
    let verdict = if report.satisfied {
        "satisfied"
    } else {
        "not satisfied"
    };
    format!(
        "constraint {verdict}: {name} {} {relation} {} on labelled rows, lambda {}",
        rounded(report.value),
        report.target,
        rounded(report.multiplier)
    )
}

/// Four decimals, or scientific notation for small values.
fn rounded(value: f64) -> String {
    match value.abs() {
        size if size > 0.0 && size < 0.001 => format!("{value:.2e}"),
        _ => format!("{value:.4}"),
    }
}
