//! Emulates AMX instructions on machines without them: a SIGILL handler executes them and
//! continues.
//!
//! So the tests run the real product with its real machine code. Only the instructions of the
//! kernels are emulated; anything else crashes as it would without the emulator.

mod decode;
mod execute;

use decode::decode;
use execute::{Tiles, execute};
use std::cell::RefCell;
use std::ffi::{c_int, c_void};
use std::sync::Once;

thread_local! {
    /// No destructor and no first-time initialisation, so that a signal handler may use it.
    static TILES: RefCell<Tiles> = const { RefCell::new(Tiles::RELEASED) };
}

/// Emulates illegal AMX instructions from now on, on all threads.
pub fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        // SAFETY: a `sigaction` of zeros is valid, and the handler has the signature that
        // `SA_SIGINFO` asks for. Nothing else in a test handles SIGILL.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) =
                on_illegal_instruction;
            action.sa_sigaction = handler as usize;
            action.sa_flags = libc::SA_SIGINFO;
            assert_eq!(
                libc::sigaction(libc::SIGILL, &action, std::ptr::null_mut()),
                0
            );
        }
    });
}

/// Whether the emulated tiles of this thread are not in use.
pub fn tiles_are_released() -> bool {
    TILES.with_borrow(|tiles| !tiles.configured)
}

extern "C" fn on_illegal_instruction(signal: c_int, _: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes a `ucontext_t`, which this handler alone uses.
    let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    let instruction = &mut registers[libc::REG_RIP as usize];
    let start = *instruction as *const u8;
    let mut length = 0;
    // SAFETY: the processor has just read the instruction here, and `decode` does not read beyond
    // its end.
    let operation = decode(|| unsafe {
        length += 1;
        *start.add(length - 1)
    });
    *instruction += length as i64;
    let done = operation.is_some_and(|operation| {
        // SAFETY: the emulated program meant its instruction to use this memory.
        TILES.with_borrow_mut(|tiles| unsafe { execute(operation, registers, tiles) })
    });
    if !done {
        registers[libc::REG_RIP as usize] = start as i64;
        // SAFETY: resets the handler. The instruction is tried again on return, and crashes.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::Command;

    /// With this variable, the test runs itself again and crashes there.
    const CRASHES: &str = "CPCVAE_TEST_CRASHES";

    #[test]
    fn other_instructions_crash() {
        if std::env::var_os(CRASHES).is_some() {
            super::install();
            let no_core_file = libc::rlimit {
                rlim_cur: 0,
                rlim_max: 0,
            };
            // SAFETY: sets a limit and raises a signal.
            unsafe {
                libc::setrlimit(libc::RLIMIT_CORE, &no_core_file);
                std::arch::asm!("ud2");
            }
        }
        let status = Command::new(std::env::current_exe().unwrap())
            .arg("other_instructions_crash")
            .env(CRASHES, "yes")
            .output()
            .unwrap()
            .status;
        assert_eq!(status.signal(), Some(libc::SIGILL));
    }
}
