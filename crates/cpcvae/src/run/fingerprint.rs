//! A fingerprint of the data of a run, so that it is not resumed with other data.

use super::RunFolder;
use super::checksummed_json;
use crate::error::{Error, Remedy, Result};
use cpcvae_data::{Dataset, Labels, Rows};
use serde::{Deserialize, Serialize};

/// Checksums of the training data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Fingerprint {
    rows: usize,
    columns: u32,
    values: u32,
    labels: u32,
}

impl Fingerprint {
    /// Reads all rows once.
    pub(super) fn of(data: &Dataset) -> Self {
        let mut columns = crc32fast::Hasher::new();
        columns.update(
            serde_json::to_string(&data.layout)
                .unwrap_or_default()
                .as_bytes(),
        );
        let mut values = crc32fast::Hasher::new();
        let mut row = vec![0.0f32; data.width()];
        for number in 0..data.len() {
            data.features.read(number, &mut row);
            values.update(bytemuck::cast_slice(&row));
        }
        let mut labels = crc32fast::Hasher::new();
        for name in data.class_names() {
            labels.update(name.as_bytes());
            labels.update(&[0]);
        }
        for number in 0..data.len() as u32 {
            match &data.labels {
                Labels::Classes { .. } => {
                    let class = data.labels.class_of(number).map_or(u32::MAX, |class| class);
                    labels.update(&class.to_le_bytes());
                }
                Labels::Values { .. } => match data.labels.values_of(number) {
                    Some(known) => labels.update(bytemuck::cast_slice(known)),
                    None => labels.update(&[0xff]),
                },
                Labels::None => {}
            }
        }
        Self {
            rows: data.len(),
            columns: columns.finalize(),
            values: values.finalize(),
            labels: labels.finalize(),
        }
    }

    /// The difference, in words.
    fn difference(&self, before: &Self) -> Option<String> {
        if self.rows != before.rows {
            return Some(format!(
                "it has {} rows, and had {}",
                self.rows, before.rows
            ));
        }
        let parts = [
            ("columns", self.columns == before.columns),
            ("values", self.values == before.values),
            ("labels", self.labels == before.labels),
        ];
        let differing: Vec<&str> = parts
            .iter()
            .filter(|part| !part.1)
            .map(|part| part.0)
            .collect();
        let has_any = !differing.is_empty();
        has_any.then(|| format!("its {} differ", differing.join(" and ")))
    }
}

impl RunFolder {
    /// Stores the fingerprint of a new run; refuses to resume with other data. Runs of earlier
    /// versions have none.
    pub(crate) fn check_data(&self, data: &Dataset) -> Result<()> {
        let path = self.path().join("data.json");
        let now = Fingerprint::of(data);
        if !path.exists() {
            return checksummed_json::write(&path, &now);
        }
        match now.difference(&checksummed_json::read(&path)?) {
            None => Ok(()),
            Some(difference) => Err(Error::file(
                self.path(),
                format!(
                    "the run was started on other data: {difference}; resume with the data as it \
                     was, or start another run in another folder"
                ),
            )
            .with_remedy(Remedy::OtherFolder)),
        }
    }
}
