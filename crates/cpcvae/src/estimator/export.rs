//! Export of a fitted model to another file format.

use super::Fitted;
use crate::error::Result;
use crate::export::{Exported, OnnxFile, OnnxOptions};
use std::path::Path;

impl Fitted {
    /// Writes one ONNX graph from rows in the user's units to codes and predictions, equal to
    /// [`Fitted::encode`] and [`Fitted::predict`], including an ensemble. The graph's inputs and
    /// outputs are described in the returned value and in the file's metadata.
    ///
    /// ```
    /// use cpcvae::prelude::*;
    /// # let rows: Vec<[f32; 2]> =
    /// #     (0..60).map(|i| [(i % 2 * 9 + i % 5) as f32, (i % 7) as f32]).collect();
    /// # let labels = (0..60).map(|i| (i < 20).then_some(["low", "high"][i % 2]));
    /// # let data = Dataset::from_rows(&rows, Labels::classes(labels))?;
    /// let fitted = Pc::new().steps(50).hold_out(false).fit(&data)?;
    /// let path = std::env::temp_dir().join(format!("cpcvae-doc-{}.onnx", std::process::id()));
    /// let written = fitted.export_onnx(&path)?;
    /// assert_eq!(written.input.kind, "float [rows, 2]");
    /// let outputs: Vec<&str> = written.outputs.iter().map(|value| &value.name[..]).collect();
    /// assert_eq!(outputs, ["code", "probabilities", "label"]);
    /// # std::fs::remove_file(&path).ok();
    /// # Ok::<(), cpcvae::Error>(())
    /// ```
    pub fn export_onnx(&self, path: impl AsRef<Path>) -> Result<OnnxFile> {
        let file = self.onnx(OnnxOptions::default())?;
        file.save(path.as_ref())?;
        Ok(file)
    }

    /// The graph, without writing a file.
    pub fn onnx(&self, options: OnnxOptions) -> Result<OnnxFile> {
        let exported = Exported {
            trained: &self.trained,
            ensemble: self.ensemble.as_ref(),
            temperature: self.calibration.temperature,
        };
        OnnxFile::of(exported, options)
    }
}
