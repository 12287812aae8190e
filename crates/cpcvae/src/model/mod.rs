//! Models: distributions and networks with parameters. They know nothing of losses.

mod auxiliary_vae;
mod class_conditional;
mod classifier;
mod label_vae;
mod observation;
mod row_input;
mod size;
mod stacked_vae;
mod vae;

pub use auxiliary_vae::{AuxiliaryShape, AuxiliaryVae};
pub use classifier::Classifier;
pub use label_vae::LabelVae;
pub use observation::{Observation, TransformPlan};
pub use row_input::RowInput;
pub use stacked_vae::StackedVae;
pub use vae::{Posterior, Vae};

use crate::distribution::{Family, RowLayout};
use crate::net::{Net, NetShape};
use crate::op::Compute;
use crate::op::linear::Activation;
use burn::module::Module;
use serde::{Deserialize, Serialize};

/// What a model predicts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// One of these classes.
    Classes(Vec<String>),
    /// These continuous labels.
    Values(Vec<String>),
    /// Nothing: a model of the features alone.
    Nothing,
}

impl Target {
    /// Number of outputs of the predictor.
    pub fn outputs(&self) -> usize {
        self.names().len()
    }

    /// Names of the classes, or of the continuous labels.
    pub fn names(&self) -> &[String] {
        match self {
            Self::Classes(names) | Self::Values(names) => names,
            Self::Nothing => &[],
        }
    }

    /// Whether labels are classes.
    pub fn is_classes(&self) -> bool {
        matches!(self, Self::Classes(_))
    }
}

/// Which kind of model a method trains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ModelKind {
    /// [`Vae`]
    Vae,
    /// [`LabelVae`]
    LabelVae,
    /// [`LabelVae`] with a predictor beside it
    BlendedVae,
    /// [`StackedVae`]
    StackedVae,
    /// [`AuxiliaryVae`]
    AuxiliaryVae(AuxiliaryShape),
    /// [`Classifier`]
    Classifier,
}

impl ModelKind {
    /// Whether predictions depend on a draw of a latent variable, over which they can be averaged.
    pub fn predicts_from_draws(self) -> bool {
        matches!(self, Self::Vae | Self::StackedVae | Self::AuxiliaryVae(_))
    }

    /// Whether predictions are made from the code alone.
    pub fn predicts_from_codes(self) -> bool {
        matches!(self, Self::Vae | Self::StackedVae)
    }
}

/// Everything that determines the shapes of a model; stored in its card.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shape {
    /// Which kind of model.
    pub kind: ModelKind,
    /// Number of features of a row.
    pub features: usize,
    /// Height, width and channels where the features are pixels (channel by channel).
    pub image: Option<[usize; 3]>,
    /// Dimensions C of the code, transform and style dimensions included.
    pub code: usize,
    /// How many of them, the last ones, are not an input of the predictor.
    pub style: usize,
    /// Which kind of network encoder and decoder are.
    #[serde(default)]
    pub net: Net,
    /// Units of the dense layers of encoder and decoder.
    pub hidden: Vec<usize>,
    /// Hidden units of the predictor; empty for a linear one.
    pub predictor: Vec<usize>,
    /// Activation of hidden layers.
    pub activation: ActivationName,
    /// Whether hidden layers of dense networks are normalised by the statistics of a batch.
    #[serde(default)]
    pub batch_norm: bool,
    /// Likelihood of the features.
    pub likelihood: Family,
    /// The layout of a table's columns in a row, unless all are numbers without missing cells; each
    /// column then has the likelihood of its kind.
    #[serde(default)]
    pub row: Option<RowLayout>,
    /// Smallest standard deviation of the likelihood.
    pub scale_floor: f32,
    /// Affine transforms in the code.
    pub transform: Option<TransformPlan>,
    /// What is predicted.
    pub target: Target,
}

impl Shape {
    /// The network from `inputs` numbers of a row to `outputs` numbers.
    fn encoder(&self, inputs: usize, outputs: usize) -> NetShape {
        NetShape {
            net: self.net,
            features: inputs,
            image: self.image,
            hidden: self.hidden.clone(),
            code: outputs,
            activation: self.activation.into(),
            batch_norm: self.batch_norm,
        }
    }
}

/// Activations by their names in settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ActivationName {
    /// log(1 + e^x)
    Softplus,
    /// x, or x/100 below zero
    LeakyRelu,
    /// x, or e^x - 1 below zero
    Elu,
    /// x, or 0 below zero
    Relu,
}

impl From<ActivationName> for Activation {
    fn from(name: ActivationName) -> Self {
        match name {
            ActivationName::Softplus => Self::Softplus,
            ActivationName::LeakyRelu => Self::LeakyRelu,
            ActivationName::Elu => Self::Elu,
            ActivationName::Relu => Self::Relu,
        }
    }
}

/// Any model that a method can train.
#[derive(Module, Debug)]
#[allow(clippy::large_enum_variant)] // a handful exist at a time; a box would gain nothing
pub enum Model {
    /// q(z|x), p(x|z) and a predictor on z.
    Vae(Vae),
    /// q(y|x), q(z|x,y), p(x|y,z).
    LabelVae(LabelVae),
    /// q(z1|x), p(x|z1), and a [`LabelVae`] of z1.
    StackedVae(StackedVae),
    /// q(a|x), q(y|a,x), q(z|a,x,y), p(a|z,y,x) or p(a|z,y), p(x|z,y) or p(x|a,z,y).
    AuxiliaryVae(AuxiliaryVae),
    /// A predictor on x.
    Classifier(Classifier),
}

impl Model {
    /// A freshly initialised model, whose layers keep `compute`.
    pub fn new(shape: &Shape, seed: u64, compute: &Compute) -> Self {
        match shape.kind {
            ModelKind::Vae => Self::Vae(Vae::new(shape, seed, compute)),
            ModelKind::LabelVae => Self::LabelVae(LabelVae::new(shape, seed, compute)),
            ModelKind::BlendedVae => Self::LabelVae(LabelVae::blended(shape, seed, compute)),
            ModelKind::StackedVae => Self::StackedVae(StackedVae::new(shape, seed, compute)),
            ModelKind::AuxiliaryVae(auxiliary) => {
                Self::AuxiliaryVae(AuxiliaryVae::new(shape, auxiliary, seed, compute))
            }
            ModelKind::Classifier => Self::Classifier(Classifier::new(shape, seed, compute)),
        }
    }

    /// Initialises the decoder of a VAE of images with the mean and standard deviation of each
    /// pixel, `[features]` each ([`Vae::start_from`]). Other models are unchanged.
    pub fn start_from(self, mean: &[f32], deviation: &[f32]) -> Self {
        match self {
            Self::Vae(model) => Self::Vae(model.start_from(mean, deviation)),
            other => other,
        }
    }

    /// Must be called after each step: updates the running averages of batch normalisation with the
    /// statistics of the step's first batch ([`crate::net::BatchNorm`]).
    pub fn update_running_statistics(&mut self) {
        match self {
            Self::Vae(model) => model.update_running_statistics(),
            Self::StackedVae(model) => model.update_running_statistics(),
            Self::AuxiliaryVae(model) => model.update_running_statistics(),
            Self::Classifier(model) => model.update_running_statistics(),
            // It has no batch normalisation.
            Self::LabelVae(_) => {}
        }
    }

    /// The compute handle of its layers.
    pub fn compute(&self) -> &Compute {
        match self {
            Self::Vae(model) => model.compute(),
            Self::LabelVae(model) => model.compute(),
            Self::StackedVae(model) => model.compute(),
            Self::AuxiliaryVae(model) => model.compute(),
            Self::Classifier(model) => model.compute(),
        }
    }

    /// A model without parameters: a placeholder for one that is being updated.
    pub fn placeholder() -> Self {
        Self::Classifier(Classifier::placeholder())
    }
}
