//! The section `[pseudo_labels]`.

use crate::method::DataKind;
use crate::pseudo_label::ComparedFeatures;
use serde::{Deserialize, Serialize};

/// Pseudo-labels of unlabelled rows, which `cpc` is trained with: an extension of ours, not the
/// paper's. `docs/methods/pseudo-labels.md` describes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PseudoLabelConfig {
    /// none, propagation (label propagation with the alpha below), or ensemble (a
    /// log-space mean of label propagation and the members of `[ensemble]`).
    pub source: PseudoLabelSourceName,
    /// Weight of the cross-entropy between pseudo-labels and predictions, as a multiple of lambda.
    pub weight: f64,
    /// Share of that weight that is removed by the end of the run, 0 to 1; it falls linearly.
    pub decay: f64,
    /// How often labels are propagated again during the run, also over codes.
    pub refreshes: u64,
    /// The features by which rows are compared: values, or hog for histograms of oriented gradients
    /// of an image.
    pub features: ComparedFeatures,
    /// Neighbours of a row in the graph of label propagation.
    pub neighbours: usize,
    /// alpha of label propagation (Zhou et al. 2004), above 0 and below 1; the ensemble chooses it
    /// by leave-one-out.
    pub alpha: f64,
    /// Weight of mixup rows, as a multiple of `weight`.
    pub mixup: f64,
}

/// The source of pseudo-labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PseudoLabelSourceName {
    /// There are none: the paper's method.
    None,
    /// Label propagation.
    Propagation,
    /// A log-space mean of several classifiers.
    Ensemble,
}

impl PseudoLabelConfig {
    /// No pseudo-labels, with the other values set to what suits this kind of data.
    pub fn default_for(data: DataKind) -> Self {
        let images = data == DataKind::Images;
        // The evidence of images is thousands of nats, so other terms need large weights to matter.
        Self {
            source: PseudoLabelSourceName::None,
            weight: if images { 100.0 } else { 20.0 },
            decay: 0.0,
            refreshes: if images { 5 } else { 0 },
            features: match data {
                DataKind::Images => ComparedFeatures::Hog,
                DataKind::Table => ComparedFeatures::Values,
            },
            neighbours: if images { 10 } else { 30 },
            alpha: 0.999,
            mixup: 0.0,
        }
    }
}
