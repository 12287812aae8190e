//! Ctrl-C: the first asks for a stop with a checkpoint, the second stops at once.

use anyhow::Context;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a shell reports of a program ended by Ctrl-C.
pub const EXIT_CODE: u8 = 130;

/// Whether a stop was asked for. Can be watched once a process.
pub fn watch() -> anyhow::Result<Arc<AtomicBool>> {
    let asked = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&asked);
    ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::SeqCst) {
            std::process::exit(i32::from(EXIT_CODE));
        }
        eprintln!("stopping after this step (Ctrl-C again stops at once)");
    })
    .context("Ctrl-C cannot be watched for")?;
    Ok(asked)
}
