//! Named tensors and a text in one file: safetensors, checked, written atomically.

use super::Parameters;
use crate::error::{Error, Result};
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use std::collections::{BTreeMap, HashMap};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Where the checksum and the text stand in the file's header.
const METADATA_KEY: &str = "cpcvae";

/// What one file holds.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorFile {
    /// Tensors by name.
    pub tensors: Parameters,
    /// A JSON text about them.
    pub about: String,
}

impl TensorFile {
    /// Writes the file under a temporary name, syncs it, and renames it: a reader sees the old
    /// file or the new one, whenever the machine stops.
    pub fn save(&self, path: &Path) -> Result<()> {
        let views = self.tensors.0.iter().map(|(name, (shape, values))| {
            let bytes = bytemuck::cast_slice(values);
            TensorView::new(Dtype::F32, shape.clone(), bytes).map(|view| (name.as_str(), view))
        });
        let views: std::result::Result<Vec<_>, _> = views.collect();
        // One entry only: the order of a map would differ from file to file.
        let text = format!("{} {}", self.checksum(), self.about);
        let metadata = HashMap::from([(METADATA_KEY.to_string(), text)]);
        let bytes = views
            .and_then(|views| safetensors::serialize(views, Some(metadata)))
            .map_err(|error| Error::file(path, format!("cannot be written: {error}")))?;
        write_atomically(path, &bytes)
    }

    /// Reads and checks the file.
    pub fn load(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).map_err(|error| Error::file(path, error))?;
        Self::parse(&bytes).map_err(|problem| {
            Error::file(
                path,
                format!("is damaged or not a cpcvae file ({problem}); restore it or train again"),
            )
        })
    }

    fn parse(bytes: &[u8]) -> std::result::Result<Self, String> {
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|error| error.to_string())?;
        let texts = metadata.metadata().as_ref();
        let text = texts
            .and_then(|texts| texts.get(METADATA_KEY))
            .ok_or("cpcvae did not write it")?;
        let (checksum, about) = text.split_once(' ').ok_or("its metadata is cut")?;
        let stored = SafeTensors::deserialize(bytes).map_err(|error| error.to_string())?;
        let mut tensors = BTreeMap::new();
        for (name, view) in stored.iter() {
            if view.dtype() != Dtype::F32 {
                return Err(format!("tensor `{name}` is not f32"));
            }
            let values = bytemuck::pod_collect_to_vec(view.data());
            tensors.insert(name.to_string(), (view.shape().to_vec(), values));
        }
        let file = Self {
            tensors: Parameters(tensors),
            about: about.into(),
        };
        if file.checksum().to_string() == checksum {
            Ok(file)
        } else {
            Err("its checksum does not match".into())
        }
    }

    /// Of names, values and text: a flipped bit anywhere that matters is found.
    fn checksum(&self) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(self.about.as_bytes());
        for (name, (_, values)) in &self.tensors.0 {
            hasher.update(name.as_bytes());
            hasher.update(bytemuck::cast_slice(values));
        }
        hasher.finalize()
    }
}

/// Writes bytes under a temporary name in the same folder, syncs, and renames.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    write_through(path, |file| {
        let cannot = |error| Error::file(path, format!("cannot be written: {error}"));
        file.write_all(bytes).map_err(cannot)
    })
}

/// The same with what `write` puts into the file; if that fails, nothing is left of it.
///
/// A link stays a link: what it names is replaced. What is no regular file (a device, a pipe) is
/// written to as it is, since a rename would put a file in its place.
pub fn write_through<E: From<Error>>(
    path: &Path,
    write: impl FnOnce(&mut File) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let cannot = |error: std::io::Error| Error::file(path, format!("cannot be written: {error}"));
    let is_special = |found: std::fs::Metadata| !found.is_file() && !found.is_dir();
    if std::fs::metadata(path).is_ok_and(is_special) {
        let mut file = OpenOptions::new().write(true).open(path).map_err(cannot)?;
        return write(&mut file);
    }
    let target = behind_links(path);
    let temporary = target.with_extension(format!("{}.tmp", std::process::id()));
    let whole = || {
        let mut file = File::create(&temporary).map_err(cannot)?;
        write(&mut file)?;
        file.sync_all().map_err(cannot)?;
        Ok(std::fs::rename(&temporary, &target).map_err(cannot)?)
    };
    whole().inspect_err(|_| {
        let _ = std::fs::remove_file(&temporary);
    })
}

/// The file that a link names, which need not be there yet.
fn behind_links(path: &Path) -> PathBuf {
    match (path.canonicalize(), std::fs::read_link(path)) {
        (Ok(target), Ok(_)) => target,
        (Err(_), Ok(named)) => path.parent().unwrap_or(Path::new("")).join(named),
        (_, Err(_)) => path.to_owned(),
    }
}
