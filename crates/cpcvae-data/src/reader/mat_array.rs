//! The arrays of a MATLAB 5 file, plain or compressed.

use super::unpack;
use crate::{DataError, NumberKind, Result};
use flate2::read::ZlibDecoder;
use std::path::Path;

const HEADER: usize = 128;
const COMPRESSED: u32 = 15;
const MATRIX: u32 = 14;

/// A numeric array of a MATLAB file.
pub(super) struct MatArray {
    pub(super) name: String,
    /// Its sizes, the first fastest.
    pub(super) sizes: Vec<usize>,
    /// The storage type of the elements, which may be narrower than the array's class.
    pub(super) kind: NumberKind,
    big_endian: bool,
    /// The elements, as many as the product of the sizes.
    pub(super) bytes: Vec<u8>,
}

impl MatArray {
    /// The elements as numbers.
    pub(super) fn numbers(&self) -> impl Iterator<Item = f64> + '_ {
        let elements = self.bytes.chunks_exact(self.kind.size());
        elements.map(|element| self.kind.read(element, self.big_endian))
    }
}

/// Reads all numeric arrays; others (text, cells, structures) are skipped.
pub(super) fn read_arrays(file: &[u8], path: &Path, most_bytes: u64) -> Result<Vec<MatArray>> {
    let cut = || {
        DataError::content(
            path,
            "the MATLAB file is cut short or damaged; get the file again",
        )
    };
    let big_endian = match file.get(124..HEADER).ok_or_else(cut)? {
        [_, _, b'I', b'M'] => false,
        [_, _, b'M', b'I'] => true,
        _ => return Err(DataError::content(path, "not a MATLAB file of level 5")),
    };
    let mut arrays = Vec::new();
    let mut left = most_bytes;
    let mut rest = &file[HEADER..];
    while !rest.is_empty() {
        let element = Element::next(&mut rest, big_endian).ok_or_else(cut)?;
        match element.kind {
            COMPRESSED => {
                let bytes = unpack::read_all(ZlibDecoder::new(element.bytes), left)
                    .map_err(|source| unpack::read_error(path, source))?;
                left -= bytes.len() as u64;
                let mut inside = &bytes[..];
                let element = Element::next(&mut inside, big_endian).ok_or_else(cut)?;
                if element.kind == MATRIX {
                    arrays.extend(array(element.bytes, big_endian).ok_or_else(cut)?);
                }
            }
            MATRIX => arrays.extend(array(element.bytes, big_endian).ok_or_else(cut)?),
            _ => {}
        }
    }
    Ok(arrays)
}

/// A tagged data element.
struct Element<'a> {
    kind: u32,
    bytes: &'a [u8],
}

impl<'a> Element<'a> {
    fn next(rest: &mut &'a [u8], big_endian: bool) -> Option<Element<'a>> {
        let word = |bytes: &[u8]| -> Option<u32> {
            let word = bytes.get(..4)?.try_into().ok()?;
            Some(match big_endian {
                true => u32::from_be_bytes(word),
                false => u32::from_le_bytes(word),
            })
        };
        let first = word(rest)?;
        // Up to four bytes are stored inside the tag, with their number in its upper half.
        if first >> 16 != 0 {
            let bytes = rest.get(4..8)?.get(..(first >> 16) as usize)?;
            *rest = &rest[8..];
            return Some(Element {
                kind: first & 0xffff,
                bytes,
            });
        }
        let length = word(rest.get(4..)?)? as usize;
        let bytes = rest.get(8..)?.get(..length)?;
        // All but compressed elements are padded to eight bytes; the last may not be.
        let padded = match first {
            COMPRESSED => length,
            _ => length.next_multiple_of(8),
        };
        *rest = rest.get(8 + padded..).unwrap_or_default();
        Some(Element { kind: first, bytes })
    }
}

/// A matrix element as an array: `None` when it is damaged, `Some(None)` when it is not numeric.
fn array(mut rest: &[u8], big_endian: bool) -> Option<Option<MatArray>> {
    let flags = Element::next(&mut rest, big_endian)?;
    let class = match big_endian {
        true => *flags.bytes.get(3)?,
        false => *flags.bytes.first()?,
    };
    // Double, single, and the integers of 8 to 64 bits.
    if !(6..=15).contains(&class) {
        return Some(None);
    }
    let sizes: Vec<usize> = Element::next(&mut rest, big_endian)?
        .bytes
        .chunks_exact(4)
        .map(|size| NumberKind::I32.read(size, big_endian) as usize)
        .collect();
    let name = Element::next(&mut rest, big_endian)?;
    let data = Element::next(&mut rest, big_endian)?;
    let kind = match data.kind {
        1 => NumberKind::I8,
        2 => NumberKind::U8,
        3 => NumberKind::I16,
        4 => NumberKind::U16,
        5 => NumberKind::I32,
        6 => NumberKind::U32,
        7 => NumberKind::F32,
        9 => NumberKind::F64,
        12 => NumberKind::I64,
        13 => NumberKind::U64,
        _ => return None,
    };
    let count = sizes
        .iter()
        .try_fold(1usize, |all, &size| all.checked_mul(size))?;
    if count.checked_mul(kind.size()) != Some(data.bytes.len()) {
        return None;
    }
    Some(Some(MatArray {
        name: String::from_utf8_lossy(name.bytes).into_owned(),
        sizes,
        kind,
        big_endian,
        bytes: data.bytes.to_vec(),
    }))
}
