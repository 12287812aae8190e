//! The version of the program that made a result.

use std::process::Command;

/// The commit of the sources that this program was built from, with `-dirty` if they were changed
/// since; the version if there is no repository, as for an installed program.
pub(super) fn commit() -> String {
    from_git().unwrap_or_else(|| env!("CARGO_PKG_VERSION").into())
}

fn from_git() -> Option<String> {
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.arg("-C").arg(env!("CARGO_MANIFEST_DIR"));
        let output = command.args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_string())
    };
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    // Results are in the repository too, and may change.
    let sources = ["..", "../../Cargo.toml", "../../Cargo.lock"];
    let status = [&["status", "--porcelain", "--"], &sources[..]].concat();
    Some(match git(&status)?.is_empty() {
        true => commit,
        false => format!("{commit}-dirty"),
    })
}
