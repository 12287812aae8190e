//! The exit code of the program.

/// An exit code: 0 for success. Unlike that of the standard library it can be read, which a process
/// needs that embeds the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExitCode(pub u8);

impl ExitCode {
    /// Success.
    pub const SUCCESS: Self = Self(0);
    /// Failure, with a message on standard error.
    pub const FAILURE: Self = Self(1);
}

impl From<u8> for ExitCode {
    fn from(code: u8) -> Self {
        Self(code)
    }
}
