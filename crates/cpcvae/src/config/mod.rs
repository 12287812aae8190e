//! Settings as written in configuration files; [`crate::plan`] checks them.
//!
//! A [`RunConfig`] always has every key: it starts from the defaults for the method and the kind of
//! data, and a TOML file and single settings (`key=value`) override them. A run's `config.toml` is
//! therefore complete, and an unknown key is one that the defaults do not have.

mod choices;
mod data_dependent;
mod defaults;
mod ensemble;
mod old_keys;
mod overlay;
mod paper;
mod presets;
mod pseudo_labels;
mod request;

pub use choices::{MeasureName, PrecisionName, ScheduleName, SolverName, choice};
pub use cpcvae_data::{BuiltIn, DataConfig};
pub use ensemble::{EnsembleConfig, EnsembleMembers};
#[doc(hidden)]
pub use old_keys::LATER_KEYS;
pub use overlay::parse_settings;
pub use presets::{Preset, PresetData};
pub use pseudo_labels::{PseudoLabelConfig, PseudoLabelSourceName};
pub use request::{Layer, Request};

use crate::distribution::Family;
use crate::method::Method;
use crate::model::ActivationName;
pub use crate::net::NetName;
use crate::objective::LabelledEvidence;
use crate::train::DecoderStart;
use serde::{Deserialize, Serialize};

/// All settings of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunConfig {
    /// The seed of the split, weights, batches and noise.
    pub seed: u64,
    /// The data.
    pub data: DataConfig,
    /// The model.
    pub model: ModelConfig,
    /// The method.
    pub method: Method,
    /// Pseudo-labels.
    pub pseudo_labels: PseudoLabelConfig,
    /// Ensemble members; runs of earlier versions have none.
    #[serde(default)]
    pub ensemble: EnsembleConfig,
    /// A prediction constraint.
    pub constraint: ConstraintConfig,
    /// The optimisation.
    pub train: TrainConfig,
}

/// The networks and the likelihood.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelConfig {
    /// Code dimensions C, transform and style dimensions included.
    pub code: usize,
    /// Code dimensions that are not an input of the predictor.
    pub style: usize,
    /// Which network encoder and decoder are: mlp, or wrn for a wide residual network before the
    /// dense layers.
    pub net: NetName,
    /// Layers of a wide residual network: 4 more than a multiple of 6.
    pub depth: usize,
    /// Width factor, relative to the channels of a plain residual network.
    pub width: usize,
    /// Units of the encoder's dense layers, one by one; the decoder mirrors them.
    pub hidden: Vec<usize>,
    /// Hidden units of the predictor; empty for a linear one.
    pub predictor: Vec<usize>,
    /// softplus, leaky-relu, elu or relu.
    pub activation: ActivationName,
    /// Whether hidden layers of dense networks are normalised by the statistics of a batch.
    pub batch_norm: bool,
    /// normal, bernoulli or noise-normal.
    pub likelihood: Family,
    /// Smallest standard deviation of the likelihood.
    pub scale_floor: f64,
    /// Initial output of the decoder of a VAE of images: `data` for the mean and spread of each
    /// pixel over the training rows, `zero` for grey.
    pub decoder_start: DecoderStart,
    /// Whether rows of a table may have missing cells later, even if none has one in training.
    pub missing_cells: bool,
    /// Affine transforms in the code.
    pub transform: TransformConfig,
}

/// The spatial transformer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TransformConfig {
    /// Whether the first six code dimensions are an affine transform.
    pub enabled: bool,
    /// Largest translation as a share of the image's side.
    pub translation: f64,
    /// Largest rotation in radians.
    pub rotation: f64,
    /// Largest shear in radians.
    pub shear: f64,
    /// Largest scale factor.
    pub scale: f64,
    /// Side of the decoder's canvas as a multiple of the image's side.
    pub canvas: f64,
}

/// The constrained problem.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConstraintConfig {
    /// none, loss or accuracy.
    pub measure: MeasureName,
    /// Largest loss, or smallest accuracy.
    pub target: f64,
    /// dual or sequence.
    pub solver: SolverName,
    /// Dual ascent: largest change of log lambda in a step.
    pub rate: f64,
    /// Sequence: the factor of lambda from one training to the next.
    pub factor: f64,
    /// Sequence: the most trainings.
    pub rounds: u64,
}

/// The optimisation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainConfig {
    /// Steps; 0 means that `epochs` is used.
    pub steps: u64,
    /// Passes over the larger of the labelled and unlabelled rows.
    pub epochs: f64,
    /// Labelled rows in a batch.
    pub labelled_per_batch: usize,
    /// Unlabelled rows in a batch.
    pub unlabelled_per_batch: usize,
    /// Parts of a batch whose gradients are computed one by one and summed, by as many processes at
    /// most: 1, 2, 4 and so on up to 256.
    pub shards: usize,
    /// Weight of the evidence of labelled rows: with `batch` every row of a batch counts equally,
    /// with `data` every row of the data, as in the paper's sum.
    pub labelled_evidence: LabelledEvidence,
    /// Images are shifted by at most this many pixels in each direction, drawn anew at each step.
    pub shift: usize,
    /// Images are rotated, sheared and scaled by a random matrix, drawn anew at each step, whose
    /// entries differ from those of the identity by at most this.
    pub stretch: f64,
    /// Adam's step size.
    pub learning_rate: f64,
    /// constant, cosine or plateau.
    pub schedule: ScheduleName,
    /// Plateau: the factor of the learning rate.
    pub plateau_factor: f64,
    /// Plateau: evaluations without improvement before it is applied.
    pub plateau_patience: u64,
    /// Evaluations without improvement after which training ends; 0 for never.
    pub early_stop: u64,
    /// Largest norm of the gradient; 0 for no limit.
    pub clip_norm: f64,
    /// Steps between evaluations on validation rows; 0 for once an epoch.
    pub evaluate_every: u64,
    /// Steps between checkpoints.
    pub checkpoint_every: u64,
    /// Steps between lines of metrics.
    pub log_every: u64,
    /// Precision of the products of the layers on the CPU: f32, bf16, or auto for bf16 where the
    /// machine has instructions for it.
    pub precision: PrecisionName,
}
