//! How the program ends.

/// The number that a program ends with: 0 where all went well. Unlike that of the standard library it
/// can be read, which another program's process needs that runs the command inside itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExitCode(pub u8);

impl ExitCode {
    /// All went well.
    pub const SUCCESS: Self = Self(0);
    /// It did not, and standard error says why.
    pub const FAILURE: Self = Self(1);
}

impl From<u8> for ExitCode {
    fn from(code: u8) -> Self {
        Self(code)
    }
}
