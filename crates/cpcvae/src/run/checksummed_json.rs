//! JSON files with their own checksum as the first key, so that a file and its checksum are
//! replaced in one rename.

use crate::error::{Error, Result};
use cpcvae_data::write_atomically;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::Path;

const KEY: &str = "{\"crc32\":\"";

/// Writes an object atomically; `text` is its JSON.
pub(crate) fn write(path: &Path, value: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string_pretty(value).expect("plain values serialise");
    let rest = text.strip_prefix('{').expect("an object");
    let sum = crc32fast::hash(rest.as_bytes());
    let sealed = format!("{KEY}{sum:08x}\",{rest}");
    Ok(write_atomically(path, sealed.as_bytes())?)
}

/// Reads and verifies it. Files of earlier versions have no checksum.
pub(crate) fn read<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let text = std::fs::read_to_string(path).map_err(|error| Error::file(path, error))?;
    parse(&text).map_err(|problem| Error::file(path, problem))
}

fn parse<T: DeserializeOwned>(text: &str) -> std::result::Result<T, String> {
    if let Some(sealed) = text.strip_prefix(KEY) {
        let (sum, rest) = sealed.split_once("\",").ok_or("its checksum is cut")?;
        if sum != format!("{:08x}", crc32fast::hash(rest.as_bytes())) {
            return Err(
                "its checksum does not match: it is damaged, or was changed by hand".into(),
            );
        }
    }
    serde_json::from_str(text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn every_changed_byte_is_found() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.json");
        let value = BTreeMap::from([("half".to_string(), 0.5), ("two".to_string(), 2.0)]);
        write(&path, &value).expect("writable");
        assert_eq!(
            read::<BTreeMap<String, serde_json::Value>>(&path).expect("whole")["two"],
            2.0
        );
        let bytes = std::fs::read(&path).expect("there");
        for place in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[place] ^= 1;
            std::fs::write(&path, changed).expect("writable");
            let read = read::<BTreeMap<String, serde_json::Value>>(&path);
            // Damage to the key itself leaves an unknown key, which readers of structs ignore, or
            // invalid JSON.
            assert!(read.is_err() || place < KEY.len(), "byte {place}");
        }
    }
}
