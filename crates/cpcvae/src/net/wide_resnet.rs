//! Wide residual networks (Zagoruyko and Komodakis 2016) as encoders: the paper's WRN-28-2 with
//! dense layers in place of global pooling.

use super::batch_norm::LEAK;
use super::residual::{Conv, ConvPlan, ResidualBlock};
use super::{BatchNorm, Mlp, MlpShape};
use crate::op::Compute;
use crate::op::linear::Activation;
use burn::module::Module;
use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

/// Channels of the first convolution.
const STEM: usize = 16;
/// Groups of blocks; each but the first halves the sides of the image.
const GROUPS: usize = 3;
/// Rows per pass in inference: more would only take memory.
const ROWS_AT_ONCE: usize = 50;

/// WRN-depth-width: 28 and 2 in the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WideResNetShape {
    /// Depth as counted for these networks: 4 plus 6 for each block of a group.
    pub depth: usize,
    /// Width factor, relative to the channels of a plain residual network.
    pub width: usize,
}

impl WideResNetShape {
    /// Blocks of each group; `None` if there is no network of this depth.
    pub fn blocks(&self) -> Option<usize> {
        let blocks = self.depth.checked_sub(4)? / 6;
        (blocks > 0 && blocks * 6 + 4 == self.depth).then_some(blocks)
    }

    /// The stride of each block.
    pub(crate) fn strides(&self) -> Vec<usize> {
        self.plans().iter().map(|plan| plan.stride).collect()
    }

    /// Number of weights of the convolutions.
    pub(crate) fn weights(&self) -> u64 {
        let group = |group: u32| {
            let channels = (STEM as u64).saturating_mul(self.width as u64) << group;
            let one = channels.saturating_mul(channels).saturating_mul(9);
            // The first convolution of a block has fewer input channels.
            one.saturating_mul(self.blocks().unwrap_or(0) as u64)
        };
        (0..GROUPS as u32).fold(0, |sum, each| group(each).saturating_add(sum))
    }

    /// The first convolution of each block, from image to code.
    pub(super) fn plans(&self) -> Vec<ConvPlan> {
        let blocks = self.blocks().expect("depths are checked with the settings");
        let mut inputs = STEM;
        let mut plans = Vec::new();
        for group in 0..GROUPS {
            let outputs = (STEM * self.width) << group;
            for block in 0..blocks {
                plans.push(ConvPlan {
                    inputs,
                    outputs,
                    kernel: 3,
                    stride: if group > 0 && block == 0 { 2 } else { 1 },
                    up: false,
                });
                inputs = outputs;
            }
        }
        plans
    }
}

/// The network of an encoder or a decoder, with images on one side.
#[derive(Clone, Debug)]
pub struct ImageNetShape {
    /// Depth and width.
    pub trunk: WideResNetShape,
    /// Height, width and channels of the images.
    pub image: [usize; 3],
    /// Units of the dense layers between image and code.
    pub dense: Vec<usize>,
    /// Numbers on the other side.
    pub code: usize,
    /// Activation of the dense layers.
    pub activation: Activation,
}

impl ImageNetShape {
    /// Height and width after each convolution of the trunk, starting with the image's own.
    pub(super) fn sizes(&self) -> Vec<[usize; 2]> {
        let mut size = [self.image[0], self.image[1]];
        let halved = |plan: &ConvPlan| {
            size = size.map(|side| side.div_ceil(plan.stride));
            size
        };
        let rest: Vec<[usize; 2]> = self.trunk.plans().iter().map(halved).collect();
        [vec![[self.image[0], self.image[1]]], rest].concat()
    }

    /// Height, width and channels between convolutions and dense layers.
    pub(super) fn meeting(&self) -> [usize; 3] {
        let [height, width] = *self.sizes().last().expect("there is always one");
        let last = self.trunk.plans().last().map_or(STEM, |plan| plan.outputs);
        [height, width, last]
    }

    /// A convolution between the image's channels and the trunk's first ones.
    pub(super) fn stem(&self) -> ConvPlan {
        ConvPlan {
            inputs: self.image[2],
            outputs: STEM,
            kernel: 3,
            stride: 1,
            up: false,
        }
    }
}

/// From images to numbers: a convolution, residual blocks, dense layers.
#[derive(Module, Debug)]
pub struct WideResNet {
    stem: Conv,
    blocks: Vec<ResidualBlock>,
    norm: BatchNorm,
    dense: Mlp,
    #[module(skip)]
    image: [usize; 3],
}

impl WideResNet {
    /// `first_layer` is the number of its first layer within the model.
    pub fn new(shape: &ImageNetShape, seed: u64, first_layer: u64, compute: &Compute) -> Self {
        let plans = shape.trunk.plans();
        let [height, width, channels] = shape.meeting();
        let layers = (first_layer + 1..).step_by(ResidualBlock::LAYERS as usize);
        let dense = MlpShape {
            inputs: height * width * channels,
            hidden: shape.dense.clone(),
            outputs: shape.code,
            activation: shape.activation,
            batch_norm: false, // only the convolutions have it
        };
        let after = first_layer + 1 + ResidualBlock::LAYERS * plans.len() as u64;
        let blocks = plans.iter().zip(layers);
        Self {
            stem: Conv::new(shape.stem(), seed, first_layer, compute),
            blocks: blocks
                .map(|(plan, layer)| ResidualBlock::new(*plan, seed, layer, compute))
                .collect(),
            norm: BatchNorm::new(channels, LEAK, compute),
            dense: Mlp::new(&dense, seed, after, compute),
            image: shape.image,
        }
    }

    /// The compute handle of its layers.
    pub fn compute(&self) -> &Compute {
        self.dense.compute()
    }

    /// `x [rows, channels * height * width]`, channel by channel, to `[rows, outputs]`.
    pub fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        in_parts(x, |x| self.dense.forward(self.convolved(x)))
    }

    /// The input of the last layer, `[rows, units]`.
    pub(crate) fn last_hidden(&self, x: Tensor<2>) -> Tensor<2> {
        in_parts(x, |x| self.dense.last_hidden(self.convolved(x)))
    }

    /// The input of the dense layers.
    fn convolved(&self, x: Tensor<2>) -> Tensor<2> {
        let [rows, _] = x.dims();
        let [height, width, channels] = self.image;
        let planes = x.reshape([rows, channels, height, width]);
        let pixels = planes.permute([0, 2, 3, 1]);
        let size = [height, width];
        let h = self.stem.forward(pixels, size);
        let h = self
            .blocks
            .iter()
            .fold(h, |h, block| block.forward(h, size));
        let h = self.norm.forward(h);
        let [_, height, width, channels] = h.dims();
        h.reshape([rows, height * width * channels])
    }

    /// See [`BatchNorm::update_running_statistics`].
    pub fn update_running_statistics(&mut self) {
        self.blocks
            .iter_mut()
            .for_each(ResidualBlock::update_running_statistics);
        self.norm.update_running_statistics();
    }
}

/// Passes rows `[rows, ..]` through in one piece in training, because they share batch statistics;
/// otherwise in parts.
pub(super) fn in_parts(x: Tensor<2>, forward: impl Fn(Tensor<2>) -> Tensor<2>) -> Tensor<2> {
    let [rows, columns] = x.dims();
    if x.is_autodiff() || rows <= ROWS_AT_ONCE {
        return forward(x);
    }
    let part = |start: usize| {
        let rows = start..(start + ROWS_AT_ONCE).min(rows);
        forward(x.clone().slice([rows, 0..columns]))
    };
    Tensor::cat((0..rows).step_by(ROWS_AT_ONCE).map(part).collect(), 0)
}
