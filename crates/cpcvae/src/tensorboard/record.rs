//! The record format of TensorFlow: length and content, each with a masked CRC-32C.

/// The bytes of a record: its length in 64 bits, the checksum of the length, the content, and its
/// checksum, all little-endian.
pub fn framed(content: &[u8]) -> Vec<u8> {
    let length = (content.len() as u64).to_le_bytes();
    let mut record = Vec::with_capacity(content.len() + 16);
    record.extend(length);
    record.extend(masked(crc32c(&length)).to_le_bytes());
    record.extend(content);
    record.extend(masked(crc32c(content)).to_le_bytes());
    record
}

/// TensorFlow's masking of a checksum, so that checksums of data with embedded checksums are safe.
fn masked(checksum: u32) -> u32 {
    checksum.rotate_right(15).wrapping_add(0xa282_ead8)
}

/// CRC-32 with Castagnoli's polynomial; `crc32fast` only has that of zip files.
fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |checksum, byte| {
        (checksum >> 8) ^ TABLE[usize::from(checksum as u8 ^ byte)]
    })
}

const TABLE: [u32; 256] = table();

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut rest = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            rest = if rest & 1 == 1 {
                (rest >> 1) ^ 0x82f6_3b78
            } else {
                rest >> 1
            };
            bit += 1;
        }
        table[byte] = rest;
        byte += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check value of CRC-32C, and those of RFC 3720, appendix B.4.
    #[test]
    fn checksums_are_the_published_ones() {
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c(&[0xff; 32]), 0x62a8_ab43);
        let rising: Vec<u8> = (0..32).collect();
        assert_eq!(crc32c(&rising), 0x46dd_794e);
    }

    #[test]
    fn a_record_is_framed() {
        let record = framed(b"abc");
        assert_eq!(record.len(), 8 + 4 + 3 + 4);
        assert_eq!(record[..8], [3, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(record[12..15], *b"abc");
        let stored = u32::from_le_bytes([record[15], record[16], record[17], record[18]]);
        // Unmasked as readers do it.
        let rotated = stored.wrapping_sub(0xa282_ead8);
        assert_eq!(rotated.rotate_left(15), crc32c(b"abc"));
    }
}
