//! Runs long work in parallel to Python: the caller's thread receives progress, and Ctrl-C.

use cpcvae::infer::Evaluation;
use cpcvae::train::{EvaluationReport, Observer, StepReport, TrainingInfo, Watch};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// How often Python is checked for signals.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);

/// Events for the caller's thread.
enum Event {
    Note(String),
    Begin {
        training: usize,
        info: TrainingInfo,
    },
    Step {
        training: usize,
        step: u64,
        steps: u64,
        terms: Vec<(&'static str, f32)>,
    },
    Evaluation {
        training: usize,
        step: u64,
        validation: Box<Evaluation>,
    },
    End {
        training: usize,
    },
}

/// Sends events to the caller's thread.
struct EventSender {
    events: Sender<Event>,
    stop: Arc<AtomicBool>,
    trainings: AtomicUsize,
}

impl Watch for EventSender {
    fn training(&self, info: &TrainingInfo) -> Box<dyn Observer> {
        let training = self.trainings.fetch_add(1, Ordering::SeqCst);
        let info = info.clone();
        // The receiver lives longer than the work.
        let _ = self.events.send(Event::Begin { training, info });
        Box::new(OneTraining {
            events: self.events.clone(),
            stop: Arc::clone(&self.stop),
            training,
        })
    }

    fn note(&self, text: &str) {
        let _ = self.events.send(Event::Note(text.into()));
    }
}

struct OneTraining {
    events: Sender<Event>,
    stop: Arc<AtomicBool>,
    training: usize,
}

impl Observer for OneTraining {
    fn on_step(&mut self, report: &StepReport<'_>) {
        let _ = self.events.send(Event::Step {
            training: self.training,
            step: report.step,
            steps: report.steps,
            terms: [&[("loss", report.loss)], report.terms].concat(),
        });
    }

    fn on_evaluation(&mut self, report: &EvaluationReport<'_>) {
        let _ = self.events.send(Event::Evaluation {
            training: self.training,
            step: report.step,
            validation: Box::new(report.validation.clone()),
        });
    }

    fn wants_stop(&mut self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }
}

impl Drop for OneTraining {
    fn drop(&mut self) {
        let training = self.training;
        let _ = self.events.send(Event::End { training });
    }
}

/// Runs the work on a separate thread, without the interpreter's lock. The caller's thread passes
/// events to `listener` (a method for each kind), and asks for a stop on a signal or an error of
/// the listener, which is returned after the work has ended.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    listener: Option<&Py<PyAny>>,
    work: impl FnOnce(&dyn Watch) -> T + Send,
) -> PyResult<T> {
    let stop = Arc::new(AtomicBool::new(false));
    let (events, received) = channel();
    let sender = EventSender {
        events,
        stop: Arc::clone(&stop),
        trainings: AtomicUsize::new(0),
    };
    py.detach(move || {
        std::thread::scope(|scope| {
            let working = scope.spawn(move || work(&sender));
            let failed = listen(&received, listener, &stop);
            let done = working.join();
            match failed {
                Some(error) => Err(error),
                None => Ok(done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))),
            }
        })
    })
}

/// Passes events on until the work has ended.
fn listen(
    received: &Receiver<Event>,
    listener: Option<&Py<PyAny>>,
    stop: &AtomicBool,
) -> Option<PyErr> {
    let mut failed = None;
    loop {
        let first = match received.recv_timeout(SIGNAL_INTERVAL) {
            Ok(event) => Some(event),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => return failed,
        };
        let events: Vec<Event> = first.into_iter().chain(received.try_iter()).collect();
        if failed.is_some() {
            continue;
        }
        let passed = Python::attach(|py| {
            py.check_signals()?;
            let Some(listener) = listener else {
                return Ok(());
            };
            let listener = listener.bind(py);
            events
                .into_iter()
                .try_for_each(|event| tell(listener, event))
        });
        if let Err(error) = passed {
            stop.store(true, Ordering::SeqCst);
            failed = Some(error);
        }
    }
}

fn tell(listener: &Bound<'_, PyAny>, event: Event) -> PyResult<()> {
    match event {
        Event::Note(text) => listener.call_method1("note", (text,)),
        Event::Begin { training, info } => {
            let arguments = (training, info.name, info.part, info.parts);
            listener.call_method1("begin", arguments)
        }
        Event::Step {
            training,
            step,
            steps,
            terms,
        } => {
            let all = PyDict::new(listener.py());
            for (name, value) in terms {
                all.set_item(name, value)?;
            }
            listener.call_method1("step", (training, step, steps, all))
        }
        Event::Evaluation {
            training,
            step,
            validation,
        } => {
            let text = serde_json::to_string(&validation).unwrap_or_default();
            listener.call_method1("evaluation", (training, step, text))
        }
        Event::End { training } => listener.call_method1("end", (training,)),
    }
    .map(|_| ())
}
