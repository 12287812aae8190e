//! Named tensors and a text in one file: safetensors, checked, written atomically.

use super::Parameters;
use crate::error::{Error, Result};
use cpcvae_data::write_atomically;
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// The key of the checksum and the text in the file's header.
const METADATA_KEY: &str = "cpcvae";

/// The content of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorFile {
    /// Tensors by name.
    pub tensors: Parameters,
    /// A JSON text about them.
    pub about: String,
}

impl TensorFile {
    /// Writes the file atomically: a temporary file is written, synced and renamed.
    pub fn save(&self, path: &Path) -> Result<()> {
        let views = self.tensors.0.iter().map(|(name, (shape, values))| {
            let bytes = bytemuck::cast_slice(values);
            TensorView::new(Dtype::F32, shape.clone(), bytes).map(|view| (name.as_str(), view))
        });
        let views: std::result::Result<Vec<_>, _> = views.collect();
        // A single entry: the order of a map would differ from file to file.
        let text = format!("{} {}", self.checksum(), self.about);
        let metadata = HashMap::from([(METADATA_KEY.to_string(), text)]);
        let bytes = views
            .and_then(|views| safetensors::serialize(views, Some(metadata)))
            .map_err(|error| Error::file(path, format!("cannot be written: {error}")))?;
        Ok(write_atomically(path, &bytes)?)
    }

    /// Reads and checks the file.
    pub fn load(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).map_err(|error| Error::file(path, error))?;
        Self::from_bytes(&bytes, path)
    }

    /// From the bytes of the file at that path.
    pub(crate) fn from_bytes(bytes: &[u8], path: &Path) -> Result<Self> {
        Self::parse(bytes).map_err(|problem| {
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
        let (checksum, about) = text.split_once(' ').ok_or("its metadata is cut short")?;
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

    /// Over names, values and text, so that any relevant flipped bit is detected.
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
