//! One NumPy array in the NPY format: a text header, then the elements.

use crate::{Cells, DataError, NumberKind, PackedNumbers, Result, SharedBytes};
use std::path::Path;

/// The element type of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Element {
    Number(NumberKind),
    Flag,
    /// UCS-4 text of this many characters, padded with zeros.
    Unicode(usize),
    /// Text of this many bytes, padded with zeros.
    ByteText(usize),
}

impl Element {
    fn size(self) -> Option<usize> {
        match self {
            Element::Number(kind) => Some(kind.size()),
            Element::Flag => Some(1),
            Element::Unicode(characters) => characters.checked_mul(4),
            Element::ByteText(bytes) => Some(bytes),
        }
    }
}

/// An array whose elements stay in the file's bytes.
#[derive(Debug)]
pub(super) struct Array {
    pub(super) element: Element,
    big_endian: bool,
    fortran_order: bool,
    pub(super) shape: Vec<usize>,
    /// The elements alone.
    pub(super) bytes: SharedBytes,
}

impl Array {
    /// Reads the header; `name` is the array's name in messages.
    pub(super) fn parse(file: &SharedBytes, name: &str, path: &Path) -> Result<Array> {
        let wrong = |problem: String| DataError::content(path, format!("{name}: {problem}"));
        let cut = || wrong("the array is cut short; get the file again".into());
        let (major, length_bytes) = match file.get(..8).ok_or_else(cut)? {
            [0x93, b'N', b'U', b'M', b'P', b'Y', major @ 1, _] => (*major, 2),
            [0x93, b'N', b'U', b'M', b'P', b'Y', major @ (2 | 3), _] => (*major, 4),
            [0x93, b'N', b'U', b'M', b'P', b'Y', major, _] => {
                return Err(wrong(format!("unknown NPY version {major}")));
            }
            _ => return Err(wrong("not a NumPy array".into())),
        };
        let length = file.get(8..8 + length_bytes).ok_or_else(cut)?;
        let length = length
            .iter()
            .rev()
            .fold(0usize, |sum, &byte| sum << 8 | usize::from(byte));
        let start = 8 + length_bytes;
        let header = file.get(start..start + length).ok_or_else(cut)?;
        let header = String::from_utf8_lossy(header);
        let header = Header::parse(&header).ok_or_else(|| {
            wrong(format!(
                "NPY version {major} header not understood: {header}"
            ))
        })?;
        let (element, big_endian) = element(&header.descr).map_err(wrong)?;

        let count = header
            .shape
            .iter()
            .try_fold(1usize, |all, &size| all.checked_mul(size));
        let size = count
            .zip(element.size())
            .and_then(|(count, size)| count.checked_mul(size))
            .and_then(|size| size.checked_add(start + length));
        let bytes = size.and_then(|end| file.part(start + length..end));
        Ok(Array {
            element,
            big_endian,
            fortran_order: header.fortran_order,
            shape: header.shape,
            bytes: bytes.ok_or_else(cut)?,
        })
    }

    /// Whether the elements are in C order: the last dimension fastest.
    pub(super) fn is_c_order(&self) -> bool {
        !self.fortran_order || self.shape.len() < 2
    }

    /// The cells of a column of an array of shape `[rows, columns]`, or of a whole array of shape
    /// `[rows]`.
    pub(super) fn column(&self, column: usize) -> Cells {
        let (rows, columns) = match self.shape[..] {
            [rows] => (rows, 1),
            [rows, columns] => (rows, columns),
            _ => (0, 0),
        };
        let size = self.element.size().unwrap_or(0);
        let (start, stride) = match self.fortran_order {
            true => (column * rows * size, size),
            false => (column * size, columns * size),
        };
        let elements = (0..rows).map(|row| {
            let at = start + row * stride;
            &self.bytes[at..at + size]
        });
        let format = |kind| (kind, self.big_endian);
        let packed =
            |kind| PackedNumbers::new(self.bytes.clone(), format(kind), start, stride, rows);
        let none = Cells::Numbers(Vec::new());
        match self.element {
            Element::Number(kind) if self.shape.len() == 1 => self.numbers(kind, elements),
            Element::Number(kind) => packed(kind).map_or(none, Cells::Packed),
            // One byte each, 0 or 1.
            Element::Flag if self.shape.len() > 1 => {
                packed(NumberKind::U8).map_or(none, Cells::PackedFlags)
            }
            Element::Flag => Cells::Flags(elements.map(|byte| Some(byte != [0])).collect()),
            Element::Unicode(_) => Cells::Texts(elements.map(|text| self.unicode(text)).collect()),
            Element::ByteText(_) => {
                let text = |bytes| {
                    String::from_utf8_lossy(bytes)
                        .trim_end_matches('\0')
                        .trim()
                        .into()
                };
                Cells::Texts(elements.map(text).collect())
            }
        }
    }

    fn numbers<'a>(
        &self,
        kind: NumberKind,
        elements: impl Iterator<Item = &'a [u8]> + Clone,
    ) -> Cells {
        let whole = |bytes: &[u8]| {
            let mut word: [u8; 8] = bytes.try_into().unwrap_or_default();
            if self.big_endian {
                word.reverse();
            }
            match kind {
                NumberKind::U64 => Some(i128::from(u64::from_le_bytes(word))),
                _ => Some(i128::from(i64::from_le_bytes(word))),
            }
        };
        match kind {
            NumberKind::I64 | NumberKind::U64 => Cells::whole_numbers(elements.map(whole)),
            _ => {
                let number = |bytes| kind.read(bytes, self.big_endian);
                Cells::Numbers(elements.map(number).collect())
            }
        }
    }

    fn unicode(&self, bytes: &[u8]) -> String {
        let text: String = bytes
            .chunks_exact(4)
            .map(|four| match self.big_endian {
                true => u32::from_be_bytes([four[0], four[1], four[2], four[3]]),
                false => u32::from_le_bytes([four[0], four[1], four[2], four[3]]),
            })
            .take_while(|&code| code != 0)
            .map(|code| char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect();
        text.trim().into()
    }
}

/// The element type and whether the bytes are big-endian, from descriptors like `<f4`.
fn element(descr: &str) -> std::result::Result<(Element, bool), String> {
    if descr.starts_with('[') {
        return Err(format!(
            "its elements are structures ({descr}); save each field as an array of its own"
        ));
    }
    let (order, code) = descr.split_at(descr.len().min(1));
    let count = |text: &str| text.parse::<usize>().ok();
    let element = match (code.get(..1), code.get(1..).and_then(count)) {
        (Some("b"), Some(1)) => Element::Flag,
        // A few bytes could declare any number of them.
        (Some("U" | "S"), Some(0)) => return Err("its texts have no bytes; leave it out".into()),
        (Some("U"), Some(characters)) => Element::Unicode(characters),
        (Some("S"), Some(bytes)) => Element::ByteText(bytes),
        (Some("O"), _) => {
            return Err(
                "it is an array of Python objects; save it with a type of its own, such \
                        as X.astype('float32') or y.astype('str')"
                    .into(),
            );
        }
        _ => Element::Number(NumberKind::from_numpy(code).ok_or_else(|| {
            format!("elements of type `{descr}` are not read; save it as float32 or float64")
        })?),
    };
    Ok((element, order == ">"))
}

/// The Python dictionary at the beginning of the file.
struct Header {
    descr: String,
    fortran_order: bool,
    shape: Vec<usize>,
}

impl Header {
    fn parse(text: &str) -> Option<Header> {
        if !text.is_ascii() {
            return None;
        }
        let after = |key: &str| {
            let place = text.find(&format!("'{key}':"))? + key.len() + 3;
            Some(text[place..].trim_start())
        };
        let descr = after("descr")?;
        let descr = match descr.strip_prefix('\'') {
            Some(word) => &word[..word.find('\'')?],
            None => &descr[..descr.find(']')? + 1],
        };
        let shape = after("shape")?.strip_prefix('(')?;
        let shape = shape[..shape.find(')')?]
            .split(',')
            .map(str::trim)
            .filter(|size| !size.is_empty())
            .map(|size| size.trim_end_matches('L').parse().ok())
            .collect::<Option<Vec<usize>>>()?;
        Some(Header {
            descr: descr.into(),
            fortran_order: after("fortran_order")?.starts_with("True"),
            shape,
        })
    }
}
