//! What every setting is where nothing is said.

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

/// Smallest sigma for pixels in [-1, 1] that are nearly all at one of the ends.
const BLACK_AND_WHITE_FLOOR: f64 = 0.6;

/// Training rows of own tables that are kept beside the model at most.
const KEPT_ROWS: usize = 20_000;

impl RunConfig {
    /// These settings, which are defaults, with another network: for a wide residual network what
    /// the paper has for SVHN and NORB, and batches that such a network needs less memory for.
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

    /// These settings, which are defaults, with pseudo-labels from `source`. They say something of all
    /// unlabelled rows, so most of a batch is unlabelled (the labelled rows are few and soon known),
    /// and images vary by a pixel.
    pub fn with_pseudo_labels(mut self, source: PseudoLabelSourceName) -> Self {
        self.pseudo_labels.source = source;
        let train = &mut self.train;
        (train.labelled_per_batch, train.unlabelled_per_batch) = (20, 180);
        if self.model.transform.enabled {
            train.shift = 1;
        }
        self
    }

    /// These settings, which are defaults, with members that vote beside the network.
    pub fn with_ensemble(mut self) -> Self {
        self.ensemble.members = EnsembleMembers::All;
        self.ensemble.kept_rows = KEPT_ROWS;
        self
    }

    /// These settings, which are defaults, for images that are nearly black and white. The paper's
    /// Noise-Normal takes ink for noise there (ADR 12); a normal distribution paints it. Its broad
    /// sigma leaves codes room to vary, which is what consistency learns from.
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
                    // A rectifier is part of the normalisation; Maaloe's networks have it too.
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
                labelled_evidence: LabelledEvidence::Batch,
                // The transforms of CPC's code do what shifts would.
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
