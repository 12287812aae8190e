//! Encoders and decoders with dense or wide residual networks.

use super::{ImageNetShape, Mlp, MlpShape, WideResNet, WideResNetDecoder, WideResNetShape};
use crate::op::Compute;
use crate::op::linear::Activation;
use burn::module::Module;
use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

/// Networks by their names in settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NetName {
    /// Dense layers.
    Mlp,
    /// A wide residual network before the dense layers.
    Wrn,
}

/// The kind of network between features and code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Net {
    /// Dense layers.
    #[default]
    Mlp,
    /// A wide residual network, for images, and dense layers.
    Wrn(WideResNetShape),
}

/// The shape of an encoder or a decoder.
#[derive(Clone, Debug)]
pub struct NetShape {
    /// Its kind.
    pub net: Net,
    /// Number of features: inputs of an encoder, outputs of a decoder.
    pub features: usize,
    /// Height, width and channels where the features are pixels, channel by channel.
    pub image: Option<[usize; 3]>,
    /// Units of the dense layers, from the features to the code.
    pub hidden: Vec<usize>,
    /// Numbers on the code's side.
    pub code: usize,
    /// Activation of the dense layers.
    pub activation: Activation,
    /// Whether hidden layers of a dense network are normalised.
    pub batch_norm: bool,
}

impl NetShape {
    fn as_image_net(&self, trunk: WideResNetShape) -> ImageNetShape {
        ImageNetShape {
            trunk,
            image: self
                .image
                .expect("convolutions of a table are refused with the settings"),
            dense: self.hidden.clone(),
            code: self.code,
            activation: self.activation,
        }
    }
}

/// From features to a code, or to classes.
#[derive(Module, Debug)]
#[allow(clippy::large_enum_variant)] // one for each model
pub enum Encoder {
    /// Dense layers.
    Mlp(Mlp),
    /// Convolutions and dense layers.
    WideResNet(WideResNet),
}

impl Encoder {
    /// `first_layer` is the number of its first layer within the model.
    pub fn new(shape: &NetShape, seed: u64, first_layer: u64, compute: &Compute) -> Self {
        match shape.net {
            Net::Mlp => {
                let shape = MlpShape {
                    inputs: shape.features,
                    hidden: shape.hidden.clone(),
                    outputs: shape.code,
                    activation: shape.activation,
                    batch_norm: shape.batch_norm,
                };
                Self::Mlp(Mlp::new(&shape, seed, first_layer, compute))
            }
            Net::Wrn(trunk) => {
                let shape = shape.as_image_net(trunk);
                Self::WideResNet(WideResNet::new(&shape, seed, first_layer, compute))
            }
        }
    }

    /// The compute handle of its layers.
    pub fn compute(&self) -> &Compute {
        match self {
            Self::Mlp(net) => net.compute(),
            Self::WideResNet(net) => net.compute(),
        }
    }

    /// Without layers; never run.
    pub fn placeholder() -> Self {
        Self::Mlp(Mlp::placeholder())
    }

    /// `x [rows, features]` to `[rows, code]`.
    pub fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        match self {
            Self::Mlp(net) => net.forward(x),
            Self::WideResNet(net) => net.forward(x),
        }
    }

    /// `x [rows, features]` to the input of the last layer, `[rows, units]`.
    pub(crate) fn last_hidden(&self, x: Tensor<2>) -> Tensor<2> {
        match self {
            Self::Mlp(net) => net.last_hidden(x),
            Self::WideResNet(net) => net.last_hidden(x),
        }
    }

    /// Updates running averages with the step's first batch.
    pub fn update_running_statistics(&mut self) {
        match self {
            Self::Mlp(net) => net.update_running_statistics(),
            Self::WideResNet(net) => net.update_running_statistics(),
        }
    }
}

/// From a code to features, or to the parameters of their likelihood.
#[derive(Module, Debug)]
#[allow(clippy::large_enum_variant)] // one for each model
pub enum Decoder {
    /// Dense layers.
    Mlp(Mlp),
    /// Dense layers and transposed convolutions.
    WideResNet(WideResNetDecoder),
}

impl Decoder {
    /// The mirror of an encoder of this shape.
    pub fn new(shape: &NetShape, seed: u64, first_layer: u64, compute: &Compute) -> Self {
        match shape.net {
            Net::Mlp => {
                let shape = MlpShape {
                    inputs: shape.code,
                    hidden: shape.hidden.iter().rev().copied().collect(),
                    outputs: shape.features,
                    activation: shape.activation,
                    batch_norm: shape.batch_norm,
                };
                Self::Mlp(Mlp::new(&shape, seed, first_layer, compute))
            }
            Net::Wrn(trunk) => {
                let shape = shape.as_image_net(trunk);
                Self::WideResNet(WideResNetDecoder::new(&shape, seed, first_layer, compute))
            }
        }
    }

    /// The same network with initial outputs `[features]`. The last layer of a dense one starts
    /// with zero weights, so that outputs without gradient stay as they are. A convolutional one
    /// can only start at the mean of each channel.
    pub(crate) fn start_at(self, outputs: Vec<f32>) -> Self {
        match self {
            Self::Mlp(net) => Self::Mlp(net.start_at(outputs)),
            Self::WideResNet(net) => Self::WideResNet(net.start_at(&outputs)),
        }
    }

    /// `z [rows, code]` to `[rows, features]`.
    pub fn forward(&self, z: Tensor<2>) -> Tensor<2> {
        match self {
            Self::Mlp(net) => net.forward(z),
            Self::WideResNet(net) => net.forward(z),
        }
    }

    /// Updates running averages with the step's first batch.
    pub fn update_running_statistics(&mut self) {
        match self {
            Self::Mlp(net) => net.update_running_statistics(),
            Self::WideResNet(net) => net.update_running_statistics(),
        }
    }
}
