//! The program `cpcvae`; all of it is in the library.
#![forbid(unsafe_code)]

use std::process::ExitCode;

/// Training allocates and frees large buffers at every step, which the system's allocator does
/// slowly.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    ExitCode::from(cpcvae_cli::run(std::env::args_os().skip(1)).0)
}
