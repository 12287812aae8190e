//! Numbers left in the bytes they were read in: a column of a large array, without a copy.

use crate::SharedBytes;
use std::fmt;

/// How a number is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum NumberKind {
    U8,
    U16,
    U32,
    U64,
    I8,
    I16,
    I32,
    I64,
    /// IEEE half precision.
    F16,
    F32,
    F64,
}

impl NumberKind {
    /// The kind of a numpy type code without byte order, such as `f4`.
    pub fn from_numpy(code: &str) -> Option<NumberKind> {
        Some(match code {
            "u1" => NumberKind::U8,
            "u2" => NumberKind::U16,
            "u4" => NumberKind::U32,
            "u8" => NumberKind::U64,
            "i1" => NumberKind::I8,
            "i2" => NumberKind::I16,
            "i4" => NumberKind::I32,
            "i8" => NumberKind::I64,
            "f2" => NumberKind::F16,
            "f4" => NumberKind::F32,
            "f8" => NumberKind::F64,
            _ => return None,
        })
    }

    /// Bytes a number takes.
    pub fn size(self) -> usize {
        match self {
            NumberKind::U8 | NumberKind::I8 => 1,
            NumberKind::U16 | NumberKind::I16 | NumberKind::F16 => 2,
            NumberKind::U32 | NumberKind::I32 | NumberKind::F32 => 4,
            NumberKind::U64 | NumberKind::I64 | NumberKind::F64 => 8,
        }
    }

    /// Whether all of its numbers are whole.
    pub fn is_whole(self) -> bool {
        !matches!(self, NumberKind::F16 | NumberKind::F32 | NumberKind::F64)
    }

    /// Whether its numbers are fractions of fewer bits than an `f64` has.
    pub(crate) fn is_short_fraction(self) -> bool {
        matches!(self, NumberKind::F16 | NumberKind::F32)
    }

    /// The number in `bytes`, which must hold [`size`](Self::size) of them.
    pub(crate) fn read(self, bytes: &[u8], big_endian: bool) -> f64 {
        let mut low = [0; 8];
        for (place, &byte) in bytes.iter().enumerate() {
            low[if big_endian {
                self.size() - 1 - place
            } else {
                place
            }] = byte;
        }
        let bits = u64::from_le_bytes(low);
        match self {
            NumberKind::U8 | NumberKind::U16 | NumberKind::U32 | NumberKind::U64 => bits as f64,
            NumberKind::I8 => f64::from(bits as i8),
            NumberKind::I16 => f64::from(bits as i16),
            NumberKind::I32 => f64::from(bits as i32),
            NumberKind::I64 => bits as i64 as f64,
            NumberKind::F16 => half_to_f64(bits as u16),
            NumberKind::F32 => f64::from(f32::from_bits(bits as u32)),
            NumberKind::F64 => f64::from_bits(bits),
        }
    }
}

fn half_to_f64(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let fraction = f64::from(bits & 0x3ff);
    match i32::from(bits >> 10 & 0x1f) {
        0 => sign * fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => sign * f64::INFINITY,
        31 => f64::NAN,
        exponent => sign * (1.0 + fraction / 1024.0) * 2f64.powi(exponent - 15),
    }
}

/// A column of numbers inside shared bytes: one number every `stride` bytes.
#[derive(Clone)]
pub struct PackedNumbers {
    bytes: SharedBytes,
    kind: NumberKind,
    big_endian: bool,
    start: usize,
    stride: usize,
    len: usize,
}

impl PackedNumbers {
    /// `len` numbers from byte `start` on, or `None` when the bytes do not hold them all.
    pub fn new(
        bytes: SharedBytes,
        (kind, big_endian): (NumberKind, bool),
        start: usize,
        stride: usize,
        len: usize,
    ) -> Option<PackedNumbers> {
        let end = match len {
            0 => 0,
            _ => (len - 1)
                .checked_mul(stride)?
                .checked_add(start)?
                .checked_add(kind.size())?,
        };
        (end <= bytes.len()).then_some(PackedNumbers {
            bytes,
            kind,
            big_endian,
            start,
            stride,
            len,
        })
    }

    /// Number of numbers.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How they are stored.
    pub fn kind(&self) -> NumberKind {
        self.kind
    }

    /// The number at `place`; NaN is missing. Reading row by row over all columns of a table is
    /// faster than column by column, since a row's numbers are adjacent.
    ///
    /// # Panics
    /// When `place` is not below [`len`](Self::len), as indexing a slice does.
    pub fn get(&self, place: usize) -> f64 {
        assert!(place < self.len, "there are {} numbers", self.len);
        let start = self.start + place * self.stride;
        let bytes = &self.bytes[start..start + self.kind.size()];
        match (self.kind, self.big_endian, bytes) {
            // Fast paths for the two types that large files have.
            (NumberKind::U8, _, &[byte]) => f64::from(byte),
            (NumberKind::F32, false, &[a, b, c, d]) => f64::from(f32::from_le_bytes([a, b, c, d])),
            (kind, big_endian, bytes) => kind.read(bytes, big_endian),
        }
    }

    /// Whether these numbers are in the column that is `places` columns after `first` in the same
    /// rows.
    pub(crate) fn follows(&self, first: &PackedNumbers, places: usize) -> bool {
        let alike = |numbers: &PackedNumbers| {
            let PackedNumbers {
                kind,
                big_endian,
                stride,
                len,
                ..
            } = *numbers;
            (kind, big_endian, stride, len)
        };
        self.bytes.is(&first.bytes)
            && alike(self) == alike(first)
            && self.start == first.start + places * self.kind.size()
    }

    /// The number at `place`, and the adjacent ones of the columns that follow this one.
    ///
    /// # Panics
    /// When `place` is not below [`len`](Self::len).
    pub(crate) fn read_beside(&self, place: usize, out: &mut [f32]) {
        assert!(place < self.len, "there are {} numbers", self.len);
        let (start, size) = (self.start + place * self.stride, self.kind.size());
        let bytes = self.bytes[start..start + out.len() * size].chunks_exact(size);
        let all = out.iter_mut().zip(bytes);
        match (self.kind, self.big_endian) {
            // A plain copy, the most frequent case in large files.
            (NumberKind::F32, false) => all.for_each(|(value, bytes)| {
                *value = f32::from_le_bytes(bytes.try_into().unwrap_or_default());
            }),
            (kind, big_endian) => {
                all.for_each(|(value, bytes)| *value = kind.read(bytes, big_endian) as f32);
            }
        }
    }

    /// All numbers in order.
    pub fn iter(&self) -> impl Iterator<Item = f64> + '_ {
        (0..self.len).map(|place| self.get(place))
    }
}

impl PartialEq for PackedNumbers {
    fn eq(&self, other: &PackedNumbers) -> bool {
        self.iter().eq(other.iter())
    }
}

impl fmt::Debug for PackedNumbers {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "PackedNumbers({} of {:?})", self.len, self.kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(bytes: &[u8], kind: NumberKind, big: bool, stride: usize, len: usize) -> Vec<f64> {
        let bytes = SharedBytes::from(bytes.to_vec());
        PackedNumbers::new(bytes, (kind, big), 0, stride, len)
            .unwrap()
            .iter()
            .collect()
    }

    #[test]
    fn every_kind_in_both_byte_orders() {
        use NumberKind::*;
        for (kind, little, value) in [
            (U8, &[0xfe][..], 254.0),
            (I8, &[0xfe], -2.0),
            (U16, &[1, 2], 513.0),
            (I16, &[0xfe, 0xff], -2.0),
            (U32, &[0, 0, 0, 0x80], 2147483648.0),
            (I32, &[0, 0, 0, 0x80], -2147483648.0),
            (U64, &[0, 1, 0, 0, 0, 0, 0, 0], 256.0),
            (I64, &[0xff; 8], -1.0),
            (F32, &(-1.5f32).to_le_bytes(), -1.5),
            (F64, &0.1f64.to_le_bytes(), 0.1),
            (F16, &[0x00, 0x3e], 1.5),
            (F16, &[0x00, 0xc0], -2.0),
            (F16, &[0x01, 0x00], 2f64.powi(-24)),
            (F16, &[0x00, 0x7c], f64::INFINITY),
        ] {
            assert_eq!(packed(little, kind, false, 1, 1), [value], "{kind:?}");
            let big: Vec<u8> = little.iter().rev().copied().collect();
            assert_eq!(packed(&big, kind, true, 1, 1), [value], "{kind:?}");
        }
        assert!(packed(&[0x01, 0x7c], F16, false, 1, 1)[0].is_nan());
    }

    #[test]
    fn columns_side_by_side_are_read_at_once() {
        let values: Vec<f32> = (0..6).map(|value| value as f32 + 0.1).collect();
        let bytes: Vec<u8> = values
            .iter()
            .flat_map(|value| value.to_be_bytes())
            .collect();
        let little: Vec<u8> = values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        for (bytes, big) in [(bytes, true), (little, false)] {
            let bytes = SharedBytes::from(bytes);
            let column = |place: usize| {
                let format = (NumberKind::F32, big);
                PackedNumbers::new(bytes.clone(), format, 4 * place, 12, 2).unwrap()
            };
            assert!(column(2).follows(&column(0), 2) && !column(2).follows(&column(0), 1));
            let elsewhere = PackedNumbers {
                bytes: bytes.to_vec().into(),
                ..column(1)
            };
            assert!(!elsewhere.follows(&column(0), 1));
            let mut found = [0.0; 2];
            column(1).read_beside(1, &mut found);
            assert_eq!(found, values[4..]);
        }
    }

    #[test]
    fn a_column_is_every_nth_number_and_stays_inside_its_bytes() {
        assert_eq!(
            packed(&[1, 2, 3, 4, 5, 6], NumberKind::U8, false, 2, 3),
            [1.0, 3.0, 5.0]
        );
        let bytes = SharedBytes::from(vec![0; 8]);
        let fits = |start, stride, len| {
            PackedNumbers::new(bytes.clone(), (NumberKind::F32, false), start, stride, len)
                .is_some()
        };
        assert!(fits(0, 4, 2) && fits(8, 4, 0));
        assert!(!fits(0, 4, 3) && !fits(1, 4, 2) && !fits(0, usize::MAX, 3));
    }
}
