//! Verifies the content of downloaded files.

use super::RemoteFile;
use crate::compressed;
use sha2::{Digest, Sha256};
use std::io::Read;
use std::path::Path;

/// Checks size and SHA-256 of a file's (decompressed) content; the error says
/// what is wrong with it.
pub(super) fn content(file: &RemoteFile, path: &Path) -> Result<(), String> {
    let reader = compressed::open(path).map_err(|error| error.to_string())?;
    // Reading one byte more than expected detects extra content, and limits a small file that would
    // unpack to something huge.
    let mut reader = reader.take(file.bytes + 1);
    let mut hasher = Sha256::new();
    let mut size = 0;
    let mut chunk = vec![0; 1 << 16];
    loop {
        match reader.read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => {
                hasher.update(&chunk[..count]);
                size += count as u64;
            }
            Err(error) => return Err(format!("its content cannot be read ({error})")),
        }
    }
    if size != file.bytes {
        let found = if size > file.bytes {
            "more".into()
        } else {
            size.to_string()
        };
        return Err(format!(
            "its content has {found} instead of {} bytes",
            file.bytes
        ));
    }
    let sha256: String = hasher
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    if sha256 != file.sha256 {
        return Err(format!(
            "its content has SHA-256 {sha256} instead of {}",
            file.sha256
        ));
    }
    Ok(())
}
