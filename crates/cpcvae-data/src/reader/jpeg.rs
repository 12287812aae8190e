//! Detects truncated JPEG files: their decoder would fill the missing part with grey.

use std::io::{self, BufRead};

/// Whether a file is a JPEG, by its first bytes.
pub(super) fn is_jpeg(start: &[u8]) -> bool {
    start.starts_with(&[0xff, 0xd8, 0xff])
}

/// Whether a JPEG has its end marker. Embedded thumbnails, which have end markers of their own, are
/// inside segments, which are skipped.
pub(super) fn has_end(mut file: impl BufRead) -> io::Result<bool> {
    while let Some(marker) = next_marker(&mut file)? {
        match marker {
            // A byte 255 in the pixel data, and markers without a segment.
            0x00 | 0x01 | 0xd0..=0xd8 => {}
            0xd9 => return Ok(true),
            _ => {
                let Some(length) = next(&mut file)?.zip(next(&mut file)?) else {
                    return Ok(false);
                };
                let length = u16::from_be_bytes([length.0, length.1]);
                skip(&mut file, usize::from(length).saturating_sub(2))?;
            }
        }
    }
    Ok(false)
}

fn next(file: &mut impl BufRead) -> io::Result<Option<u8>> {
    let byte = file.fill_buf()?.first().copied();
    file.consume(usize::from(byte.is_some()));
    Ok(byte)
}

fn skip(file: &mut impl BufRead, mut bytes: usize) -> io::Result<()> {
    while bytes > 0 {
        let there = file.fill_buf()?.len().min(bytes);
        if there == 0 {
            return Ok(());
        }
        file.consume(there);
        bytes -= there;
    }
    Ok(())
}

/// The byte after the next run of 255 bytes.
fn next_marker(file: &mut impl BufRead) -> io::Result<Option<u8>> {
    loop {
        let buffer = file.fill_buf()?;
        let length = buffer.len();
        match buffer.iter().position(|&byte| byte == 0xff) {
            None if length == 0 => return Ok(None),
            None => file.consume(length),
            Some(place) => {
                file.consume(place + 1);
                break;
            }
        }
    }
    loop {
        match next(file)? {
            Some(0xff) => {}
            marker => return Ok(marker),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_found_behind_segments_and_pixels_only() {
        let start = [0xff, 0xd8, 0xff, 0xe1, 0, 6, 0xff, 0xd9, 1, 2];
        let pixels = [0xff, 0xda, 0, 3, 7, 9, 0xff, 0x00, 0xff, 0xd3, 8, 0xff];
        let whole = [&start[..], &pixels, &[0xff, 0xd9, 5]].concat();
        assert!(is_jpeg(&whole) && has_end(&whole[..]).unwrap());
        for cut in 0..whole.len() - 1 {
            assert!(!has_end(&whole[..cut]).unwrap(), "{cut} bytes");
        }
    }
}
