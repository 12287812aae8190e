//! The defaults of all settings.

use super::{
    ConstraintConfig, DataConfig, EnsembleConfig, EnsembleMembers, MeasureName, ModelConfig,
    NetName, PrecisionName, PseudoLabelConfig, PseudoLabelSourceName, RunConfig, ScheduleName,
    SolverName, TrainConfig, TransformConfig,
};
use crate::distribution::Family;
use crate::error::Result;
use crate::method::{DataKind, Method};
use crate::model::ActivationName;
use crate::net::spatial_transformer::TransformRanges;
use crate::objective::LabelledEvidence;
use crate::train::DecoderStart;

/// Smallest sigma for pixels in [-1, 1] of nearly black-and-white images.
const BLACK_AND_WHITE_FLOOR: f64 = 0.6;

/// The most training rows of a user's table that are stored with the model.
const KEPT_ROWS: usize = 20_000;

/// Shards of a batch with several ranks: the same for 1, 2 and 4 of them.
const SHARDS: usize = 4;

impl RunConfig {
    /// These default settings for so many ranks.
    pub fn with_ranks(mut self, ranks: usize) -> Self {
        self.train.shards = ranks.next_power_of_two().max(SHARDS);
        self
    }

    /// These default settings with another network: for a wide residual network the paper's
    /// settings for SVHN and NORB, and batches that need less memory.
    pub fn with_net(mut self, net: NetName) -> Self {
        if self.model.net == net {
            return self;
        }
        self.model.net = net;
        if net == NetName::Wrn {
            self.model.code = 200;
            self.model.hidden = vec![1000; 3];
            self.model.activation = ActivationName::LeakyRelu;
            self.model.batch_norm = false; // its convolutions have it anyway
            self.train.learning_rate = 3e-4;
            let all = self.train.labelled_per_batch + self.train.unlabelled_per_batch;
            // Half labelled, half unlabelled, as in the paper.
            (
                self.train.labelled_per_batch,
                self.train.unlabelled_per_batch,
            ) = (all / 4, all / 4);
        }
        self
    }

    /// These default settings with pseudo-labels from `source`. They label all unlabelled rows, so
    /// most of a batch is unlabelled (the few labelled rows are soon fitted), and images are
    /// shifted by a pixel.
    pub(crate) fn with_pseudo_labels(mut self, source: PseudoLabelSourceName) -> Self {
        self.pseudo_labels.source = source;
        let train = &mut self.train;
        (train.labelled_per_batch, train.unlabelled_per_batch) = (20, 180);
        if self.model.transform.enabled {
            train.shift = 1;
        }
        self
    }

    /// These default settings with ensemble members beside the network.
    pub(crate) fn with_ensemble(mut self) -> Self {
        self.ensemble.members = EnsembleMembers::All;
        self.ensemble.kept_rows = KEPT_ROWS;
        self
    }

    /// These default settings for images that are nearly black and white. The paper's Noise-Normal
    /// treats ink as noise there (ADR 12); a normal distribution models it. Its broad sigma lets
    /// codes vary, which the consistency constraint learns from.
    pub(super) fn for_black_and_white(mut self) -> Self {
        if !self.method.has_plain_images() {
            self.model.likelihood = Family::Normal;
            self.model.scale_floor = BLACK_AND_WHITE_FLOOR;
        }
        self
    }

    /// The defaults for a method on a kind of data.
    pub fn defaults(method: &str, kind: DataKind, source: &str) -> Result<Self> {
        let method = Method::named(method, kind)?;
        let plain = method.has_plain_images();
        let is_cpc = matches!(method, Method::Cpc(_));
        let images = kind == DataKind::Images;
        let batch_norm = images && method.has_batch_norm();
        let hidden = if images {
            vec![1000, 1000]
        } else {
            vec![100, 100]
        };
        let ranges = TransformRanges::default();
        Ok(Self {
            seed: 0,
            data: DataConfig::of(source),
            model: ModelConfig {
                code: if images { 50 } else { 2 },
                style: 0,
                net: NetName::Mlp,
                depth: 28,
                width: 2,
                predictor: match method {
                    Method::VaeThenMlp(_) => vec![hidden[0]],
                    _ => Vec::new(),
                },
                hidden,
                activation: match (images, plain) {
                    // A rectifier is part of the normalisation; Maaloe's networks use it too.
                    (true, true) if batch_norm => ActivationName::Relu,
                    (true, true) => ActivationName::Softplus,
                    (true, false) => ActivationName::Relu,
                    (false, _) => ActivationName::Elu,
                },
                batch_norm,
                likelihood: match (images, plain) {
                    (true, true) => Family::Bernoulli,
                    (true, false) => Family::NoiseNormal,
                    (false, _) => Family::Normal,
                },
                scale_floor: 0.01,
                decoder_start: DecoderStart::Data,
                missing_cells: false,
                transform: TransformConfig {
                    enabled: images && !plain,
                    translation: ranges.translation,
                    rotation: ranges.rotation,
                    shear: ranges.shear,
                    scale: ranges.scale,
                    canvas: 1.5,
                },
            },
            constraint: ConstraintConfig {
                measure: MeasureName::None,
                target: 0.0,
                solver: SolverName::Dual,
                rate: 0.005,
                factor: 4.0,
                rounds: 6,
            },
            train: TrainConfig {
                steps: if images { 3000 } else { 4000 },
                epochs: 100.0,
                // Half labelled, half unlabelled, as in the paper.
                labelled_per_batch: 100,
                unlabelled_per_batch: 100,
                shards: 1,
                labelled_evidence: LabelledEvidence::Batch,
                // The transforms in CPC's code already cover shifts.
                shift: if images && !is_cpc { 2 } else { 0 },
                stretch: 0.0,
                learning_rate: if images { 1e-3 } else { 3e-3 },
                schedule: ScheduleName::Cosine,
                plateau_factor: 0.2,
                plateau_patience: 10,
                early_stop: 0,
                clip_norm: 0.0,
                evaluate_every: 0,
                checkpoint_every: 500,
                log_every: 10,
                precision: PrecisionName::Auto,
            },
            method,
            pseudo_labels: PseudoLabelConfig::default_for(kind),
            ensemble: EnsembleConfig::default(),
        })
    }
}
