//! Files that may be plain, gzip or zstd, detected by content and read under a limit.

use crate::mapped::Gatherer;
use crate::{DataError, DataRemedy, Result, SharedBytes, memory};
use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};
use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::path::Path;

pub(super) const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
pub(super) const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The largest window of a zstd file, the same as that of the zstd tool (`--long=27`).
const MOST_WINDOW: u64 = 128 << 20;

/// Opens a file for reading, decompressing gzip and zstd up to `most_bytes`. Errors while reading
/// go through [`read_error`].
pub(super) fn open(path: &Path, most_bytes: u64) -> Result<Box<dyn Read + Send>> {
    let file = File::open(path).map_err(DataError::file("open", path))?;
    let mut reader = BufReader::with_capacity(1 << 16, file);
    let start = reader.fill_buf().map_err(DataError::file("read", path))?;
    if start.starts_with(&GZIP_MAGIC) {
        Ok(Box::new(Limited::new(
            MultiGzDecoder::new(reader),
            most_bytes,
        )))
    } else if start.starts_with(&ZSTD_MAGIC) {
        Ok(Box::new(Limited::new(
            ZstdFrames::start(reader),
            most_bytes,
        )))
    } else {
        Ok(Box::new(reader))
    }
}

/// The whole content of a reader, or an error when it gives more than `most_bytes`; memory grows
/// with the bytes that are really there.
pub(super) fn read_all(reader: impl Read, most_bytes: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    Limited::new(reader, most_bytes).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Like [`read_all`], with bytes beyond the memory budget in a temporary file.
pub(super) fn gather(
    reader: impl Read,
    most_bytes: u64,
    memory_budget: u64,
    path: &Path,
) -> Result<SharedBytes> {
    let mut reader = Limited::new(reader, most_bytes);
    let mut gatherer = Gatherer::new(0, memory_budget)?;
    let mut buffer = vec![0; 1 << 16];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(gatherer.finish()?.into()),
            Ok(read) => gatherer.push(&buffer[..read])?,
            Err(error) => return Err(read_error(path, error)),
        }
    }
}

/// The error for a failure while reading from [`open`] or [`read_all`].
pub(super) fn read_error(path: &Path, source: io::Error) -> DataError {
    match source.kind() {
        ErrorKind::FileTooLarge => {
            DataError::content(path, source.to_string()).with_remedy(DataRemedy::RaiseLimit)
        }
        // Errors that a decompressor reports about its input rather than the disk.
        ErrorKind::InvalidData
        | ErrorKind::InvalidInput
        | ErrorKind::UnexpectedEof
        | ErrorKind::Other => DataError::content(
            path,
            format!("the compressed data is cut short or damaged ({source}); get the file again"),
        ),
        _ => DataError::file("read", path)(source),
    }
}

/// The error of a file that unpacks to more than is allowed.
pub(super) fn too_large(most_bytes: u64) -> io::Error {
    io::Error::new(
        ErrorKind::FileTooLarge,
        format!(
            "it unpacks to more than the limit of {most_bytes} bytes; if the file is to be \
             trusted, raise the limit (`data.most_bytes`, and the environment variable {}, where \
             memory is the limit)",
            memory::VARIABLE
        ),
    )
}

/// A reader that fails after a number of bytes.
struct Limited<R> {
    inner: R,
    left: u64,
    most: u64,
}

impl<R> Limited<R> {
    fn new(inner: R, most: u64) -> Limited<R> {
        Limited {
            inner,
            left: most,
            most,
        }
    }
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        match self.left.checked_sub(read as u64) {
            Some(left) => self.left = left,
            None => return Err(too_large(self.most)),
        }
        Ok(read)
    }
}

/// Concatenated zstd frames, as tools that compress in parallel write them.
struct ZstdFrames<R: Read> {
    state: Frame<R>,
}

enum Frame<R: Read> {
    Between(R),
    Inside(Box<StreamingDecoder<R, FrameDecoder>>),
    Ended,
}

impl<R: BufRead> ZstdFrames<R> {
    fn start(reader: R) -> ZstdFrames<R> {
        ZstdFrames {
            state: Frame::Between(reader),
        }
    }
}

impl<R: BufRead> Read for ZstdFrames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            self.state = match std::mem::replace(&mut self.state, Frame::Ended) {
                Frame::Ended => return Ok(0),
                Frame::Between(mut reader) => {
                    if reader.fill_buf()?.is_empty() {
                        return Ok(0);
                    }
                    let decoder = StreamingDecoder::new_with_max_window_size(reader, MOST_WINDOW);
                    let decoder = decoder.map_err(damaged)?;
                    Frame::Inside(Box::new(decoder))
                }
                Frame::Inside(mut decoder) => match decoder.read(buffer).map_err(damaged)? {
                    0 => Frame::Between(decoder.into_inner()),
                    read => {
                        self.state = Frame::Inside(decoder);
                        return Ok(read);
                    }
                },
            }
        }
    }
}

fn damaged(error: impl std::fmt::Display) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, error.to_string())
}
