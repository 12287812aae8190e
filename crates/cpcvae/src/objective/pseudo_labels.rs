//! Pseudo-labels of unlabelled rows, an extension of ours, not the paper's.

use super::{Examples, Prediction, Terms, mixup};
use crate::model::Vae;
use crate::noise::Noise;
use crate::pseudo_label::{ComparedFeatures, Propagation, ensemble, propagate};
use cpcvae_data::{Layout, Matrix};
use serde::{Deserialize, Serialize};

/// The source of the pseudo-labels of unlabelled rows, and their weight.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PseudoLabels {
    /// Weight of the cross-entropy between pseudo-labels and predictions.
    pub weight: f64,
    /// Share of that weight that is removed by the end of the stage; it falls linearly.
    pub decay: f64,
    /// Their source.
    pub source: PseudoLabelSource,
    /// Neighbours of a row in the graph of label propagation.
    pub neighbours: usize,
    /// The features by which rows are compared.
    pub features: ComparedFeatures,
    /// How often labels are propagated again during the stage, also over codes.
    pub refreshes: u64,
    /// Weight of mixup rows, as a multiple of `weight`.
    pub mixup: f64,
}

/// The source of pseudo-labels.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PseudoLabelSource {
    /// Label propagation with this alpha, below 1.
    Propagation {
        /// The weight of the neighbours' scores in a row's.
        alpha: f64,
    },
    /// A log-space mean of label propagation and classifiers of the labelled rows alone;
    /// leave-one-out chooses alpha.
    Ensemble,
}

impl PseudoLabels {
    /// The same with weights multiplied by lambda.
    pub fn times(&self, lambda: f64) -> Self {
        Self {
            weight: lambda * self.weight,
            ..self.clone()
        }
    }

    /// Class probabilities of all rows of that layout from their features and the labels (row,
    /// class) of some: `[rows, classes]`.
    pub(crate) fn by_features(
        &self,
        rows: Matrix,
        layout: &Layout,
        labels: &[(u32, u32)],
        classes: usize,
    ) -> Vec<f32> {
        let is_ensemble = matches!(self.source, PseudoLabelSource::Ensemble);
        let pixels = (is_ensemble && matches!(layout, Layout::Image { .. })).then(|| rows.clone());
        let compared = self.features.of(rows, layout);
        let (features, width) = (&compared.values[..], compared.columns);
        match self.source {
            PseudoLabelSource::Propagation { .. } => {
                propagate(features, width, labels, classes, &self.propagation())
            }
            PseudoLabelSource::Ensemble => ensemble(
                features,
                width,
                labels,
                classes,
                self.neighbours,
                pixels.as_ref(),
            ),
        }
    }

    /// The settings of label propagation, also over codes.
    pub fn propagation(&self) -> Propagation {
        Propagation {
            neighbours: self.neighbours,
            alpha: match self.source {
                PseudoLabelSource::Propagation { alpha } => Some(alpha),
                PseudoLabelSource::Ensemble => None,
            },
        }
    }

    /// The weight at `share` of the stage.
    fn weight_at(&self, share: f64) -> f64 {
        self.weight * (1.0 - self.decay * share.min(1.0))
    }

    /// Adds the terms of a batch that has pseudo-labels. `input_noise` is that of the other terms.
    pub(super) fn push(
        &self,
        terms: &mut Terms,
        (model, batch, noise): (&Vae, &Examples, &Noise),
        prediction: &Prediction,
        input_noise: f64,
        share: f64,
    ) {
        let Some(pseudo_labels) = &batch.pseudo_labels else {
            return;
        };
        let rows = batch.rows();
        let weight = self.weight_at(share);
        let loss = prediction
            .rows(batch.labelled..rows)
            .loss(pseudo_labels.clone());
        let mean = loss.sum().div_scalar(rows as f64);
        terms.push("pseudo_labels", weight, mean);
        if self.mixup != 0.0 {
            let cost = mixup::cost(model, batch, pseudo_labels, input_noise, noise);
            terms.push("mixup", self.mixup * weight, cost);
        }
    }
}
