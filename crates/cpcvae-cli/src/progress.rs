//! Progress of training: a bar on a terminal, lines in a log.

use cpcvae::infer::Evaluation;
use cpcvae::train::{
    ConstraintReport, EvaluationReport, Observer, StepReport, TrainingInfo, Watch,
};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const BAR: &str = "{prefix}{bar:24} {human_pos}/{human_len} steps, {eta} left  {wide_msg}";
/// A log gets a line after this long,
const LONG: Duration = Duration::from_secs(5);
/// or at every 5 %, but not in quicker succession than this.
const SHORT: Duration = Duration::from_secs(1);

/// The screen as one who follows a whole `fit`.
pub struct Screen {
    quiet: bool,
    stop: Arc<AtomicBool>,
    /// Of trainings at once, one shows how far it is.
    is_shown: Arc<AtomicBool>,
    /// Whether a training is named though it is the only one of its kind.
    is_titled: bool,
}

impl Screen {
    /// Shows progress unless quiet; trainings stop once `stop` is set.
    pub fn new(quiet: bool, stop: Arc<AtomicBool>) -> Self {
        Self {
            quiet,
            stop,
            is_shown: Arc::new(AtomicBool::new(false)),
            is_titled: false,
        }
    }

    /// Whether a stop was asked for.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    /// The same, naming every training: for commands that train several models.
    pub fn titled(self) -> Self {
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
        let mut progress = Progress::new(&title, quiet, Arc::clone(&self.stop));
        progress.is_shown = is_first.then(|| Arc::clone(&self.is_shown));
        Box::new(progress)
    }

    fn note(&self, text: &str) {
        if !self.quiet {
            crate::printer::say(text);
        }
    }
}

/// Shows progress and hears Ctrl-C.
pub struct Progress {
    display: Display,
    stop: Arc<AtomicBool>,
    validation: String,
    /// To be set to false at the end: another training may be shown then.
    is_shown: Option<Arc<AtomicBool>>,
}

impl Drop for Progress {
    fn drop(&mut self) {
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
    start: Option<(u64, Instant)>,
    last: Option<(u64, Instant)>,
}

impl Progress {
    /// Progress under a name, which may be empty; training stops once `stop` is set.
    pub fn new(name: &str, quiet: bool, stop: Arc<AtomicBool>) -> Self {
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
                start: None,
                last: None,
            })
        };
        Self {
            display,
            stop,
            validation: String::new(),
            is_shown: None,
        }
    }

    /// Takes the bar off the screen.
    pub fn finish(&self) {
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
        match &mut self.display {
            Display::Nothing => {}
            Display::Bar(bar) => {
                if bar.length().is_none() {
                    // A run that goes on does so from where it was.
                    bar.set_position(report.step);
                    bar.reset_eta();
                }
                bar.set_length(report.steps);
                bar.set_position(report.step);
                bar.set_message(terms());
            }
            Display::Lines(lines) => lines.on_step(report, terms),
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
    fn on_step(&mut self, report: &StepReport<'_>, terms: impl Fn() -> String) {
        let now = Instant::now();
        let (first, start) = *self.start.get_or_insert((report.step, now));
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
        let done = (report.step - first) as f64;
        let left = match done {
            0.0 => String::new(),
            done => {
                let seconds =
                    (now - start).as_secs_f64() / done * (report.steps - report.step) as f64;
                format!(", {seconds:.0} s left")
            }
        };
        crate::printer::say(format!(
            "{name}step {}/{}{left}: {}",
            report.step,
            report.steps,
            terms()
        ));
    }
}

/// The figure that matters most, in words.
pub fn quality(evaluation: &Evaluation) -> String {
    match (evaluation.accuracy, evaluation.r_squared, evaluation.elbo) {
        (Some(accuracy), ..) => format!("accuracy {}", crate::printer::percent(accuracy)),
        (_, Some(r_squared), _) => format!("R2 {r_squared:.3}"),
        (.., Some(elbo)) => format!("ELBO {elbo:.3}"),
        _ => "not measured".into(),
    }
}

/// Whether a constraint holds, in words.
pub fn constraint(report: &ConstraintReport) -> String {
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

/// Four decimals, or the power of ten where they would show nothing.
fn rounded(value: f64) -> String {
    match value.abs() {
        size if size > 0.0 && size < 0.001 => format!("{value:.2e}"),
        _ => format!("{value:.4}"),
    }
}
