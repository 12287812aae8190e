//! Downloads from a small HTTP server on this machine.
#![cfg(feature = "fetch")]

use cpcvae_data::fetch::{RemoteFile, fetch_files};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;

/// 4,000 bytes of 0, 1, ..., 249, 0, 1, ... and their SHA-256 (by `sha256sum`).
const FILE: RemoteFile = RemoteFile {
    name: "numbers",
    gzipped: true,
    bytes: 4000,
    sha256: "c19810230eab895d9d5514d8b5678fada5970ec602b1123fae41e0116eedea35",
};

/// The file as mirrors store it. gzip is detected by its first bytes, so a mirror may send the file
/// uncompressed too, which lets the tests count bytes.
fn stored() -> Vec<u8> {
    (0..4000).map(|i| (i % 250) as u8).collect()
}

/// How a mirror of the tests behaves.
#[derive(Clone, Copy, PartialEq)]
enum Manner {
    Good,
    IgnoresRanges,
    /// Announces the full length and closes the connection after half of it, each time.
    BreaksOff,
    WrongBytes,
    ShortFile,
    NotFound,
}

struct Mirror {
    url: String,
    /// The `Range` header of each request, or "" where there was none.
    requests: Arc<Mutex<Vec<String>>>,
}

impl Mirror {
    fn start(manner: Manner) -> Mirror {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/data/", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let log = requests.clone();
        // The thread waits for requests until the test program ends.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                answer(stream, manner, &log);
            }
        });
        Mirror { url, requests }
    }

    fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

fn answer(mut stream: TcpStream, manner: Manner, log: &Mutex<Vec<String>>) {
    let mut lines = BufReader::new(&stream).lines().map_while(Result::ok);
    assert_eq!(
        lines.next().as_deref(),
        Some("GET /data/numbers.gz HTTP/1.1")
    );
    let headers: HashMap<String, String> = lines
        .take_while(|line| !line.is_empty())
        .filter_map(|line| {
            line.split_once(": ")
                .map(|(k, v)| (k.to_lowercase(), v.to_string()))
        })
        .collect();
    let range = headers.get("range").cloned().unwrap_or_default();
    let asked = range
        .trim_start_matches("bytes=")
        .trim_end_matches('-')
        .parse()
        .ok();
    log.lock().unwrap().push(range);

    let mut body = stored();
    match manner {
        Manner::WrongBytes => body[7] = 99,
        Manner::ShortFile => body.truncate(3000),
        _ => (),
    }
    let start = asked
        .filter(|_| manner != Manner::IgnoresRanges)
        .unwrap_or(0);
    let status = match (manner, start) {
        (Manner::NotFound, _) => "404 Not Found",
        (_, 0) => "200 OK",
        (_, start) if start >= body.len() => "416 Range Not Satisfiable",
        _ => "206 Partial Content",
    };
    let rest = body.get(start..).unwrap_or_default();
    let sent = if manner == Manner::BreaksOff {
        &rest[..rest.len() / 2]
    } else {
        rest
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\nContent-Range: bytes {start}-{}/{}\r\nConnection: close\r\n\r\n",
        rest.len(),
        body.len() - 1,
        body.len()
    );
    // The client may close the connection at any time; the client's test judges that.
    let _ = stream
        .write_all(head.as_bytes())
        .and_then(|()| stream.write_all(sent));
}

fn fetch(mirrors: &[&Mirror], folder: &Path) -> Result<Vec<String>, String> {
    let urls: Vec<&str> = mirrors.iter().map(|mirror| mirror.url.as_str()).collect();
    let mut said = Vec::new();
    fetch_files(&urls, &[FILE], folder, &mut |sentence| {
        said.push(sentence.to_string())
    })
    .map(|()| said)
    .map_err(|error| error.to_string())
}

/// The folder holds the right file and nothing else.
fn assert_fetched(folder: &Path) {
    assert_eq!(std::fs::read(folder.join("numbers.gz")).unwrap(), stored());
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 1);
}

fn leave_part(folder: &Path, bytes: &[u8]) {
    std::fs::write(folder.join("numbers.gz.part"), bytes).unwrap();
}

#[test]
fn a_file_is_fetched_once() {
    let folder = tempfile::tempdir().unwrap();
    let mirror = Mirror::start(Manner::Good);
    fetch(&[&mirror], &folder.path().join("new")).unwrap();
    assert_fetched(&folder.path().join("new"));
    let said = fetch(&[&mirror], &folder.path().join("new")).unwrap();
    assert!(said[0].ends_with("numbers.gz is there"), "{said:?}");
    assert_eq!(mirror.requests(), [""], "asked once, for all of it");
}

#[test]
fn a_part_is_continued() {
    let folder = tempfile::tempdir().unwrap();
    let mirror = Mirror::start(Manner::Good);
    leave_part(folder.path(), &stored()[..1500]);
    fetch(&[&mirror], folder.path()).unwrap();
    assert_eq!(mirror.requests(), ["bytes=1500-"]);
    assert_fetched(folder.path());
}

#[test]
fn a_mirror_without_ranges_starts_over() {
    let folder = tempfile::tempdir().unwrap();
    let mirror = Mirror::start(Manner::IgnoresRanges);
    leave_part(folder.path(), &stored()[..1500]);
    fetch(&[&mirror], folder.path()).unwrap();
    assert_fetched(folder.path());
}

#[test]
fn a_part_that_is_wrong_or_too_long_is_thrown_away() {
    for part in [vec![5; 100], vec![5; 9000]] {
        let folder = tempfile::tempdir().unwrap();
        let mirror = Mirror::start(Manner::Good);
        leave_part(folder.path(), &part);
        fetch(&[&mirror], folder.path()).unwrap();
        assert_eq!(
            mirror.requests(),
            [format!("bytes={}-", part.len()), String::new()]
        );
        assert_fetched(folder.path());
    }
}

#[test]
fn a_broken_connection_is_continued_and_then_left_to_the_next_mirror() {
    let folder = tempfile::tempdir().unwrap();
    let (weak, good) = (
        Mirror::start(Manner::BreaksOff),
        Mirror::start(Manner::Good),
    );
    fetch(&[&weak, &good], folder.path()).unwrap();
    assert_eq!(weak.requests(), ["", "bytes=2000-", "bytes=3000-"]);
    assert_eq!(good.requests(), ["bytes=3500-"]);
    assert_fetched(folder.path());
}

#[test]
fn the_second_mirror_helps_when_the_first_has_nothing_or_something_else() {
    for manner in [Manner::NotFound, Manner::WrongBytes, Manner::ShortFile] {
        let folder = tempfile::tempdir().unwrap();
        let (bad, good) = (Mirror::start(manner), Mirror::start(Manner::Good));
        fetch(&[&bad, &good], folder.path()).unwrap();
        assert_eq!(bad.requests().len(), 1);
        assert_fetched(folder.path());
    }
}

#[test]
fn when_all_fail_each_reason_is_told_and_nothing_wrong_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let mirrors = [Manner::NotFound, Manner::WrongBytes, Manner::ShortFile].map(Mirror::start);
    let message = fetch(&mirrors.each_ref(), folder.path()).unwrap_err();
    for part in [
        "cannot fetch numbers",
        "404",
        "SHA-256",
        "3000 instead of 4000 bytes",
        mirrors[2].url.as_str(),
    ] {
        assert!(message.contains(part), "{part}: {message}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_damaged_file_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let mirror = Mirror::start(Manner::Good);
    std::fs::write(folder.path().join("numbers.gz"), b"damaged").unwrap();
    let said = fetch(&[&mirror], folder.path()).unwrap();
    assert!(
        said[0].contains("will be replaced: its content has 7 instead of 4000 bytes"),
        "{said:?}"
    );
    assert_fetched(folder.path());
}
