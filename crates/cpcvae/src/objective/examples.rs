//! A batch on the device.

use crate::distribution::binarise;
use crate::noise::{Noise, NoisePurpose};
use burn::tensor::{Device, Tensor, TensorData};
use cpcvae_data::Batch;

/// Rows with labels first, then rows without.
#[derive(Clone, Debug)]
pub struct Examples {
    /// `[labelled + unlabelled, features]`
    pub features: Tensor<2>,
    /// Labels of the labelled rows: one-hot classes or continuous values, `[labelled, outputs]`.
    pub labels: Tensor<2>,
    /// How many rows have labels.
    pub labelled: usize,
    /// Whether labels are classes.
    pub classes: bool,
    /// Pseudo-labels of the unlabelled rows, each class times its weight: `[unlabelled, classes]`.
    /// `None` where there are none.
    pub pseudo_labels: Option<Tensor<2>>,
}

impl Examples {
    /// From a batch of the loader; `outputs` is the number of classes or of continuous labels.
    pub fn from_batch(batch: Batch, outputs: usize, classes: bool, device: &Device) -> Self {
        let rows = batch.labelled + batch.unlabelled;
        let width = batch.features.len() / rows.max(1);
        let labels = if classes {
            one_hot(&batch.classes, outputs)
        } else {
            batch.values
        };
        Self {
            features: Tensor::from_data(TensorData::new(batch.features, [rows, width]), device),
            labels: Tensor::from_data(TensorData::new(labels, [batch.labelled, outputs]), device),
            labelled: batch.labelled,
            classes,
            pseudo_labels: None,
        }
    }

    /// With pseudo-labels `[unlabelled, outputs]`, row after row.
    pub(crate) fn with_pseudo_labels(mut self, pseudo_labels: Vec<f32>) -> Self {
        let [_, outputs] = self.labels.dims();
        let rows = pseudo_labels.len() / outputs.max(1);
        let data = TensorData::new(pseudo_labels, [rows, outputs]);
        self.pseudo_labels = Some(Tensor::from_data(data, &self.labels.device()));
        self
    }

    /// Grey pixels binarised at random, anew at each step.
    pub(crate) fn binarised(mut self, noise: &Noise) -> Self {
        let uniform = noise.uniform(NoisePurpose::Binarise, self.features.dims());
        self.features = binarise(self.features, uniform);
        self
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.features.dims()[0]
    }

    /// The rows with labels, `[labelled, features]`.
    pub fn labelled_features(&self) -> Tensor<2> {
        let [_, width] = self.features.dims();
        self.features.clone().slice([0..self.labelled, 0..width])
    }

    /// The rows without, `[unlabelled, features]`.
    pub(crate) fn unlabelled_features(&self) -> Tensor<2> {
        let [rows, width] = self.features.dims();
        self.features.clone().slice([self.labelled..rows, 0..width])
    }
}

/// Row-major one-hot rows.
pub(crate) fn one_hot(classes: &[u32], outputs: usize) -> Vec<f32> {
    let mut rows = vec![0.0; classes.len() * outputs];
    for (row, class) in classes.iter().enumerate() {
        rows[row * outputs + *class as usize] = 1.0;
    }
    rows
}
