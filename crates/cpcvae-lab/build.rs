//! The commit of the sources, for the results of experiments: it is the binary's, whatever becomes of
//! the repository while a copy of it trains.

use std::process::Command;

fn main() {
    // HEAD's log grows with every commit; sources make a commit dirty.
    for path in ["../../.git/HEAD", "../../.git/logs/HEAD", ".."] {
        if std::path::Path::new(path).exists() {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    let version = std::env::var("CARGO_PKG_VERSION").unwrap_or_default();
    println!(
        "cargo::rustc-env=CPCVAE_COMMIT={}",
        commit().unwrap_or(version)
    );
}

/// With `-dirty` if sources were changed since; nothing without a repository.
fn commit() -> Option<String> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok()?;
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
