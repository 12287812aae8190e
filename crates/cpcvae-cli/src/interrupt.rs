//! Ctrl-C and SIGTERM: the first signal stops with a checkpoint, the second at once.

use crate::exit::ExitCode;
use anyhow::Context;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// The exit code after Ctrl-C.
const CTRL_C: usize = 130;
/// The exit code after SIGTERM, which batch systems send before they kill.
const TERMINATED: usize = 143;

/// The exit code for the signal received.
static CODE: OnceLock<Arc<AtomicUsize>> = OnceLock::new();

/// Whether a stop was asked for. Handlers can be installed once per process.
pub(crate) fn watch() -> anyhow::Result<Arc<AtomicBool>> {
    let code = CODE.get_or_init(|| Arc::new(AtomicUsize::new(CTRL_C)));
    let asked = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&asked);
    ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::SeqCst) {
            std::process::exit(CTRL_C as i32);
        }
        crate::printer::say("stopping after this step (Ctrl-C again stops at once)");
    })
    .context("Ctrl-C cannot be watched for")?;
    let term = signal_hook::consts::SIGTERM;
    // In this order: the first signal sets the flag with which the second one stops at once.
    let second = signal_hook::flag::register_conditional_shutdown(
        term,
        TERMINATED as i32,
        Arc::clone(&asked),
    );
    second
        .and_then(|_| signal_hook::flag::register_usize(term, Arc::clone(code), TERMINATED))
        .and_then(|_| signal_hook::flag::register(term, Arc::clone(&asked)))
        .context("SIGTERM cannot be watched for")?;
    Ok(asked)
}

/// The exit code of a program stopped by a signal.
pub(crate) fn exit_code() -> ExitCode {
    let code = CODE
        .get()
        .map_or(CTRL_C, |code| code.load(Ordering::SeqCst));
    ExitCode::from(code as u8)
}
