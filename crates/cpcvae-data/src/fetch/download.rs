//! Downloads one file over HTTP: resumed where a part is there, and verified.

use super::{RemoteFile, verify};
use crate::atomic_file::{put_in_place, with_suffix};
use crate::{DataError, Result};
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::Path;
use std::time::Duration;
use ureq::http::{Response, StatusCode, header};
use ureq::{Agent, Body};

/// How often a broken download from a mirror is continued.
const TRIES: usize = 3;
const PROGRESS_STEP: u64 = 1 << 21;

/// Why an attempt failed.
enum Failure {
    /// The mirror does not have it or does not answer: ask the next one.
    Unavailable(String),
    /// The connection broke; the bytes received so far are kept.
    Interrupted(String),
    /// The mirror sent other content, which is deleted.
    WrongContent(String),
    /// This machine cannot store the file: other mirrors would not help.
    Local(DataError),
}

/// Fetches one file from the first mirror that gives it.
pub(super) fn fetch(
    mirrors: &[&str],
    file: &RemoteFile,
    destination: &Path,
    progress: &mut dyn FnMut(&str),
) -> Result<()> {
    let agent = agent();
    let part = with_suffix(destination, ".part");
    let mut reasons = Vec::new();
    for mirror in mirrors {
        let url = format!("{mirror}{}", file.name_there());
        for _ in 0..TRIES {
            let resumed = length(&part) > 0;
            match attempt(&agent, &url, file, &part, progress) {
                Ok(finished) => return put_in_place(finished, &part, destination),
                Err(Failure::Local(error)) => return Err(error),
                Err(Failure::Interrupted(reason)) => reasons.push(format!("{url}: {reason}")),
                Err(Failure::Unavailable(reason)) => {
                    reasons.push(format!("{url}: {reason}"));
                    break;
                }
                Err(Failure::WrongContent(reason)) => {
                    reasons.push(format!("{url}: {reason}"));
                    remove(&part)?;
                    // The old part may be damaged, so the mirror is tried again from the beginning.
                    if !resumed {
                        break;
                    }
                }
            }
        }
    }
    Err(DataError::Fetch {
        what: file.name.into(),
        reasons: reasons.join("; "),
        advice: "Check the network and try again".into(),
    })
}

fn agent() -> Agent {
    Agent::config_builder()
        .http_status_as_error(false)
        .timeout_connect(Some(Duration::from_secs(10)))
        .timeout_recv_response(Some(Duration::from_secs(30)))
        .timeout_per_read(Some(Duration::from_secs(30)))
        .build()
        .into()
}

/// Downloads (the rest of) the file into `part` and checks all of it.
fn attempt(
    agent: &Agent,
    url: &str,
    file: &RemoteFile,
    part: &Path,
    progress: &mut dyn FnMut(&str),
) -> std::result::Result<File, Failure> {
    let have = length(part);
    let mut request = agent.get(url);
    if have > 0 {
        request = request.header(header::RANGE, format!("bytes={have}-"));
    }
    let response = request
        .call()
        .map_err(|error| Failure::Unavailable(error.to_string()))?;
    let start = match response.status() {
        StatusCode::OK => 0,
        StatusCode::PARTIAL_CONTENT if begins_at(&response, have) => have,
        StatusCode::PARTIAL_CONTENT | StatusCode::RANGE_NOT_SATISFIABLE => {
            return Err(Failure::WrongContent(format!(
                "it cannot continue at byte {have}"
            )));
        }
        status => return Err(Failure::Unavailable(format!("it answers {status}"))),
    };
    progress(&match start {
        0 => format!("fetching {url}"),
        _ => format!("continuing {url} at byte {start}"),
    });
    let mut output = OpenOptions::new()
        .create(true)
        .write(true)
        .truncate(start == 0)
        .append(start > 0)
        .open(part)
        .map_err(|error| Failure::Local(DataError::file("write", part)(error)))?;
    receive(response, file, start, &mut output, part, progress)?;
    verify::content(file, part).map_err(Failure::WrongContent)?;
    Ok(output)
}

/// Copies the body to the part file, which keeps what was received if the connection breaks.
fn receive(
    response: Response<Body>,
    file: &RemoteFile,
    start: u64,
    output: &mut File,
    part: &Path,
    progress: &mut dyn FnMut(&str),
) -> std::result::Result<(), Failure> {
    // No compression makes a file much longer than its content.
    let most = file.bytes + file.bytes / 8 + 1024;
    let mut body = response.into_body().into_reader();
    let mut chunk = vec![0; 1 << 16];
    let mut size = start;
    loop {
        let count = match body.read(&mut chunk) {
            Ok(0) => return Ok(()),
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => {
                return Err(Failure::Interrupted(format!(
                    "it broke off at byte {size} ({error})"
                )));
            }
        };
        output
            .write_all(&chunk[..count])
            .map_err(|error| Failure::Local(DataError::file("write", part)(error)))?;
        let before = size;
        size += count as u64;
        if size > most {
            return Err(Failure::WrongContent(format!(
                "it sends more than {most} bytes"
            )));
        }
        if size / PROGRESS_STEP > before / PROGRESS_STEP {
            progress(&format!("{}: {:.1} MB", file.name, size as f64 / 1e6));
        }
    }
}

/// Whether a partial answer says that it begins where the part ends.
fn begins_at(response: &Response<Body>, start: u64) -> bool {
    let range = response.headers().get(header::CONTENT_RANGE);
    range
        .and_then(|range| range.to_str().ok())
        .and_then(|range| range.strip_prefix("bytes "))
        .and_then(|range| range.split('-').next()?.parse().ok())
        == Some(start)
}

fn length(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |metadata| metadata.len())
}

fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(DataError::file("remove", path)(error))
        }
        _ => Ok(()),
    }
}
