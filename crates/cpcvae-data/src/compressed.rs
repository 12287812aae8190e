//! Files that may or may not be gzip: detected by content, never by name.

use crate::{DataError, Result};
use flate2::bufread::MultiGzDecoder;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Opens a file for reading, decompressing it when its content is gzip.
pub(crate) fn open(path: &Path) -> Result<Box<dyn Read + Send>> {
    let file = File::open(path).map_err(DataError::file("open", path))?;
    let mut reader = BufReader::with_capacity(1 << 16, file);
    let start = reader.fill_buf().map_err(DataError::file("read", path))?;
    if start.starts_with(&GZIP_MAGIC) {
        Ok(Box::new(MultiGzDecoder::new(reader)))
    } else {
        Ok(Box::new(reader))
    }
}

/// The error for a failure while reading a file opened by [`open`].
pub(crate) fn read_error(path: &Path, source: std::io::Error) -> DataError {
    use std::io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    match source.kind() {
        // Errors that a decompressor reports about its input rather than the disk.
        InvalidData | InvalidInput | UnexpectedEof => DataError::content(
            path,
            format!("the gzip data is cut short or damaged ({source}); get the file again"),
        ),
        _ => DataError::file("read", path)(source),
    }
}
