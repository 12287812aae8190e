//! The IDX format of MNIST: a magic number, the sizes, then bytes.

use crate::{DataError, Result, atomic_file, compressed, memory};
use flate2::{Compression, write::GzEncoder};
use std::io::{ErrorKind, Read, Write};
use std::path::Path;

const UNSIGNED_BYTE: u8 = 0x08;

/// An IDX array of bytes: 1-D (labels) or 3-D (images: count, height, width).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Idx {
    /// The size of each dimension.
    pub sizes: Vec<usize>,
    /// As many bytes as the product of `sizes`, last dimension fastest.
    pub bytes: Vec<u8>,
}

/// Reads an IDX file, plain or gzip, and checks all of it.
pub fn read_idx(path: impl AsRef<Path>) -> Result<Idx> {
    let path = path.as_ref();
    parse_idx(compressed::open(path)?, path)
}

/// Writes an IDX file, as gzip when `path` ends in `.gz`.
pub fn write_idx(path: impl AsRef<Path>, idx: &Idx) -> Result<()> {
    let path = path.as_ref();
    if byte_count(&idx.sizes) != Some(idx.bytes.len()) {
        return Err(DataError::Shape(format!(
            "an IDX array of sizes {:?} cannot hold {} bytes",
            idx.sizes,
            idx.bytes.len()
        )));
    }
    let mut plain = vec![0, 0, UNSIGNED_BYTE, idx.sizes.len() as u8];
    for &size in &idx.sizes {
        let size = u32::try_from(size)
            .map_err(|_| DataError::Shape(format!("an IDX size cannot be {size}")))?;
        plain.extend_from_slice(&size.to_be_bytes());
    }
    plain.extend_from_slice(&idx.bytes);
    if path.extension().is_some_and(|extension| extension == "gz") {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        plain = encoder
            .write_all(&plain)
            .and_then(|()| encoder.finish())
            .map_err(DataError::file("compress", path))?;
    }
    atomic_file::write_atomically(path, &plain)
}

/// Reads an IDX array; `path` is only for messages.
fn parse_idx(mut reader: impl Read, path: &Path) -> Result<Idx> {
    let magic = read_word(&mut reader, path, "magic number")?;
    let [0, 0, kind, dimensions] = magic else {
        return Err(DataError::content(
            path,
            format!("not an IDX file: it begins with bytes {magic:02x?} instead of 00 00 08"),
        ));
    };
    if kind != UNSIGNED_BYTE {
        return Err(DataError::content(
            path,
            format!(
                "IDX values of type 0x{kind:02x} are not supported; only unsigned bytes (0x08) are"
            ),
        ));
    }
    if dimensions != 1 && dimensions != 3 {
        return Err(DataError::content(
            path,
            format!(
                "an IDX file has 1 dimension (labels) or 3 (images), this one has {dimensions}"
            ),
        ));
    }
    let sizes = (0..dimensions)
        .map(|_| {
            read_word(&mut reader, path, "sizes").map(|word| u32::from_be_bytes(word) as usize)
        })
        .collect::<Result<Vec<_>>>()?;
    let Some(expected) = byte_count(&sizes) else {
        return Err(DataError::content(
            path,
            format!("impossible IDX sizes {sizes:?}"),
        ));
    };
    let most = memory::most_memory();
    if expected as u64 > most {
        return Err(DataError::content(
            path,
            format!(
                "its {expected} bytes are more than the {most} bytes of memory that reading may \
                 take; if the file is to be trusted, raise the limit with the environment variable \
                 {}",
                memory::VARIABLE
            ),
        ));
    }
    // The header may be wrong, so memory grows with the bytes that are really there; reading one
    // byte more than expected detects extra data.
    let mut bytes = Vec::new();
    reader
        .take((expected as u64).saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|source| compressed::read_error(path, source))?;
    if bytes.len() != expected {
        let difference = if bytes.len() < expected {
            format!("only {} follow: it is cut short", bytes.len())
        } else {
            "more follow".to_string()
        };
        return Err(DataError::content(
            path,
            format!(
                "the IDX header {sizes:?} asks for {expected} bytes, but {difference}; get the file again"
            ),
        ));
    }
    Ok(Idx { sizes, bytes })
}

/// The product of the sizes, if it can be held in memory at all.
fn byte_count(sizes: &[usize]) -> Option<usize> {
    sizes
        .iter()
        .try_fold(1usize, |product, &size| product.checked_mul(size))
        .filter(|&product| product < isize::MAX as usize)
}

fn read_word(reader: &mut impl Read, path: &Path, part: &str) -> Result<[u8; 4]> {
    let mut word = [0; 4];
    // A plain file that is too short and a truncated gzip file cannot be told apart here, and get
    // the same message.
    reader
        .read_exact(&mut word)
        .map_err(|source| match source.kind() {
            ErrorKind::UnexpectedEof => DataError::content(
                path,
                format!("not a whole IDX file: it ends within its {part}; get the file again"),
            ),
            _ => compressed::read_error(path, source),
        })?;
    Ok(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(bytes: &[u8]) -> Result<Idx> {
        parse_idx(bytes, Path::new("test.idx"))
    }

    fn message(bytes: &[u8]) -> String {
        parse(bytes).unwrap_err().to_string()
    }

    #[test]
    fn bad_headers_are_explained() {
        assert!(message(b"PK\x03\x04rest").contains("not an IDX file"));
        assert!(message(&[0, 0, 0x0d, 1, 0, 0, 0, 0]).contains("type 0x0d"));
        assert!(message(&[0, 0, 8, 2, 0, 0, 0, 1, 0, 0, 0, 1, 9]).contains("this one has 2"));
        assert!(message(&[0, 0]).contains("ends within its magic number"));
        assert!(message(&[0, 0, 8, 1, 0, 0]).contains("ends within its sizes"));
        assert!(message(&[0, 0, 8, 1, 0, 0, 0, 2, 7]).contains("only 1 follow"));
        assert!(message(&[0, 0, 8, 1, 0, 0, 0, 2, 7, 7, 7]).contains("more follow"));
        assert!(message(b"").starts_with("test.idx: "));
    }

    #[test]
    fn a_huge_header_does_not_take_memory() {
        let mut bytes = vec![0, 0, 8, 3];
        bytes.extend([0xff; 12]);
        assert!(message(&bytes).contains("impossible IDX sizes"));
        // 4 GiB promised, nothing there.
        assert!(message(&[0, 0, 8, 1, 0xff, 0xff, 0xff, 0xff]).contains("only 0 follow"));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_is_written_is_read_and_any_cut_is_noticed(
            images in any::<bool>(), count in 0usize..6, side in 1usize..5,
            gzip in any::<bool>(), byte in any::<u8>(), cut in 0.0f64..1.0,
        ) {
            let sizes = if images { vec![count, side, side + 1] } else { vec![count] };
            let bytes = (0..sizes.iter().product::<usize>()).map(|i| byte.wrapping_add(i as u8)).collect();
            let idx = Idx { sizes, bytes };
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(if gzip { "a.gz" } else { "a" });
            write_idx(&path, &idx).unwrap();
            prop_assert_eq!(&read_idx(&path).unwrap(), &idx);

            let whole = std::fs::read(&path).unwrap();
            prop_assert_eq!(whole.starts_with(&[0x1f, 0x8b]), gzip);
            std::fs::write(&path, &whole[..(whole.len() as f64 * cut) as usize]).unwrap();
            prop_assert!(read_idx(&path).is_err());
            std::fs::write(&path, [&whole[..], &[0]].concat()).unwrap();
            prop_assert!(read_idx(&path).is_err());
        }

        #[test]
        fn arbitrary_bytes_never_panic(valid_start in any::<bool>(), tail in prop::collection::vec(any::<u8>(), 0..64)) {
            let start: &[u8] = if valid_start { &[0, 0, 8] } else { &[] };
            if let Ok(idx) = parse(&[start, &tail].concat()) {
                prop_assert_eq!(byte_count(&idx.sizes), Some(idx.bytes.len()));
            }
        }
    }
}
