//! Networks: layers with parameters, and fixed maps.

mod batch_norm;
mod linear;
mod mlp;
mod residual;
pub mod spatial_transformer;
mod trunk;
mod wide_resnet;
mod wide_resnet_decoder;

pub use batch_norm::{BatchNorm, LEAK};
pub use linear::Linear;
pub use mlp::{Mlp, MlpShape};
pub use residual::{Conv, ConvPlan, ResidualBlock};
pub use trunk::{Decoder, Encoder, Net, NetName, NetShape};
pub use wide_resnet::{ImageNetShape, WideResNet, WideResNetShape};
pub use wide_resnet_decoder::WideResNetDecoder;
